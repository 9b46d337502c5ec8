import { type DeliveryState, limits, type ReplayKind } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../../platform/db/database.ts'

/** What is ordered to be sent again. */

const lockReplaysStatement = statement<[], never>('webhooks.lockReplays', 'SELECT pg_advisory_xact_lock(7046741004)')

/** Holds off every other order until the transaction ends: of the same one that comes twice at once the second finds the first. */
export async function lockReplays(queries: Queries): Promise<void> {
  await queries.rows(lockReplaysStatement, [])
}

/** An order, as it was answered. */
export interface Replay {
  readonly id: string
  readonly subscriptionId: string
  readonly kind: ReplayKind
  readonly deliveries: number
  readonly hasMore: boolean
  readonly lastDueAt: number | null
  readonly idempotencyKey: string | null
  readonly bodyHash: Buffer
  readonly createdAt: number
}

const selectByKeyStatement = statement<[key: string, since: string], Replay>(
  'webhooks.selectReplayByKey',
  `SELECT id, subscription_id AS "subscriptionId", kind, deliveries, has_more AS "hasMore", last_due_at AS "lastDueAt",
          idempotency_key AS "idempotencyKey", body_hash AS "bodyHash", created_at AS "createdAt"
     FROM replay
    WHERE idempotency_key = $1 AND created_at > $2
    ORDER BY created_at DESC
    LIMIT 1`,
)

/** The order that was given with this key since then, epoch milliseconds. */
export async function selectReplayByKey(queries: Queries, key: string, since: number): Promise<Replay | undefined> {
  return (await queries.rows(selectByKeyStatement, [key, instantParameter(since)]))[0]
}

const selectReplayStatement = statement<[string], Pick<Replay, 'id' | 'subscriptionId' | 'kind'>>(
  'webhooks.selectReplay',
  'SELECT id, subscription_id AS "subscriptionId", kind FROM replay WHERE id = $1',
)

/** What an order is of; undefined where there is none. */
export async function selectReplay(
  queries: Queries,
  id: string,
): Promise<Pick<Replay, 'id' | 'subscriptionId' | 'kind'> | undefined> {
  return (await queries.rows(selectReplayStatement, [id]))[0]
}

/** What decides whether a delivery can be sent again. */
export interface Replayable {
  readonly id: string
  readonly subscriptionId: string
  readonly state: DeliveryState
  readonly isReceiverRemoved: boolean
  readonly isErased: boolean
  readonly isReplaying: boolean
}

const selectReplayableStatement = statement<[string], Replayable>(
  'webhooks.selectReplayable',
  `SELECT d.id, d.subscription_id AS "subscriptionId", d.state, s.deleted_at IS NOT NULL AS "isReceiverRemoved",
          n.erased_at IS NOT NULL AS "isErased",
          EXISTS (SELECT FROM replay_delivery r WHERE r.delivery_id = d.id AND r.state = 'WAITING') AS "isReplaying"
     FROM delivery d
     JOIN subscription s ON s.id = d.subscription_id
     JOIN notification n ON n.id = d.notification_id
    WHERE d.id = $1`,
)

/** A delivery as far as it can be sent again; undefined where there is none. */
export async function selectReplayable(queries: Queries, deliveryId: string): Promise<Replayable | undefined> {
  return (await queries.rows(selectReplayableStatement, [deliveryId]))[0]
}

/** Which of a receiver; instants are epoch milliseconds. */
export interface Span {
  readonly subscriptionId: string
  /** Inclusive. */
  readonly since: number
  /** Exclusive; `null`: until now. */
  readonly until: number | null
}

type SpanParameters = [subscriptionId: string, since: string, until: string | null, limit: number]

function spanParameters({ subscriptionId, since, until }: Span, limit: number): SpanParameters {
  return [subscriptionId, instantParameter(since), until === null ? null : instantParameter(until), limit]
}

/** By `delivery_failed`. */
const selectFailedStatement = statement<SpanParameters, { id: string }>(
  'webhooks.selectFailed',
  `SELECT d.id
     FROM delivery d
     JOIN notification n ON n.id = d.notification_id
    WHERE d.subscription_id = $1 AND d.state = 'FAILED' AND d.created_at >= $2
      AND ($3::timestamptz IS NULL OR d.created_at < $3) AND n.erased_at IS NULL
      AND NOT EXISTS (SELECT FROM replay_delivery r WHERE r.delivery_id = d.id AND r.state = 'WAITING')
    ORDER BY d.created_at, d.id
    LIMIT $4`,
  { isLong: true },
)

/** Deliveries to a receiver that were given up and are not sent again already, oldest first. */
export function selectFailed(queries: Queries, span: Span, limit: number): Promise<{ readonly id: string }[]> {
  return queries.rows(selectFailedStatement, spanParameters(span, limit))
}

const insertReplayStatement = statement<
  [
    id: string,
    subscriptionId: string,
    kind: string,
    deliveries: number,
    hasMore: boolean,
    lastDueAt: string | null,
    key: string | null,
    bodyHash: Buffer,
    createdAt: string,
  ]
