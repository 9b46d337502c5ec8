import { type CashInStatus, type CashOutStatus, endpointStates, type RefundInStatus } from '@pixgate/spec'
import { type Database, statement } from '../platform/db/database.ts'

export interface Count {
  /** Kind of case, operation or work; empty if there is only one. */
  readonly kind: string
  /** State; empty if it does not matter. */
  readonly state: string
  readonly count: number
  /** Age of the oldest; `null` without one. */
  readonly oldestSeconds: number | null
}

/** Backlog of all processes. Each count stops at {@link COUNTED_MAX}: more is equally bad. */
export interface Backlog {
  readonly cases: readonly Count[]
  readonly operations: readonly Count[]
  /** The bank's events waiting to be applied, by state; `kind` is empty. */
  readonly events: readonly Count[]
  /** Pending deliveries, and notifications without deliveries yet; by `state`. */
  readonly deliveries: readonly Count[]
  /** Webhook endpoints by state; the age is that of the longest in it. @source rules#webhooks.16 */
  readonly endpoints: readonly Count[]
  /** Unclaimed work overdue by more than {@link LATE_SECONDS}; the age counts from its due time. */
  readonly late: readonly Count[]
  /**
   * Whether payouts are suspended: 0 or 1, by origin (`operator`, `trip_wire`, `restored`); the age counts from then.
   */
  readonly suspended: readonly Count[]
  /** Complete reading of the bank's statement: none if there never was one; the age counts from the last. */
  readonly statement: readonly Count[]
  /** Number of closed days; the age counts from the end of the last one, or from the first booking. */
  readonly closes: readonly Count[]
}

/** SQL of the metrics, one statement per part of {@link Backlog}. @throws DatabaseUnavailable */
export type HealthStore = { readonly [Part in keyof Backlog]: () => Promise<Backlog[Part]> }

/** Workers poll each second, and a claim moves the due time. @source rules#logs.5 */
const LATE_SECONDS = 60

/** Maximum of a count, which bounds the cost of a reading. */
const COUNTED_MAX = 10_000

/** Rows examined at each end of an index to find the oldest when the count uses another order. */
const ENDS = 500

const AGE = `extract(epoch FROM clock_timestamp() - min(since))::float8 AS "oldestSeconds"`

/** Uses `case_open`. */
const countCases = statement<[limit: number], Count>(
  'health.cases',
  `SELECT kind, '' AS state, count(*)::integer AS count, ${AGE}
     FROM (SELECT kind, opened_at AS since FROM "case" WHERE closed_at IS NULL ORDER BY opened_at LIMIT $1) AS open
    GROUP BY kind`,
)

/**
 * Uses `operation_list_by_status`: the oldest of each kind and state, up to a maximum. The state is a range and first
 * in the order, since no other index provides that: an index by kind alone would be read to its end for a rare state.
 */
const countOperations = statement<[kinds: readonly string[], states: readonly string[], limit: number], Count>(
  'health.operations',
  `SELECT asked.kind, asked.state, found.count, found."oldestSeconds"
     FROM unnest($1::text[], $2::text[]) AS asked (kind, state)
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS count, ${AGE}
        FROM (SELECT created_at AS since FROM operation
               WHERE kind = asked.kind AND status BETWEEN asked.state AND asked.state
               ORDER BY status, created_at
               LIMIT $3) AS waiting) AS found`,
)

/** Uses `inbox_event_due`. The longest parked events are due last, so the last ones are examined for their age too. */
const countEvents = statement<[limit: number, ends: number], Count>(
  'health.events',
  `SELECT '' AS kind, lower(state) AS state, least(count(*), $1)::integer AS count, ${AGE}
     FROM (SELECT e.state, i.received_at AS since
             FROM ((SELECT inbox_id, ordinal, state FROM inbox_event
                     WHERE due_at IS NOT NULL ORDER BY due_at LIMIT $1)
                   UNION
                   (SELECT inbox_id, ordinal, state FROM inbox_event
                     WHERE due_at IS NOT NULL ORDER BY due_at DESC LIMIT $2)) AS e
             JOIN inbox i ON i.id = e.inbox_id) AS waiting
    GROUP BY state`,
)

