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

const listSubscriptionsStatement = statement<[], Subscription>(
  'webhooks.listSubscriptions',
  `SELECT id, url, events, created_at AS "createdAt"
     FROM subscription
    WHERE deleted_at IS NULL
    ORDER BY created_at, id`,
)

/** The live subscriptions, oldest first. */
export function listSubscriptions(queries: Queries): Promise<Subscription[]> {
  return queries.rows(listSubscriptionsStatement, [])
}

const insertSubscriptionStatement = statement<[string, string, readonly string[], string]>(
  'webhooks.insertSubscription',
  'INSERT INTO subscription (id, url, events, created_at) VALUES ($1, $2, $3, $4)',
)

/** Adds a subscription. */
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

// Both this and recordAttempts lock in the order of the ids, so that they cannot deadlock.
const cancelDeliveriesStatement = statement<[string, string]>(
  'webhooks.cancelDeliveries',
  `WITH pending AS (
     SELECT id FROM delivery WHERE subscription_id = $1 AND state = 'PENDING' ORDER BY id FOR UPDATE)
   UPDATE delivery d
      SET state = 'CANCELLED', next_attempt_at = NULL, claim_id = NULL, finished_at = $2
     FROM pending
    WHERE d.id = pending.id`,
)

/** Cancels what a subscription has not received yet. */
export async function cancelDeliveries(queries: Queries, subscriptionId: string, nowMs: number): Promise<void> {
  await queries.rows(cancelDeliveriesStatement, [subscriptionId, instantParameter(nowMs)])
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

const claimNotificationsStatement = statement<[number], FreshNotification>(
  'webhooks.claimNotifications',
  `SELECT id, event_type AS "eventType", created_at AS "createdAt"
     FROM notification
    WHERE fanned_out_at IS NULL
    ORDER BY created_at, id
    LIMIT $1
      FOR UPDATE SKIP LOCKED`,
)

/** Claims, until the transaction ends, notifications that no process has fanned out, oldest first. */
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

const recordFanOutStatement = statement<
  [readonly string[], string, readonly string[], readonly string[], readonly string[], readonly string[]]
>(
  'webhooks.recordFanOut',
  `WITH marked AS (UPDATE notification SET fanned_out_at = $2 WHERE id = ANY ($1::uuid[]))
   INSERT INTO delivery (id, notification_id, subscription_id, state, next_attempt_at, created_at)
   SELECT id, notification_id, subscription_id, 'PENDING', due_at, $2
     FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::timestamptz[])
       AS added (id, notification_id, subscription_id, due_at)
       ON CONFLICT (notification_id, subscription_id) DO NOTHING`,
)

/** Adds deliveries and marks the notifications as fanned out. */
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

/** A delivery this process may attempt until its lease ends. */
export interface Claim {
  readonly id: string
  readonly claimId: string
  /** From 1. */
  readonly attempt: number
  readonly subscriptionId: string
  readonly url: string
  readonly notificationId: string
  readonly body: Buffer
}

/** What was claimed, and by which key it may be signed. */
export interface Claimed {
  readonly claims: readonly Claim[]
  /** The id of the key that is current. Where the claim named another one, nothing was claimed. */
  readonly signingKeyId: string
}

/** What may be claimed, and how. */
export interface ClaimBounds {
  readonly claimId: string
  /** The key that the process signs with. */
  readonly signingKeyId: string
  readonly now: number
  readonly leaseEndsAt: number
  /** How many attempts this process is making, by subscription. */
  readonly inFlight: ReadonlyMap<string, number>
  readonly maxPerSubscription: number
  readonly max: number
}

// Every lane (subscription) offers what it may start; the emptiest lanes are served first, so that one with a backlog
// or a hanging receiver takes no turn from the others. There are lanes only for who signs with the key that is current in
// this very statement.
const claimDeliveriesStatement = statement<
  [string, string, string, readonly string[], readonly number[], number, number, string],
  { signingKeyId: string } & (Claim | { id: null })
>(
  'webhooks.claimDeliveries',
  `WITH signing AS (SELECT id FROM signing_key WHERE state = 'current'),
   lane AS (
     SELECT s.id, s.url, coalesce(busy.in_flight, 0) AS in_flight
       FROM subscription s
       JOIN signing ON signing.id = $8
       LEFT JOIN unnest($4::uuid[], $5::integer[]) AS busy (id, in_flight) ON busy.id = s.id
      WHERE s.deleted_at IS NULL),
   due AS (
     SELECT offered.id, lane.url, offered.next_attempt_at AS due_at,
            lane.in_flight + row_number() OVER (PARTITION BY lane.id ORDER BY offered.next_attempt_at) AS turn
       FROM lane
      CROSS JOIN LATERAL (
        SELECT id, next_attempt_at
          FROM delivery
         WHERE subscription_id = lane.id AND state = 'PENDING' AND next_attempt_at <= $2
         ORDER BY next_attempt_at
         LIMIT $6 - lane.in_flight
           FOR UPDATE SKIP LOCKED) AS offered),
   chosen AS (SELECT * FROM due ORDER BY turn, due_at LIMIT $7),
   claimed AS (
     UPDATE delivery d
        SET claim_id = $1, next_attempt_at = $3, attempts = d.attempts + 1
       FROM chosen
      WHERE d.id = chosen.id
     RETURNING d.id, d.claim_id, d.attempts, d.subscription_id, d.notification_id, chosen.url, chosen.due_at)
   SELECT signing.id AS "signingKeyId", c.id, c.claim_id AS "claimId", c.attempts AS attempt,
          c.subscription_id AS "subscriptionId", c.url, c.notification_id AS "notificationId", n.body
     FROM signing
     LEFT JOIN (claimed c JOIN notification n ON n.id = c.notification_id) ON true
    ORDER BY c.due_at`,
)

/**
 * Claims what is due, the oldest of each subscription first. A claim counts as an attempt.
 * @source rules#signing-keys.5
 */
export async function claimDeliveries(queries: Queries, bounds: ClaimBounds): Promise<Claimed> {
  const rows = await queries.rows(claimDeliveriesStatement, [
    bounds.claimId,
    instantParameter(bounds.now),
    instantParameter(bounds.leaseEndsAt),
    [...bounds.inFlight.keys()],
    [...bounds.inFlight.values()],
    bounds.maxPerSubscription,
    bounds.max,
    bounds.signingKeyId,
  ])
  const [first] = rows
  if (first === undefined) throw new Error('no signing key is current')
  return { signingKeyId: first.signingKeyId, claims: rows.filter((row) => row.id !== null) }
}

/** An attempt that ended, and what becomes of its delivery. */
export interface EndedAttempt {
  readonly deliveryId: string
  readonly claimId: string
  readonly attempt: number
  readonly outcome: string
  /** Of the system or of TLS, where there was no answer; for the log. */
  readonly code: string | undefined
  readonly statusCode: number | null
  readonly startedAt: number
  readonly endedAt: number
  readonly state: 'PENDING' | 'DELIVERED' | 'FAILED'
  readonly nextAttemptAt: number | null
}

const recordAttemptsStatement = statement<
  [
    readonly string[],
    readonly string[],
    readonly number[],
    readonly string[],
    readonly (number | null)[],
    readonly string[],
    readonly string[],
    readonly string[],
    readonly (string | null)[],
  ]
>(
  'webhooks.recordAttempts',
  `WITH ended AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::integer[], $6::timestamptz[],
                          $7::timestamptz[], $8::text[], $9::timestamptz[])
       AS ended (id, claim_id, attempt, outcome, status_code, started_at, ended_at, state, next_attempt_at)),
   recorded AS (
     INSERT INTO delivery_attempt (delivery_id, attempt, outcome, status_code, started_at, ended_at)
     SELECT id, attempt, outcome, status_code, started_at, ended_at FROM ended
         ON CONFLICT DO NOTHING),
   ours AS (
     SELECT d.id
       FROM delivery d
       JOIN ended ON ended.id = d.id AND ended.claim_id = d.claim_id
      ORDER BY d.id
        FOR UPDATE OF d)
   UPDATE delivery d
      SET state = ended.state, next_attempt_at = ended.next_attempt_at, claim_id = NULL, last_outcome = ended.outcome,
          finished_at = CASE WHEN ended.state <> 'PENDING' THEN ended.ended_at END
     FROM ours
     JOIN ended ON ended.id = ours.id
    WHERE d.id = ours.id`,
)

/**
 * Records attempts. A delivery that was cancelled or claimed by another process meanwhile stays as it is; the attempt is
 * kept all the same.
 */
export async function recordAttempts(queries: Queries, ended: readonly EndedAttempt[]): Promise<void> {
  await queries.rows(recordAttemptsStatement, [
    ended.map(({ deliveryId }) => deliveryId),
    ended.map(({ claimId }) => claimId),
    ended.map(({ attempt }) => attempt),
    ended.map(({ outcome }) => outcome),
    ended.map(({ statusCode }) => statusCode),
    ended.map(({ startedAt }) => instantParameter(startedAt)),
    ended.map(({ endedAt }) => instantParameter(endedAt)),
    ended.map(({ state }) => state),
    ended.map(({ nextAttemptAt }) => (nextAttemptAt === null ? null : instantParameter(nextAttemptAt))),
  ])
}
