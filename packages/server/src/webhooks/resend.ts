import { type endpoints, limits, Refusal } from '@pixgate/spec'
import { instantParameter, type Queries, refusableTransaction, statement } from '../platform/db/database.ts'
import type { Handlers, RequestContext } from '../platform/http/handler.ts'
import { instantOf } from '../platform/http/page.ts'
import { isUuid } from '../platform/ids.ts'
import { type ChangeNeeds, change } from './change.ts'
import { changeEndpoint, lockEndpoint } from './endpoints.ts'
import { LOOKED_AT_MAX } from './feed.ts'
import { type DeliveryRow, deliveryView, selectDelivery } from './history.ts'

/** Resending: one delivery, the undelivered ones of an endpoint, and those from before its registration. */

export interface ResendNeeds extends ChangeNeeds {
  readonly onDue: () => void
}

export function createResendHandlers(needs: ResendNeeds) {
  return {
    resendWebhookDelivery: async ({ params, context }) => ({
      status: 202,
      body: deliveryView(await resendOne(needs, params.id, context)),
    }),
    recoverWebhook: async ({ params, body, context }) => ({
      status: 202,
      body: await recover(needs, params.webhook_id, instantOf(body.since), context),
    }),
    sendMissedToWebhook: async ({ params, body, context }) => ({
      status: 202,
      body: await sendMissed(needs, params.webhook_id, instantOf(body.since), context),
    }),
  } satisfies Partial<Handlers<typeof endpoints>>
}

/** Reasons why a delivery cannot be resent, with their messages. @source rules#webhooks.21 */
const REASONS = {
  endpoint_removed: 'the endpoint of this delivery was removed',
  erased: 'the notification of this delivery was erased at the end of its retention',
} as const

function notResendable(code: keyof typeof REASONS): Refusal {
  return new Refusal('delivery_not_resendable', { fields: [{ field: 'id', code, message: REASONS[code] }] })
}

/**
 * Makes a delivery due now with the attempts of a resend, in any state. During an attempt, `finish` applies the resend.
 * @throws Refusal not_found (404) · delivery_not_resendable (409) · overloaded (503) the request has lapsed
 * @source rules#webhooks.21
 */
async function resendOne(needs: ResendNeeds, id: string, context: RequestContext): Promise<DeliveryRow> {
  const lock = async (queries: Queries): Promise<string> => {
    const [found] = isUuid(id) ? await queries.rows(lockResentStatement, [id]) : []
    if (found === undefined) throw new Refusal('not_found')
    if (found.isRemoved) throw notResendable('endpoint_removed')
    if (found.isErased) throw notResendable('erased')
    return found.endpointId
  }
  const resent = await change(needs, context, lock, async ({ queries, nowMs, audit }, endpointId) => {
    await queries.rows(resendStatement, [[id], instantParameter(nowMs), limits.webhookResendAttempts, null])
    await audit('webhook.resent', endpointId, { delivery: id })
    return selectDelivery(queries, id)
  })
  if (resent === undefined) throw new Error(`the delivery ${id} that was just resent is missing`)
  needs.onDue()
  return resent
}

// Endpoint and notification are locked before the delivery, as their removal and erasure do: each of these waits for
// this statement or is visible here.
const lockResentStatement = statement<[string], { endpointId: string; isRemoved: boolean; isErased: boolean }>(
  'webhooks.lockResent',
  `SELECT e.id AS "endpointId", e.deleted_at IS NOT NULL AS "isRemoved", n.erased_at IS NOT NULL AS "isErased"
     FROM delivery d
     JOIN endpoint e ON e.id = d.endpoint_id
     JOIN notification n ON n.id = d.notification_id
    WHERE d.id = $1
      FOR SHARE OF e, n`,
)

/** SQL: overdue for an hour, and not resent: its endpoint is paused, or has a backlog. @param now the parameter of the time */
function isOverdue(now: string): string {
  return `d.resend_left = 0 AND d.due_at < ${now}::timestamptz - interval '1 hour'`
}

// A running attempt keeps its lease, since it may succeed. A recovery only changes deliveries still in the state in
// which they were chosen. Rows are locked in the order of their ids, as in `finish`. One microsecond between due times
// keeps the given order. An overdue delivery keeps an hour of its place in the queue; the 30 days for which a paused
// endpoint holds it begin anew.
const resendStatement = statement<
  [ids: readonly string[], now: string, attempts: number, onlyIn: string | null],
  { id: string }
