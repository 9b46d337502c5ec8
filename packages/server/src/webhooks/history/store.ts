import type { AttemptOutcome, DeliveryState, EventType } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../../platform/db/database.ts'
import type { Place } from '../../platform/http/page-cursor.ts'

/** What was sent to the receivers, as they read it. */

/** A delivery with what it tells of. */
export interface DeliveryRow extends Place {
  readonly webhookId: string
  readonly notificationId: string
  readonly eventType: EventType
  readonly operationId: string
  readonly correlationId: string | null
  readonly state: DeliveryState
  readonly attemptCount: number
  readonly nextAttemptAt: number | null
  readonly finishedAt: number | null
}

/** Which deliveries to list; what is `null` narrows nothing. Instants are epoch milliseconds. */
export interface DeliveryFilter {
  readonly webhookId: string | null
  readonly state: DeliveryState | null
  readonly eventType: EventType | null
  readonly operationId: string | null
  readonly correlationId: string | null
  /** Inclusive. */
  readonly from: number | null
  /** Exclusive. */
  readonly until: number | null
  /** The last of the page before. */
  readonly after: Place | null
  readonly limit: number
}

type ListParameters = [
  webhookId: string | null,
  state: string | null,
  eventType: string | null,
  operationId: string | null,
  correlationId: string | null,
  from: string | null,
  until: string | null,
  afterAt: string | null,
  afterId: string | null,
  limit: number,
]

// A delivery that is claimed is under way: its next attempt is not known yet.
const COLUMNS = `d.id, d.created_at AS "createdAt", d.subscription_id AS "webhookId", d.notification_id AS "notificationId",
          n.event_type AS "eventType", n.operation_id AS "operationId", o.correlation_id AS "correlationId", d.state,
          d.attempts AS "attemptCount", CASE WHEN d.claim_id IS NULL THEN d.next_attempt_at END AS "nextAttemptAt",
          d.finished_at AS "finishedAt"`

// Bounds that are always there are looked up in the index, however deep the page is.
const NARROWED = `($1::uuid IS NULL OR d.subscription_id = $1) AND ($2::text IS NULL OR d.state = $2)
         AND ($3::text IS NULL OR n.event_type = $3) AND ($5::text IS NULL OR o.correlation_id = $5)
         AND d.created_at >= coalesce($6::timestamptz, '-infinity') AND d.created_at < coalesce($7::timestamptz, 'infinity')
         AND (d.created_at, d.id) < (coalesce($8::timestamptz, 'infinity'),
                                     coalesce($9::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))`

const NEWEST_FIRST = 'ORDER BY d.created_at DESC, d.id DESC LIMIT $10'

/** By `delivery_listed`: the newest of each receiver, and of those the newest. */
const listDeliveriesStatement = statement<ListParameters, DeliveryRow>(
  'webhooks.listDeliveries',
  `SELECT d.*
     FROM subscription s
    CROSS JOIN LATERAL (
      SELECT ${COLUMNS}
        FROM delivery d
        JOIN notification n ON n.id = d.notification_id
        LEFT JOIN operation o ON o.id = n.operation_id
       WHERE d.subscription_id = s.id AND ${NARROWED}
       ${NEWEST_FIRST}) AS d
    WHERE ($1::uuid IS NULL OR s.id = $1) AND $4::uuid IS NULL
    ORDER BY d."createdAt" DESC, d.id DESC
    LIMIT $10`,
  { isLong: true },
)

/** By `notification_once` and `delivery_once`: an operation has few. */
const listOfOperationStatement = statement<ListParameters, DeliveryRow>(
  'webhooks.listDeliveriesOfOperation',
  `SELECT ${COLUMNS}
     FROM notification n
     JOIN delivery d ON d.notification_id = n.id
     LEFT JOIN operation o ON o.id = n.operation_id
    WHERE n.operation_id = $4 AND ${NARROWED}
    ${NEWEST_FIRST}`,
)

/** Deliveries, the newest first. @source rules#webhooks.18 */
export function listDeliveries(queries: Queries, filter: DeliveryFilter): Promise<DeliveryRow[]> {
  const { webhookId, state, eventType, operationId, correlationId, after } = filter
  return queries.rows(operationId === null ? listDeliveriesStatement : listOfOperationStatement, [
    webhookId,
    state,
    eventType,
    operationId,
    correlationId,
    instantOrNull(filter.from),
    instantOrNull(filter.until),
    instantOrNull(after?.createdAt ?? null),
    after?.id ?? null,
    filter.limit,
  ])
}

function instantOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : instantParameter(epochMs)
}

const selectDeliveryStatement = statement<[string], DeliveryRow>(
  'webhooks.selectDelivery',
  `SELECT ${COLUMNS}
     FROM delivery d
     JOIN notification n ON n.id = d.notification_id
     LEFT JOIN operation o ON o.id = n.operation_id
    WHERE d.id = $1`,
)

/** A delivery; undefined where there is none. */
export async function selectDelivery(queries: Queries, id: string): Promise<DeliveryRow | undefined> {
  return (await queries.rows(selectDeliveryStatement, [id]))[0]
}

/** An attempt as it was kept. */
export interface AttemptRow {
  readonly attempt: number
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: AttemptOutcome
  readonly statusCode: number | null
  readonly code: string | null
  readonly answer: string | null
  readonly dnsMs: number | null
  readonly connectMs: number | null
  readonly tlsMs: number | null
  readonly waitMs: number | null
  readonly totalMs: number | null
  readonly replayId: string | null
}

const selectAttemptsStatement = statement<[string, number], AttemptRow>(
  'webhooks.selectAttempts',
  `SELECT attempt, started_at AS "startedAt", ended_at AS "endedAt", outcome, status_code AS "statusCode", code,
          excerpt AS answer, dns_ms AS "dnsMs", connect_ms AS "connectMs", tls_ms AS "tlsMs", wait_ms AS "waitMs",
          total_ms AS "totalMs", replay_id AS "replayId"
     FROM delivery_attempt
    WHERE delivery_id = $1
    ORDER BY attempt DESC
    LIMIT $2`,
)

/** The last attempts of a delivery, the last one first. */
export function selectAttempts(queries: Queries, deliveryId: string, limit: number): Promise<AttemptRow[]> {
  return queries.rows(selectAttemptsStatement, [deliveryId, limit])
}