/**
 * Uses `delivery_due` and `notification_to_fan_out`. The oldest is searched per endpoint among the deliveries due first
 * and last; the latter were retried most. A resend of an ended delivery is not pending.
 */
const countDeliveries = statement<[limit: number, ends: number], Count>(
  'health.deliveries',
  `SELECT '' AS kind, 'pending' AS state, counted.count, oldest."oldestSeconds"
     FROM (SELECT count(*)::integer AS count
             FROM (SELECT FROM delivery
                    WHERE state = 'PENDING' AND due_at IS NOT NULL ORDER BY endpoint_id LIMIT $1) AS pending) AS counted
    CROSS JOIN (
      SELECT ${AGE}
        FROM (SELECT id FROM endpoint WHERE deleted_at IS NULL) AS e
       CROSS JOIN LATERAL (
         (SELECT created_at AS since FROM delivery
           WHERE state = 'PENDING' AND endpoint_id = e.id AND due_at IS NOT NULL
           ORDER BY due_at LIMIT $2)
         UNION ALL
         (SELECT created_at FROM delivery
           WHERE state = 'PENDING' AND endpoint_id = e.id AND due_at IS NOT NULL
           ORDER BY due_at DESC LIMIT $2)) AS pending) AS oldest
    UNION ALL
   SELECT '', 'to_fan_out', count(*)::integer, ${AGE}
     FROM (SELECT created_at AS since FROM notification
            WHERE fanned_out_at IS NULL ORDER BY created_at LIMIT $1) AS fresh`,
)

const countEndpoints = statement<[states: readonly string[]], Count>(
  'health.endpoints',
  `SELECT '' AS kind, asked.state, count(e.id)::integer AS count,
          extract(epoch FROM clock_timestamp() - min(e.since))::float8 AS "oldestSeconds"
     FROM unnest($1::text[]) AS asked (state)
     LEFT JOIN endpoint e ON e.state = asked.state AND e.deleted_at IS NULL
    GROUP BY asked.state`,
)

/**
 * Uses `inbox_event_due`, `notification_to_fan_out`, `delivery_due` and `operation_due_by_kind`. `now()` is constant in
 * a statement; `clock_timestamp()` could not use an index. Not late are payouts stopped by the kill switch, and
 * deliveries that their endpoint's state holds or that wait for running attempts of their endpoint.
 */
const countLate = statement<[kinds: readonly string[], lateSeconds: number, limit: number], Count>(
  'health.late',
  `SELECT kind, '' AS state, least(count(*), $3)::integer AS count, ${AGE}
     FROM ((SELECT 'event' AS kind, due_at AS since FROM inbox_event
             WHERE due_at < now() - make_interval(secs => $2) ORDER BY due_at LIMIT $3)
           UNION ALL
           (SELECT 'notification', created_at FROM notification
             WHERE fanned_out_at IS NULL AND created_at < now() - make_interval(secs => $2)
             ORDER BY created_at LIMIT $3)
           UNION ALL
           SELECT 'delivery', waiting.due_at
             FROM endpoint e
            CROSS JOIN LATERAL (
              SELECT due_at FROM delivery
               WHERE endpoint_id = e.id AND due_at < now() - make_interval(secs => $2)
               ORDER BY due_at LIMIT $3) AS waiting
            WHERE e.deleted_at IS NULL AND e.state = 'active'
              AND NOT EXISTS (SELECT FROM delivery_attempt a
                               WHERE a.endpoint_id = e.id AND a.ended_at > now() - make_interval(secs => $2))
           UNION ALL
           SELECT asked.kind, waiting.due_at
             FROM unnest($1::text[]) AS asked (kind)
            CROSS JOIN LATERAL (
              SELECT due_at FROM operation
               WHERE kind = asked.kind AND due_at < now() - make_interval(secs => $2)
                 AND NOT (kind = 'cash_out' AND status = 'RESERVED'
                          AND NOT (SELECT (value ->> 'enabled')::boolean FROM control WHERE name = 'cash_out_switch'))
               ORDER BY due_at LIMIT $3) AS waiting) AS late
    GROUP BY kind`,
)

