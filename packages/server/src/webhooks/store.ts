import type { EventType } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'

/** All SQL of the webhooks module. */

/** A registered receiver. */
export interface Subscription {
  readonly id: string
  readonly url: string
  /** In the order of `eventTypes`. */
  readonly events: readonly EventType[]
  readonly createdAt: number
}

const lockRegistrationsStatement = statement<[], never>(
  'webhooks.lockRegistrations',
  'SELECT pg_advisory_xact_lock(7046741002)',
)

/** Holds off every other registration until the transaction ends, so that their number can be bounded. */
export async function lockRegistrations(queries: Queries): Promise<void> {
  await queries.rows(lockRegistrationsStatement, [])
}

const lockSubscriptionStatement = statement<[string], { id: string }>(
  'webhooks.lockSubscription',
  'SELECT id FROM subscription WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE',
)

/** Holds off whoever else would change a live subscription, until the transaction ends. @returns whether there is one */
export async function lockSubscription(queries: Queries, id: string): Promise<boolean> {
  return (await queries.rows(lockSubscriptionStatement, [id])).length > 0
}

/** A receiver of the list. */
export interface ListedSubscription extends Subscription {
  readonly isPaused: boolean
}

const listSubscriptionsStatement = statement<[], ListedSubscription>(
  'webhooks.listSubscriptions',
  `SELECT s.id, s.url, s.events, s.created_at AS "createdAt", l.state = 'paused' AS "isPaused"
     FROM subscription s
     JOIN lane l ON l.subscription_id = s.id
    WHERE s.deleted_at IS NULL
    ORDER BY s.created_at, s.id`,
)

/** The live subscriptions, oldest first. */
export function listSubscriptions(queries: Queries): Promise<ListedSubscription[]> {
  return queries.rows(listSubscriptionsStatement, [])
}

const insertSubscriptionStatement = statement<[string, string, readonly string[], string]>(
  'webhooks.insertSubscription',
  'INSERT INTO subscription (id, url, events, created_at) VALUES ($1, $2, $3, $4)',
)

/** Adds a subscription; the database adds its lane. */
export async function insertSubscription(queries: Queries, subscription: Subscription): Promise<void> {
  const { id, url, events, createdAt } = subscription
  await queries.rows(insertSubscriptionStatement, [id, url, events, instantParameter(createdAt)])
}

const deleteSubscriptionStatement = statement<[string, string], { id: string }>(
  'webhooks.deleteSubscription',
  'UPDATE subscription SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL RETURNING id',
)

/**
 * Marks a subscription as deleted; waits for a fan-out that is under way.
 * @returns whether there was one
 */
export async function deleteSubscription(queries: Queries, id: string, deletedAt: number): Promise<boolean> {
  return (await queries.rows(deleteSubscriptionStatement, [id, instantParameter(deletedAt)])).length > 0
}

// Whatever is being claimed or recorded is left to the sweep: this waits for nobody and is short.
const cancelDeliveriesStatement = statement<[string, string, number]>(
  'webhooks.cancelDeliveries',
  `WITH pending AS (
     SELECT id FROM delivery WHERE subscription_id = $1 AND state = 'PENDING' LIMIT $3 FOR UPDATE SKIP LOCKED)
   UPDATE delivery d
      SET state = 'CANCELLED', next_attempt_at = NULL, claim_id = NULL, finished_at = $2
     FROM pending
    WHERE d.id = pending.id`,
)

/** Of what ends without being sent, so much at once. */
const ENDED_AT_ONCE = 500

/** Cancels what a subscription has not received yet, or the first of it; {@link sweepRemoved} cancels the rest. */
export async function cancelDeliveries(queries: Queries, subscriptionId: string, nowMs: number): Promise<void> {
  await queries.rows(cancelDeliveriesStatement, [subscriptionId, instantParameter(nowMs), ENDED_AT_ONCE])
}

// A fan-out that saw the subscription has committed before it was removed, so that nothing is added to it any more.
const sweepRemovedStatement = statement<[string, number], { isMore: boolean }>(
  'webhooks.sweepRemoved',
  `WITH removed AS (
     SELECT l.subscription_id
       FROM lane l
       JOIN subscription s ON s.id = l.subscription_id
      WHERE s.deleted_at IS NOT NULL AND NOT l.is_over
      LIMIT 20
        FOR UPDATE OF l SKIP LOCKED),
   pending AS (
     SELECT d.id
       FROM removed
      CROSS JOIN LATERAL (
        SELECT id FROM delivery
         WHERE subscription_id = removed.subscription_id AND state = 'PENDING'
         LIMIT $2
           FOR UPDATE SKIP LOCKED) AS d),
   cancelled AS (
     UPDATE delivery d
        SET state = 'CANCELLED', next_attempt_at = NULL, claim_id = NULL, finished_at = $1
       FROM pending
      WHERE d.id = pending.id),
   over AS (
     UPDATE lane l
        SET is_over = true
       FROM removed
      WHERE l.subscription_id = removed.subscription_id
        AND NOT EXISTS (SELECT FROM delivery d WHERE d.subscription_id = l.subscription_id AND d.state = 'PENDING'))
   SELECT count(*) > 0 AS "isMore" FROM removed`,
)

/**
 * Cancels the next of what receivers that were removed have not had, and ends the lanes of those that have nothing left.
 * @returns whether there may be more
 * @source rules#webhooks.3
 */