>(
  'webhooks.insertReplay',
  `INSERT INTO replay (id, subscription_id, kind, deliveries, has_more, last_due_at, idempotency_key, body_hash, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
)

/** Adds an order. */
export async function insertReplay(queries: Queries, replay: Replay): Promise<void> {
  const { id, subscriptionId, kind, deliveries, hasMore, lastDueAt, idempotencyKey, bodyHash, createdAt } = replay
  const due = lastDueAt === null ? null : instantParameter(lastDueAt)
  const parameters = [id, subscriptionId, kind, deliveries, hasMore, due, idempotencyKey, bodyHash] as const
  await queries.rows(insertReplayStatement, [...parameters, instantParameter(createdAt)])
}

// Both are locked: whoever removes the receiver waits, and finds what is to be cancelled, or is seen here; and nobody erases a delivery
// between the choice and this, so that none waits that is not there.
const insertReplayDeliveriesStatement = statement<
  [id: string, subscriptionId: string, deliveryIds: readonly string[], dueAt: readonly string[]],
  { id: string }
>(
  'webhooks.insertReplayDeliveries',
  `WITH receiver AS (SELECT id FROM subscription WHERE id = $2 AND deleted_at IS NULL FOR SHARE),
   kept AS (
     SELECT d.id, d.subscription_id, chosen.due_at
       FROM receiver
       JOIN delivery d ON d.subscription_id = receiver.id
       JOIN unnest($3::uuid[], $4::timestamptz[]) AS chosen (id, due_at) ON chosen.id = d.id
      WHERE d.id = ANY ($3::uuid[])
        FOR KEY SHARE OF d)
   INSERT INTO replay_delivery (replay_id, delivery_id, subscription_id, state, due_at)
   SELECT $1, id, subscription_id, 'WAITING', due_at FROM kept
   RETURNING delivery_id AS id`,
)

/**
 * Adds what is to be sent of an order.
 * @param dueAt of each, epoch milliseconds
 * @returns whether there is anything of it still: its receiver was removed, or all of it erased, since it was chosen
 * @source rules#webhooks.23
 */
export async function insertReplayDeliveries(
  queries: Queries,
  { id, subscriptionId }: Pick<Replay, 'id' | 'subscriptionId'>,
  deliveryIds: readonly string[],
  dueAt: readonly number[],
): Promise<boolean> {
  const parameters = [id, subscriptionId, deliveryIds, dueAt.map(instantParameter)] as const
  const added = await queries.rows(insertReplayDeliveriesStatement, [...parameters])
  return deliveryIds.length === 0 || added.length > 0
}

// What is under way keeps its claim: what comes of it is recorded. In the order in which attempts are recorded, so that neither waits
// for the other for ever.
const cancelReplayDeliveriesStatement = statement<[replayId: string, now: string], { count: number }>(
  'webhooks.cancelReplay',
  `WITH waiting AS (
     SELECT delivery_id FROM replay_delivery
      WHERE replay_id = $1 AND state = 'WAITING'
      ORDER BY delivery_id
        FOR UPDATE),
   cancelled AS (
     UPDATE replay_delivery r
        SET state = 'CANCELLED', due_at = NULL, finished_at = $2
       FROM waiting
      WHERE r.replay_id = $1 AND r.delivery_id = waiting.delivery_id
     RETURNING r.delivery_id),
   given_up AS (
     UPDATE delivery d SET state = 'FAILED', finished_at = $2
       FROM cancelled
      WHERE d.id = cancelled.delivery_id AND d.state = 'PENDING' AND d.next_attempt_at IS NULL)
   SELECT count(*)::integer AS count FROM cancelled`,
  { isLong: true },
)

/**
 * Calls off what waits of an order. What nothing else would have sent has failed with it, and can be recovered.
 * @returns how many waited
 * @source rules#webhooks.26
 */
export async function cancelReplayDeliveries(queries: Queries, replayId: string, nowMs: number): Promise<number> {
  return (await queries.rows(cancelReplayDeliveriesStatement, [replayId, instantParameter(nowMs)]))[0]?.count ?? 0
}

const sweepReplaysStatement = statement<[now: string, limit: number, heldSince: string], { id: string }>(
  'webhooks.sweepReplays',
  `WITH over AS (
     SELECT r.replay_id, r.delivery_id, s.deleted_at IS NOT NULL AS is_removed
       FROM replay_delivery r
       JOIN subscription s ON s.id = r.subscription_id
       LEFT JOIN delivery d ON d.id = r.delivery_id
       LEFT JOIN notification n ON n.id = d.notification_id
      WHERE r.state = 'WAITING'
        AND (s.deleted_at IS NOT NULL OR d.id IS NULL OR n.erased_at IS NOT NULL OR r.due_at <= $3)
      LIMIT $2
        FOR UPDATE OF r SKIP LOCKED),
   ended AS (
     UPDATE replay_delivery r
        SET state = CASE WHEN over.is_removed THEN 'CANCELLED' ELSE 'FAILED' END, due_at = NULL, claim_id = NULL,
            finished_at = $1
       FROM over
      WHERE r.replay_id = over.replay_id AND r.delivery_id = over.delivery_id
     RETURNING r.delivery_id AS id, r.state),
   given_up AS (
     UPDATE delivery d SET state = ended.state, finished_at = $1
       FROM ended
      WHERE d.id = ended.id AND d.state = 'PENDING' AND d.next_attempt_at IS NULL)
   SELECT id FROM ended`,
)

/**
 * Ends the next of what waits to be sent again and never will be: its receiver was removed, what it was about was erased, or it was
 * held for as long as anything is. What nothing else would have sent has failed with it.
 * @returns how many
 * @source rules#webhooks.14, rules#webhooks.23
 */
export async function sweepReplays(queries: Queries, nowMs: number, limit: number): Promise<number> {
  const heldSince = instantParameter(nowMs - limits.webhookHeldMs)
  return (await queries.rows(sweepReplaysStatement, [instantParameter(nowMs), limit, heldSince])).length
}
