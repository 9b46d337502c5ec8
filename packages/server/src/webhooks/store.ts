import type { EventType } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'

/** All SQL of receivers. */

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