/** @source rules#trip-wire.7 */
const selectSuspended = statement<[], Count>(
  'health.suspended',
  `SELECT who.kind, '' AS state, (c.is_off AND c.kind = who.kind)::integer AS count,
          CASE WHEN c.is_off AND c.kind = who.kind
               THEN extract(epoch FROM clock_timestamp() - c.changed_at)::float8 END AS "oldestSeconds"
     FROM (VALUES ('operator'), ('trip_wire'), ('restored')) AS who (kind),
          (SELECT NOT (value ->> 'enabled')::boolean AS is_off, (value ->> 'changedAt')::timestamptz AS changed_at,
                  CASE value ->> 'by' WHEN 'trip-wire' THEN 'trip_wire' WHEN 'database-watch' THEN 'restored'
                       ELSE 'operator' END AS kind
             FROM control WHERE name = 'cash_out_switch') AS c`,
)

const selectStatement = statement<[], Count>(
  'health.statement',
  `SELECT '' AS kind, '' AS state, 1 AS count,
          extract(epoch FROM clock_timestamp() - read_at)::float8 AS "oldestSeconds"
     FROM statement_mark WHERE read_at IS NOT NULL`,
)

/** @source rules#close.10 */
const selectCloses = statement<[limit: number], Count>(
  'health.closes',
  `SELECT '' AS kind, '' AS state,
          (SELECT count(*)::integer FROM (SELECT FROM daily_close LIMIT $1) AS closed) AS count,
          extract(epoch FROM clock_timestamp() - since)::float8 AS "oldestSeconds"
     FROM (SELECT coalesce((SELECT (max(day) + 1)::timestamp AT TIME ZONE 'America/Sao_Paulo' FROM daily_close),
                           (SELECT min(e.at) FROM account a JOIN entry e ON e.account_id = a.id AND e.version = 1)) AS since) AS latest
    WHERE since IS NOT NULL`,
)

/** Whether a state is final. Millions of operations may be in a final state. */
const HAS_ENDED: Readonly<{
  cash_in: Record<CashInStatus, boolean>
  cash_out: Record<CashOutStatus, boolean>
  refund_in: Record<RefundInStatus, boolean>
}> = {
  cash_in: {
    PENDING: false,
    PAID: true,
    EXPIRED: true,
    FAILED: true,
    PROVIDER_RESULT_UNKNOWN: false,
    RECONCILIATION_REQUIRED: false,
  },
  cash_out: {
    RESERVED: false,
    DISPATCHED: false,
    CONFIRMED: true,
    FAILED: true,
    REVERSED: true,
    RELEASED: true,
    PROVIDER_RESULT_UNKNOWN: false,
    RECONCILIATION_REQUIRED: false,
  },
  refund_in: { PENDING: false, CONFIRMED: true, FAILED: true },
}

const ASKED = Object.entries(HAS_ENDED).flatMap(([kind, states]) =>
  Object.entries<boolean>(states)
    .filter(([, hasEnded]) => !hasEnded)
    .map(([state]) => ({ kind, state })),
)

export function createHealthStore(database: Database): HealthStore {
  const kinds = ASKED.map(({ kind }) => kind)
  const states = ASKED.map(({ state }) => state)
  return {
    cases: () => database.rows(countCases, [COUNTED_MAX]),
    operations: () => database.rows(countOperations, [kinds, states, COUNTED_MAX]),
    events: () => database.rows(countEvents, [COUNTED_MAX, ENDS]),
    deliveries: () => database.rows(countDeliveries, [COUNTED_MAX, ENDS]),
    endpoints: () => database.rows(countEndpoints, [endpointStates]),
    late: () => database.rows(countLate, [Object.keys(HAS_ENDED), LATE_SECONDS, COUNTED_MAX]),
    suspended: () => database.rows(selectSuspended, []),
    statement: () => database.rows(selectStatement, []),
    closes: () => database.rows(selectCloses, [COUNTED_MAX]),
  }
}