>(
  'webhooks.resend',
  `WITH locked AS (
     SELECT d.id, given.nth
       FROM delivery d
       JOIN unnest($1::uuid[]) WITH ORDINALITY AS given (id, nth) ON given.id = d.id
      WHERE d.state <> 'CANCELLED'
        AND ($4::text IS NULL OR d.state = $4 AND d.resend_after IS NULL 
             AND (d.due_at IS NULL OR d.due_at > $2 OR d.leased_until > $2 OR ${isOverdue('$2')}))
      ORDER BY d.id
        FOR UPDATE OF d)
   UPDATE delivery d
      SET due_at = CASE WHEN leased_until IS NULL
                        THEN greatest(least(due_at, $2::timestamptz - (cardinality($1) - nth) * interval '1 microsecond'),
                                      $2::timestamptz - interval '1 hour')
                        ELSE due_at END,
          resend_left = CASE WHEN leased_until IS NULL THEN $3::integer ELSE resend_left END,
          resend_after = CASE WHEN leased_until IS NULL THEN NULL ELSE $2::timestamptz END
     FROM locked
    WHERE d.id = locked.id
   RETURNING d.id`,
)

/** Deliveries per step, which is one transaction. */
const STEP = 500

/**
 * Makes undelivered deliveries of an endpoint due: first pending ones that wait for a later attempt, then failed ones,
 * oldest first. The order is audited before the first step. A lapsed request begins no further step.
 * @throws Refusal not_found (404) unknown or removed · overloaded (503) the request has lapsed
 * @source rules#webhooks.22
 */
async function recover(needs: ResendNeeds, webhookId: string, since: number, context: RequestContext) {
  await begin(needs, webhookId, 'webhook.recovered', since, context)
  const progress = { deliveries: 0, hasMore: true, since }
  let wanted: 'PENDING' | 'FAILED' = 'PENDING'
  let room: number = limits.webhookResendMax
  while (room > 0 && progress.hasMore && !context.live.hasLapsed()) {
    const limit = Math.min(STEP, room)
    const { chosen, resent, lastAt } = await recoverStep(needs, webhookId, wanted, progress.since, limit)
    needs.onDue()
    room -= chosen
    progress.deliveries += resent
    if (wanted === 'FAILED') {
      progress.hasMore = chosen === limit
      progress.since = lastAt ?? progress.since
    } else if (chosen < limit) {
      wanted = 'FAILED'
    }
  }
  return resentView(webhookId, progress)
}

function resentView(
  webhookId: string,
  { deliveries, hasMore, since }: { deliveries: number; hasMore: boolean; since: number },
) {
  return { webhookId: webhookId.toLowerCase(), deliveries, hasMore, since: new Date(since).toISOString() }
}

/** Audits the order before it is carried out. */
function begin(needs: ResendNeeds, webhookId: string, action: string, since: number, context: RequestContext) {
  return changeEndpoint(needs, webhookId, context, ({ audit }) =>
    audit(action, webhookId, { since: new Date(since).toISOString() }),
  )
}

// A recovered delivery is not chosen again: it is due, or its resend waits for a running attempt.
const choosing = (name: string, condition: string, order: string) =>
  statement<[endpointId: string, since: string, now: string, limit: number], { id: string; createdAt: number }>(
    name,
    `SELECT d.id, d.created_at AS "createdAt"
       FROM delivery d
       JOIN notification n ON n.id = d.notification_id
      WHERE d.endpoint_id = $1 AND d.created_at >= $2 AND ${condition} AND n.erased_at IS NULL
      ORDER BY ${order}
      LIMIT $4
        FOR SHARE OF n`,
  )

const chooseStatements = {
  PENDING: choosing(
    'webhooks.choosePending',
    `d.state = 'PENDING' AND (d.due_at > $3 OR d.leased_until > $3 OR ${isOverdue('$3')}) AND d.resend_after IS NULL`,
    'd.due_at',
  ),
  FAILED: choosing(
    'webhooks.chooseFailed',
    `d.state = 'FAILED' AND d.due_at IS NULL AND d.created_at <= $3`,
    'd.created_at',
  ),
}

async function recoverStep(
  { database, clock }: ResendNeeds,
  webhookId: string,
  wanted: 'PENDING' | 'FAILED',
  since: number,
  limit: number,
) {
  return refusableTransaction(database, async (queries) => {
    await lockEndpoint(queries, webhookId)
    const now = instantParameter(clock.now())
    const chosen = await queries.rows(chooseStatements[wanted], [webhookId, instantParameter(since), now, limit])
    const oldestFirst = chosen.toSorted((one, other) => one.createdAt - other.createdAt).map(({ id }) => id)
    const resent = await queries.rows(resendStatement, [oldestFirst, now, limits.webhookResendAttempts, wanted])
    return { chosen: chosen.length, resent: resent.length, lastAt: chosen.at(-1)?.createdAt }
  })
}

/** Maximum of steps per request, when they find little. */
const LOOKS_MAX = 200

/**
 * A notification's time is the start of its transaction; its position is assigned after the commit, within this time.
 */
const PLACED_WITHIN_MS = 3_600_000

/**
 * Creates deliveries of the notifications from before an endpoint's registration, oldest first. Reads the feed, and a
 * delivery is created once, so steps can be repeated.
 * @throws Refusal not_found (404) unknown or removed · overloaded (503) the request has lapsed
 * @source rules#webhooks.24
 */
