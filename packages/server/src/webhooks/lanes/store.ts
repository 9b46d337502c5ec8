import type { LaneReason, LaneState } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../../platform/db/database.ts'
import type { Subscription } from '../store.ts'

/** How notifications reach a receiver. */
export interface Lane {
  readonly state: LaneState
  readonly reason: LaneReason | null
  readonly since: number
  readonly failures: number
  readonly failingSince: number | null
  readonly probeAt: number | null
  readonly heldUntil: number | null
  /** Deliveries that are not done; no more than 10,000 are counted. */
  readonly pending: number
  /** Deliveries that wait to be sent again; no more than 10,000 are counted. */
  readonly replaying: number
  /** When the oldest of their notifications was made. */
  readonly oldestPendingAt: number | null
  /** When the first of them is due. */
  readonly nextAttemptAt: number | null
  /** The last attempts of a day, and how many of them succeeded; no more than 1,000 are counted. */
  readonly recentAttempts: number
  readonly recentSuccesses: number
  /** How long they took: half of them, and 19 of 20, no longer than this. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** A receiver with its lane. */
export type SubscriptionWithLane = Subscription & Lane

const COUNTED_MAX = 10_000

/** What is counted as lately. @source rules#webhooks.19 */
const RECENT_MS = 24 * 60 * 60 * 1_000

// What is due first was, but for its retries, made first: the oldest is looked for among those.
const selectLaneStatement = statement<[string, number, recentSince: string], SubscriptionWithLane>(
  'webhooks.selectLane',
  `SELECT s.id, s.url, s.events, s.created_at AS "createdAt", l.state, l.reason, l.since, l.failures,
          l.failing_since AS "failingSince", l.probe_at AS "probeAt", l.held_until AS "heldUntil",
          counted.pending, again.replaying, first.oldest AS "oldestPendingAt", first.due AS "nextAttemptAt", recent.*
     FROM subscription s
     JOIN lane l ON l.subscription_id = s.id
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS pending
        FROM (SELECT FROM delivery
               WHERE state = 'PENDING' AND subscription_id = s.id AND next_attempt_at IS NOT NULL LIMIT $2) AS waiting) AS counted
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS replaying
        FROM (SELECT FROM replay_delivery
               WHERE state = 'WAITING' AND subscription_id = s.id LIMIT $2) AS waiting) AS again
    CROSS JOIN LATERAL (
      SELECT min(d.due) AS due, min(n.created_at) AS oldest
        FROM (VALUES (0), (1)) AS tried (once)
       CROSS JOIN LATERAL (
         SELECT notification_id, next_attempt_at AS due
           FROM delivery
          WHERE state = 'PENDING' AND subscription_id = s.id AND least(attempts, 1) = tried.once
            AND next_attempt_at IS NOT NULL
          ORDER BY next_attempt_at
          LIMIT 100) AS d
        JOIN notification n ON n.id = d.notification_id) AS first
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS "recentAttempts",
             (count(*) FILTER (WHERE outcome = 'delivered'))::integer AS "recentSuccesses",
             percentile_disc(0.5) WITHIN GROUP (ORDER BY total_ms) AS "p50Ms",
             percentile_disc(0.95) WITHIN GROUP (ORDER BY total_ms) AS "p95Ms"
        FROM (SELECT outcome, total_ms FROM delivery_attempt
               WHERE subscription_id = s.id AND ended_at >= $3 AND replay_id IS NULL
               ORDER BY ended_at DESC LIMIT 1000) AS made) AS recent
    WHERE s.id = $1 AND s.deleted_at IS NULL`,
)

/** A live receiver with its lane; undefined where there is none. @source rules#webhooks.15, rules#webhooks.19 */
export async function selectLane(
  queries: Queries,
  subscriptionId: string,
  nowMs: number,
): Promise<SubscriptionWithLane | undefined> {
  const recentSince = instantParameter(nowMs - RECENT_MS)
  return (await queries.rows(selectLaneStatement, [subscriptionId, COUNTED_MAX, recentSince]))[0]
}

const pauseLaneStatement = statement<[string, string], { id: string }>(
  'webhooks.pauseLane',
  `UPDATE lane
      SET state = 'paused', reason = 'requested', since = $2, version = version + 1, failed_probes = 0, good_probes = 0,
          probe_at = NULL
    WHERE subscription_id = $1 AND state <> 'paused'
   RETURNING subscription_id AS id`,
)

/** Pauses a lane. @returns whether it was not paused */
export async function pauseLane(queries: Queries, subscriptionId: string, nowMs: number): Promise<boolean> {
  return (await queries.rows(pauseLaneStatement, [subscriptionId, instantParameter(nowMs)])).length > 0
}

const resumeLaneStatement = statement<[string, string], { id: string }>(
  'webhooks.resumeLane',
  `UPDATE lane
      SET state = 'degraded', reason = 'resumed', since = $2, version = version + 1, failed_probes = 0, good_probes = 0,
          probe_at = $2, held_until = NULL, failures = 0, failing_since = NULL
    WHERE subscription_id = $1 AND state = 'paused'
   RETURNING subscription_id AS id`,
)

/** Lets a paused lane be probed; its days of failing begin anew. @returns whether it was paused */
export async function resumeLane(queries: Queries, subscriptionId: string, nowMs: number): Promise<boolean> {
  return (await queries.rows(resumeLaneStatement, [subscriptionId, instantParameter(nowMs)])).length > 0
}
