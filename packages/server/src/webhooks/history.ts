import {
  type AttemptOutcome,
  type DeliveryState,
  type EndpointInput,
  type EventType,
  type endpoints,
  limits,
  Refusal,
} from '@pixgate/spec'
import { knownProblem } from '../platform/connection-problem.ts'
import { type Database, instantOrNull, type Queries, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { cursorAfter, instantOf, instantText, type Place, placeOf } from '../platform/http/page.ts'
import { invalidField } from '../platform/http/request.ts'
import { type RequestPart, requestParts, type TimeSplit } from '../platform/http-client/post.ts'
import { isUuid } from '../platform/ids.ts'

type DeliveriesQuery = EndpointInput<typeof endpoints.listWebhookDeliveries>['query']

export function createHistoryHandlers(database: Database) {
  return {
    listWebhookDeliveries: async ({ query }) => {
      const limit = query.limit ?? limits.pageLimitDefault
      // One extra row reveals whether more exist.
      const rows = await listDeliveries(database, query, limit + 1)
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      const hasMore = rows.length > limit
      const nextCursor = hasMore && last ? cursorAfter({ at: last.createdAt, id: last.id }, 1) : null
      return { status: 200, body: { data: page.map(deliveryView), pagination: { limit, hasMore, nextCursor } } }
    },
    getWebhookDelivery: async ({ params }) => {
      const delivery = isUuid(params.id) ? await selectDelivery(database, params.id) : undefined
      if (delivery === undefined) throw new Refusal('not_found')
      const attempts = await database.rows(selectAttemptsStatement, [delivery.id, limits.webhookAttemptsShownMax])
      return { status: 200, body: { ...deliveryView(delivery), attempts: attempts.map(attemptView) } }
    },
  } satisfies Partial<Handlers<typeof endpoints>>
}

/** @throws Refusal validation_error (400) for an invalid cursor */
function placeAfter(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined
  const place = placeOf(cursor)
  if (place === undefined) throw invalidField('cursor', 'invalid', 'cursor must be the nextCursor of an earlier page')
  return place.after
}

export interface DeliveryRow {
  readonly id: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly webhookId: string
  readonly notificationId: string
  readonly eventType: EventType
  readonly operationId: string
  readonly externalId: string | null
  readonly correlationId: string | null
  readonly state: DeliveryState
  readonly attemptCount: number
  readonly nextAttemptAt: number | null
  readonly finishedAt: number | null
}

/** `null` disables a filter. */
type ListParameters = [
  webhookId: string | null,
  eventType: string | null,
  operationId: string | null,
  correlationId: string | null,
  fromInclusive: string | null,
  untilExclusive: string | null,
  afterAt: string | null,
  afterId: string | null,
  limit: number,
]

// With a running attempt, the time of the next one is unknown.
const COLUMNS = `d.id, d.created_at AS "createdAt", d.endpoint_id AS "webhookId", d.notification_id AS "notificationId",
          n.event_type AS "eventType", n.operation_id AS "operationId", o.external_id AS "externalId",
          o.correlation_id AS "correlationId", d.state,
          d.attempts AS "attemptCount", CASE WHEN d.leased_until IS NULL THEN d.due_at END AS "nextAttemptAt",
          d.finished_at AS "finishedAt"`

// Bounds without OR use the index, however deep the page.
const FILTERED = `($1::uuid IS NULL OR d.endpoint_id = $1)
         AND ($2::text IS NULL OR n.event_type = $2) AND ($4::text IS NULL OR o.correlation_id = $4)
         AND d.created_at >= coalesce($5::timestamptz, '-infinity') AND d.created_at < coalesce($6::timestamptz, 'infinity')
         AND (d.created_at, d.id) < (coalesce($7::timestamptz, 'infinity'),
                                     coalesce($8::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))`

const NEWEST_FIRST = 'ORDER BY d.created_at DESC, d.id DESC LIMIT $9'

/** The state is a literal, so that the planner uses the index of that state: `delivery_failed`, `delivery_due`. */
const STATES: Readonly<Record<DeliveryState | 'any', string>> = {
  any: 'true',
  PENDING: "d.state = 'PENDING' AND d.due_at IS NOT NULL",
  DELIVERED: "d.state = 'DELIVERED'",
  FAILED: "d.state = 'FAILED'",
  CANCELLED: "d.state = 'CANCELLED'",
}

/** A statement for each state. */
function byState<Made>(make: (state: string, condition: string) => Made): Readonly<Record<keyof typeof STATES, Made>> {
  const entries = Object.entries(STATES).map(([state, condition]) => [state, make(state.toLowerCase(), condition)])
  return Object.fromEntries(entries) as Record<keyof typeof STATES, Made>
}

/** Uses `delivery_listed`: the newest of each endpoint, then the newest of all. */
const listDeliveriesStatements = byState((state, condition) =>
  statement<ListParameters, DeliveryRow>(
    `webhooks.listDeliveries.${state}`,
    `SELECT d.*
     FROM endpoint e
    CROSS JOIN LATERAL (
      SELECT ${COLUMNS}
        FROM delivery d
        JOIN notification n ON n.id = d.notification_id
        LEFT JOIN operation o ON o.id = n.operation_id
       WHERE d.endpoint_id = e.id AND ${condition} AND ${FILTERED}
       ${NEWEST_FIRST}) AS d
    WHERE ($1::uuid IS NULL OR e.id = $1) AND $3::uuid IS NULL
    ORDER BY d."createdAt" DESC, d.id DESC
    LIMIT $9`,
    { isLong: true },
  ),
)

/** Uses `notification_once` and `delivery_once`: an operation has few notifications. */
const listOfOperationStatements = byState((state, condition) =>
  statement<ListParameters, DeliveryRow>(
    `webhooks.listDeliveriesOfOperation.${state}`,
    `SELECT ${COLUMNS}
     FROM notification n
     JOIN delivery d ON d.notification_id = n.id
     LEFT JOIN operation o ON o.id = n.operation_id
    WHERE n.operation_id = $3 AND ${condition} AND ${FILTERED}
    ${NEWEST_FIRST}`,
  ),
)

/**
 * Lists deliveries, newest first.
 * @throws Refusal validation_error (400) for an invalid cursor, or instants in the wrong order
 * @source rules#webhooks.18
 */
function listDeliveries(queries: Queries, query: DeliveriesQuery, limit: number): Promise<DeliveryRow[]> {
  const from = query.from === undefined ? null : instantOf(query.from)
  const until = query.until === undefined ? null : instantOf(query.until)
  if (from !== null && until !== null && until < from)
    throw invalidField('until', 'out_of_range', 'until must not be before from')
  const after = placeAfter(query.cursor)
  const statements = query.operation_id === undefined ? listDeliveriesStatements : listOfOperationStatements
  return queries.rows(statements[query.state ?? 'any'], [
    query.webhook_id ?? null,
    query.event_type ?? null,
    query.operation_id ?? null,
    query.correlation_id ?? null,
    instantOrNull(from),
    instantOrNull(until),
    instantOrNull(after?.at),
    after?.id ?? null,
    limit,
  ])
}

const selectDeliveryStatement = statement<[string], DeliveryRow>(
  'webhooks.selectDelivery',
  `SELECT ${COLUMNS}
     FROM delivery d
     JOIN notification n ON n.id = d.notification_id
     LEFT JOIN operation o ON o.id = n.operation_id
    WHERE d.id = $1`,
)

export async function selectDelivery(queries: Queries, id: string): Promise<DeliveryRow | undefined> {
  return (await queries.rows(selectDeliveryStatement, [id]))[0]
}

interface AttemptRow extends TimeSplit {
  readonly attempt: number
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: AttemptOutcome
  readonly statusCode: number | null
  readonly code: string | null
  readonly answer: string | null
}

const selectAttemptsStatement = statement<[string, number], AttemptRow>(
  'webhooks.selectAttempts',
  `SELECT attempt, started_at AS "startedAt", ended_at AS "endedAt", outcome, status_code AS "statusCode", code,
          excerpt AS answer, dns_ms AS "dnsMs", connect_ms AS "connectMs", tls_ms AS "tlsMs", wait_ms AS "waitMs",
          total_ms AS "totalMs"
     FROM delivery_attempt
    WHERE delivery_id = $1
    ORDER BY attempt DESC
    LIMIT $2`,
)

/** @source rules#webhooks.18 */
export function deliveryView({ createdAt, nextAttemptAt, finishedAt, ...row }: DeliveryRow) {
  return {
    ...row,
    nextAttemptAt: instantText(nextAttemptAt),
    createdAt: new Date(createdAt).toISOString(),
    finishedAt: instantText(finishedAt),
  }
}

/** Fields of every attempt, stored or of a test event. @source rules#webhooks.17 */
export function attemptFieldsView(row: Omit<AttemptRow, 'attempt' | 'endedAt'>) {
  const { startedAt, outcome, statusCode, code, answer, dnsMs, connectMs, tlsMs, waitMs, totalMs } = row
  const times = { dnsMs, connectMs, tlsMs, waitMs, totalMs }
  const explanation = explanationOf({ outcome, statusCode, code, times })
  return { startedAt: new Date(startedAt).toISOString(), outcome, explanation, statusCode, answer, times }
}

function attemptView({ attempt, endedAt, ...row }: AttemptRow) {
  return { attempt, ...attemptFieldsView(row), endedAt: new Date(endedAt).toISOString() }
}

export interface Explained extends Pick<AttemptRow, 'outcome' | 'statusCode' | 'code'> {
  readonly times: Pick<TimeSplit, `${RequestPart}Ms`>
}

/** Explanations of a timeout, by the last part of the request that began. */
const LATE: Readonly<Record<RequestPart, string>> = {
  dns: 'The name of your server was not looked up in time.',
  connect: 'Your server did not take the connection in time.',
  tls: 'Your server did not finish the TLS handshake in time.',
  wait: 'Your server took the connection and did not answer in time.',
}

/** Explanations of unanswered attempts without a known code. */
const UNANSWERED: Readonly<Record<Exclude<AttemptOutcome, 'delivered' | 'refused' | 'timeout'>, string>> = {
  dns: 'The name of your server has no address.',
  connect: 'No connection to your server could be made.',
  tls: 'No TLS connection to your server could be made.',
  broken: 'Your server closed the connection before answering.',
  address_not_allowed: 'The name of your server led to an address that is not public: no connection was made.',
}

/** Explains an attempt in a sentence for the receiver's operator. @source rules#webhooks.17 */
export function explanationOf({ outcome, statusCode, code, times }: Explained): string {
  if (outcome === 'delivered') return `Your server took it: it answered ${statusCode}.`
  if (outcome === 'refused') return ofStatus(statusCode ?? 0)
  if (outcome === 'timeout') {
    return LATE[requestParts.findLast((part) => times[`${part}Ms`] !== null) ?? 'connect']
  }
  if (outcome === 'broken' && code?.startsWith('HPE_')) return 'Your server answered something that is not HTTP.'
  const isOfConnection = outcome === 'dns' || outcome === 'connect' || outcome === 'tls'
  const problem = isOfConnection && code !== null ? knownProblem(code) : undefined
  return problem === undefined ? UNANSWERED[outcome] : `Your server ${problem}.`
}

function ofStatus(statusCode: number): string {
  if (statusCode >= 300 && statusCode < 400) return `Your server answered ${statusCode}: a redirect is never followed.`
  if (statusCode === 401 || statusCode === 403) {
    return `Your server answered ${statusCode}: it did not accept the sender, or did not verify the signature.`
  }
  if (statusCode === 410) return 'Your server answered 410: it wants no more notifications.'
  return `Your server answered ${statusCode}.`
}