async function sendMissed(needs: ResendNeeds, webhookId: string, since: number, context: RequestContext) {
  await begin(needs, webhookId, 'webhook.missed_sent', since, context)
  const before = instantParameter(since - PLACED_WITHIN_MS)
  let reached = (await needs.database.rows(startOfMissedStatement, [before]))[0]?.position ?? 0n
  const progress = { deliveries: 0, hasMore: true, since }
  for (let look = 0; look < LOOKS_MAX && !context.live.hasLapsed(); look++) {
    const room = limits.webhookResendMax - progress.deliveries
    if (room === 0) break
    const found = await missedStep(needs, webhookId, since, reached, Math.min(STEP, room))
    if (found.deliveries > 0) needs.onDue()
    reached = found.reached
    progress.deliveries += found.deliveries
    progress.hasMore = found.hasMore
    progress.since = Math.max(since, (found.reachedAt ?? since) - PLACED_WITHIN_MS)
    if (found.isEnd) break
  }
  return resentView(webhookId, progress)
}

const startOfMissedStatement = statement<[before: string], { position: bigint }>(
  'webhooks.startOfMissed',
  `SELECT coalesce((SELECT position FROM notification
                     WHERE created_at < $1 AND erased_at IS NULL AND fanned_out_at IS NOT NULL
                     ORDER BY created_at DESC
                     LIMIT 1), 0) AS position`,
)

/** A fan-out during the registration did not see the endpoint. Later notifications already have deliveries. */
const REGISTERED_WITHIN_MS = 15_000

interface MissedStep {
  readonly deliveries: number
  readonly reached: bigint
  readonly reachedAt: number | null
  readonly isEnd: boolean
  readonly hasMore: boolean
}

const missedStepStatement = statement<
  [
    endpointId: string,
    since: string,
    after: string,
    lookedAtMax: number,
    limit: number,
    registeredWithinMs: number,
    now: string,
    attempts: number,
    deliveryIds: string,
  ],
  MissedStep
>(
  'webhooks.missedStep',
  `WITH span AS (
     SELECT e.id, e.events, e.created_at + $6 * interval '1 millisecond' AS until, feed.last_position AS last,
            least($3::bigint + $4::integer, feed.last_position) AS reached
       FROM endpoint e
      CROSS JOIN feed
      WHERE e.id = $1),
   missed AS (
     SELECT n.id, n.position, row_number() OVER (ORDER BY n.position) AS nth
       FROM span
      CROSS JOIN LATERAL (
        SELECT n.id, n.position
          FROM notification n
         WHERE n.position > $3 AND n.position <= span.reached AND n.created_at >= $2 AND n.created_at < span.until
           AND n.erased_at IS NULL AND n.event_type = ANY (span.events)
           AND NOT EXISTS (SELECT FROM delivery d WHERE d.notification_id = n.id AND d.endpoint_id = span.id)
         ORDER BY n.position
         LIMIT $5
           FOR SHARE OF n) AS n),
   made AS (
     INSERT INTO delivery (id, notification_id, endpoint_id, created_at, due_at, schedule_left, resend_left)
     SELECT (left($9::text, 24) || lpad(to_hex(nth), 4, '0') || left(gen_random_uuid()::text, 8))::uuid, id, $1, $7,
            $7::timestamptz - (count(*) OVER () - nth) * interval '1 microsecond', 0, $8
       FROM missed
         ON CONFLICT (notification_id, endpoint_id) DO NOTHING
     RETURNING id),
   done AS (
     SELECT span.last, span.until,
            CASE WHEN (SELECT count(*) FROM missed) = $5 THEN (SELECT max(position) FROM missed)
                 ELSE greatest(span.reached, $3::bigint) END AS reached
       FROM span)
   SELECT (SELECT count(*) FROM made)::integer AS deliveries, done.reached, n.created_at AS "reachedAt",
          done.reached >= done.last AS "isEnd",
          done.reached < done.last
            OR EXISTS (SELECT FROM notification WHERE fanned_out_at IS NULL AND created_at < done.until) AS "hasMore"
     FROM done
     LEFT JOIN notification n ON n.position = done.reached`,
)

async function missedStep(
  { database, clock, ids }: ResendNeeds,
  webhookId: string,
  since: number,
  after: bigint,
  limit: number,
): Promise<MissedStep> {
  return refusableTransaction(database, async (queries) => {
    await lockEndpoint(queries, webhookId)
    const [step] = await queries.rows(missedStepStatement, [
      webhookId,
      instantParameter(since),
      String(after),
      LOOKED_AT_MAX,
      limit,
      REGISTERED_WITHIN_MS,
      instantParameter(clock.now()),
      limits.webhookResendAttempts,
      ids.uuid(),
    ])
    if (step === undefined) throw new Error('feed row is missing')
    return step
  })
}