export async function sweepRemoved(queries: Queries, nowMs: number): Promise<boolean> {
  return (await queries.rows(sweepRemovedStatement, [instantParameter(nowMs), ENDED_AT_ONCE]))[0]?.isMore === true
}

const endHeldStatement = statement<[now: string, dueBefore: string, number], { subscriptionId: string; count: number }>(
  'webhooks.endHeld',
  `WITH held AS (
     SELECT d.id
       FROM lane l
      CROSS JOIN (VALUES (0), (1)) AS tried (once)
      CROSS JOIN LATERAL (
        SELECT id FROM delivery
         WHERE subscription_id = l.subscription_id AND state = 'PENDING' AND least(attempts, 1) = tried.once
           AND next_attempt_at < $2
         ORDER BY next_attempt_at
         LIMIT $3
           FOR UPDATE SKIP LOCKED) AS d
      WHERE NOT l.is_over AND l.state <> 'active'),
   ended AS (
     UPDATE delivery d
        SET state = 'FAILED', next_attempt_at = NULL, claim_id = NULL, finished_at = $1, last_outcome = 'held_too_long'
       FROM held
      WHERE d.id = held.id
     RETURNING d.subscription_id)
   SELECT subscription_id AS "subscriptionId", count(*)::integer AS count FROM ended GROUP BY subscription_id`,
)

/**
 * Gives up the next of what was held for a receiver for longer than it is kept.
 * @param dueBefore epoch milliseconds
 * @returns how many were, of each receiver
 * @source rules#webhooks.14
 */
export function endHeld(
  queries: Queries,
  nowMs: number,
  dueBefore: number,
): Promise<{ readonly subscriptionId: string; readonly count: number }[]> {
  return queries.rows(endHeldStatement, [instantParameter(nowMs), instantParameter(dueBefore), ENDED_AT_ONCE])
}

// FOR SHARE: a deletion waits until the fan-out's deliveries are there to be cancelled, or is seen by it.
const shareSubscriptionsStatement = statement<[], Subscription>(
  'webhooks.shareSubscriptions',
  `SELECT id, url, events, created_at AS "createdAt"
     FROM subscription
    WHERE deleted_at IS NULL
      FOR SHARE`,
)

/** The live subscriptions; none of them can be deleted before the transaction ends. */
export function shareSubscriptions(queries: Queries): Promise<Subscription[]> {
  return queries.rows(shareSubscriptionsStatement, [])
}

/** What fan-out needs to know of a notification. */
export interface FreshNotification {
  readonly id: string
  readonly eventType: EventType
  readonly createdAt: number
}

// Who finds that another process has claimed the oldest waits for it, so that of two notifications the older one, and so the first
// of two of one operation, never has the later place in the feed. The engine makes the second of them the younger one, whatever the
// clocks of two processes say.
const claimNotificationsStatement = statement<[number], FreshNotification>(
  'webhooks.claimNotifications',
  `SELECT id, event_type AS "eventType", created_at AS "createdAt"
     FROM notification
    WHERE fanned_out_at IS NULL
    ORDER BY created_at, id
    LIMIT $1
      FOR UPDATE`,
)

/**
 * Claims, until the transaction ends, notifications that no process has fanned out, oldest first.
 * @source rules#feed.1
 */
export function claimNotifications(queries: Queries, max: number): Promise<FreshNotification[]> {
  return queries.rows(claimNotificationsStatement, [max])
}

/** A delivery to come. */
export interface NewDelivery {
  readonly id: string
  readonly notificationId: string
  readonly subscriptionId: string
  readonly dueAt: number
}

// Who gives no places, as older ones have none yet, holds the feed all the same: else it would be said to be up to date before what is
// marked here is seen, and what is notified next would have a place before it.
const recordFanOutStatement = statement<
  [readonly string[], string, readonly string[], readonly string[], readonly string[], readonly string[]]
>(
  'webhooks.recordFanOut',
  `WITH placed AS (
     UPDATE feed
        SET last_position = last_position + CASE WHEN is_behind THEN 0 ELSE cardinality($1::uuid[]) END
     RETURNING CASE WHEN NOT is_behind THEN last_position - cardinality($1::uuid[]) END AS before),
   marked AS (
     UPDATE notification n
        SET fanned_out_at = $2, position = (SELECT before FROM placed) + fresh.nth
       FROM unnest($1::uuid[]) WITH ORDINALITY AS fresh (id, nth)
      WHERE n.id = fresh.id)
   INSERT INTO delivery (id, notification_id, subscription_id, state, next_attempt_at, created_at)
   SELECT id, notification_id, subscription_id, 'PENDING', due_at, $2
     FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::timestamptz[])
       AS added (id, notification_id, subscription_id, due_at)
       ON CONFLICT (notification_id, subscription_id) DO NOTHING`,
)

/**
 * Adds deliveries, marks the notifications as fanned out, and gives them the next places of the feed, in their order; while older
 * ones have none, they wait for theirs behind them.
 * @param notificationIds as they were claimed, in this transaction
 * @source rules#feed.1
 */
export async function recordFanOut(
  queries: Queries,
  notificationIds: readonly string[],
  deliveries: readonly NewDelivery[],
  nowMs: number,
): Promise<void> {
  await queries.rows(recordFanOutStatement, [
    notificationIds,
    instantParameter(nowMs),
    deliveries.map(({ id }) => id),
    deliveries.map(({ notificationId }) => notificationId),
    deliveries.map(({ subscriptionId }) => subscriptionId),
    deliveries.map(({ dueAt }) => instantParameter(dueAt)),
  ])
}
