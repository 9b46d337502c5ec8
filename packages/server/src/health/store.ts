import { type CashInStatus, type CashOutStatus, endpointStates, type RefundInStatus } from '@pixgate/spec'
import { type Database, statement } from '../platform/db/database.ts'

/** So many rows of one kind and state. */
export interface Count {
  /** What kind of case, operation or work; empty where there is but one. */
  readonly kind: string
  /** Which state they are in; empty where that makes no difference. */
  readonly state: string
  readonly count: number
  /** How long the oldest has waited; `null` where there is none. */
  readonly oldestSeconds: number | null
}

/** What waits, of all processes. Each is counted up to {@link COUNTED_MAX}: more than these are as bad. */
export interface Backlog {
  /** Open cases by their kind; `state` is empty. */
  readonly cases: readonly Count[]
  /** Operations that have not ended. */
  readonly operations: readonly Count[]
  /** Events of the bank that wait to be applied, by their state; `kind` is empty. */
  readonly events: readonly Count[]
  /** Pending deliveries, and notifications that are no deliveries yet; by `state`. */
  readonly deliveries: readonly Count[]
  /** Webhook endpoints by their state; the age is that of the longest in it. @source rules#webhooks.16 */
  readonly endpoints: readonly Count[]
  /** Work of any kind that was due more than {@link LATE_SECONDS} ago and that nobody has taken up; the age is since it was due. */
  readonly late: readonly Count[]
  /** Whether payouts are suspended: 0 or 1, by who ordered it (`operator`, `trip_wire`, `restored`); the age is since then. */
  readonly suspended: readonly Count[]
  /** Whether the bank's statement was read whole: none where it never was; the age is since it was. */
  readonly statement: readonly Count[]
  /** How many days are closed; the age is since the last of them ended, and before the first since money was booked. */
  readonly closes: readonly Count[]
}

/** All SQL of the metrics: each part of {@link Backlog}. @throws DatabaseUnavailable */
export type HealthStore = { readonly [Part in keyof Backlog]: () => Promise<Backlog[Part]> }

/** A worker looks each second, and a claim that it makes moves what it takes up. @source rules#logs.5 */
const LATE_SECONDS = 60

/** What is counted at most of anything, so that a reading costs little however much there is. */
const COUNTED_MAX = 10_000

/** How many are looked at, at each end of an index, for the oldest of what is counted by another order. */
const ENDS = 500

const AGE = `extract(epoch FROM clock_timestamp() - min(since))::float8 AS "oldestSeconds"`

/** By `case_open`. */
const countCases = statement<[limit: number], Count>(
  'health.cases',
  `SELECT kind, '' AS state, count(*)::integer AS count, ${AGE}
     FROM (SELECT kind, opened_at AS since FROM "case" WHERE closed_at IS NULL ORDER BY opened_at LIMIT $1) AS open
    GROUP BY kind`,
)

/**
 * By `operation_list_by_status`: of each kind and state the oldest, and so many at most. The state is a range and first in
 * the order, as no other index gives that: one by kind alone would be read to its end for a state that few are in.
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

/**
 * By `inbox_event_due`. What was parked longest is due last: beside those that are counted, the last ones are looked at for
 * their age.
 */
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
 * By `delivery_due` and `notification_to_fan_out`. The oldest is looked for at each endpoint among those that are due first, and among
 * those that are due last, which were tried most often. A resend of a delivery that had ended is not pending.
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
 * By `inbox_event_due`, `notification_to_fan_out`, `delivery_due` and `operation_due_by_kind`, which `clock_timestamp()` could
 * not be searched in: it is another one for each row. A payout that the operator holds back by the switch is not late, nor is a
 * delivery that its endpoint's state holds, or that waits for others while attempts at its endpoint end.
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

/** Whether an operation of a kind has ended in a state. Of those that have there may be millions. */
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

/** Makes the store of a database. */
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
