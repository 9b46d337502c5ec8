import type { AttemptOutcome } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../../../platform/db/database.ts'
import type { TimeSplit } from '../../../platform/http-client/request-times.ts'
import { ROOM_OF_NEW, type Room } from '../../lanes/lanes.ts'

/** A delivery of a replay that this process may attempt until its lease ends. */
export interface ReplayClaim {
  readonly replayId: string
  readonly id: string
  readonly claimId: string
  /** Of the delivery, over all. */
  readonly attempt: number
  /** Of the replay, from 1. */
  readonly replayAttempt: number
  readonly subscriptionId: string
  readonly url: string
  readonly notificationId: string
  readonly body: Buffer
  /** Of its lane, as it was then. */
  readonly laneVersion: number
}

/** What was claimed, and by which key it may be signed. */
export interface ClaimedReplays {
  readonly claims: readonly ReplayClaim[]
  /** The id of the key that is current. Where the claim named another one, nothing was claimed. */
  readonly signingKeyId: string
}

/** What may be claimed, and how. */
export interface ReplayBounds {
  readonly claimId: string
  /** The key that the process signs with. */
  readonly signingKeyId: string
  readonly now: number
  readonly leaseEndsAt: number
  /** What the secrets begin with that the process can open. */
  readonly openedHeaders: readonly Buffer[]
  /** Of the lanes that the process knows. */
  readonly room: readonly Room[]
  readonly max: number
}

// Only from a lane that is well and has nothing due by itself: a replay is behind what is live and what was held, and
// no probe. And only what the process can sign with all that its receiver shares.
const claimReplaysStatement = statement<
  [
    claimId: string,
    now: string,
    leaseEndsAt: string,
    signingKeyId: string,
    known: readonly string[],
    free: readonly number[],
    versions: readonly number[],
    newFree: number,
    max: number,
    openedHeaders: readonly Buffer[],
  ],
  { signingKeyId: string } & (ReplayClaim | { id: null })
>(
  'webhooks.claimReplays',
  `WITH signing AS (SELECT id FROM signing_key WHERE state = 'current'),
   room AS (SELECT * FROM unnest($5::uuid[], $6::integer[], $7::integer[]) AS room (id, free, version)),
   open AS (
     SELECT l.subscription_id, l.version, s.url,
            CASE WHEN l.version > coalesce(room.version, 0) THEN 1 ELSE coalesce(room.free, $8::integer) END AS free
       FROM lane l
       JOIN subscription s ON s.id = l.subscription_id AND s.deleted_at IS NULL
       JOIN signing ON signing.id = $4
       LEFT JOIN room ON room.id = l.subscription_id
      WHERE NOT l.is_over AND l.state = 'active'
        AND (l.held_until IS NULL OR l.held_until <= $2)
        AND NOT EXISTS (SELECT FROM webhook_secret w
                         WHERE w.subscription_id = l.subscription_id AND w.secret IS NOT NULL
                           AND (w.expires_at IS NULL OR w.expires_at > $2)
                           AND substring(w.secret FROM 1 FOR 12) <> ALL ($10::bytea[]))
        AND NOT EXISTS (SELECT FROM delivery d
                         WHERE d.subscription_id = l.subscription_id AND d.state = 'PENDING'
                           AND least(d.attempts, 1) IN (0, 1) AND d.next_attempt_at <= $2)),
   offered AS (
     SELECT due.*, open.url, open.version, row_number() OVER (PARTITION BY open.subscription_id ORDER BY due.due_at) AS nth
       FROM open
      CROSS JOIN LATERAL (
        SELECT r.replay_id, r.delivery_id, r.due_at, n.id AS notification_id, n.body
          FROM replay_delivery r
          JOIN delivery d ON d.id = r.delivery_id
          JOIN notification n ON n.id = d.notification_id AND n.erased_at IS NULL
         WHERE r.subscription_id = open.subscription_id AND r.state = 'WAITING' AND r.due_at <= $2
         ORDER BY r.due_at
         LIMIT greatest(open.free, 0)
           FOR UPDATE OF r SKIP LOCKED) AS due),
   turns AS (SELECT *, row_number() OVER (ORDER BY nth, due_at) AS turn FROM offered),
   claimed AS (
     UPDATE replay_delivery r
        SET claim_id = $1, due_at = $3, attempts = r.attempts + 1
       FROM turns
      WHERE r.replay_id = turns.replay_id AND r.delivery_id = turns.delivery_id AND turns.turn <= $9
     RETURNING r.replay_id, r.delivery_id, r.subscription_id, r.attempts, r.claim_id, turns.notification_id, turns.body,
               turns.url, turns.version, turns.turn),
   counted AS (
     UPDATE delivery d SET attempts = d.attempts + 1 FROM claimed WHERE d.id = claimed.delivery_id
     RETURNING d.id, d.attempts)
   SELECT signing.id AS "signingKeyId", c.delivery_id AS id, c.replay_id AS "replayId", c.claim_id AS "claimId",
          counted.attempts AS attempt, c.attempts AS "replayAttempt", c.subscription_id AS "subscriptionId", c.url,
          c.notification_id AS "notificationId", c.body, c.version AS "laneVersion"
     FROM signing
     LEFT JOIN (claimed c JOIN counted ON counted.id = c.delivery_id) ON true
    ORDER BY c.turn`,
)

/**
 * Claims what of replays is due and may start now.
 * @source rules#signing-keys.5, rules#webhooks.23, rules#webhook-secrets.4
 */
export async function claimReplays(queries: Queries, bounds: ReplayBounds): Promise<ClaimedReplays> {
  const { room } = bounds
  const rows = await queries.rows(claimReplaysStatement, [
    bounds.claimId,
    instantParameter(bounds.now),
    instantParameter(bounds.leaseEndsAt),
    bounds.signingKeyId,
    room.map(({ subscriptionId }) => subscriptionId),
    room.map(({ freeForReplays }) => freeForReplays),
    room.map(({ version }) => version),
    ROOM_OF_NEW.freeForReplays,
    bounds.max,
    bounds.openedHeaders,
  ])
  const [first] = rows
  if (first === undefined) throw new Error('no signing key is current')
  return { signingKeyId: first.signingKeyId, claims: rows.filter((row) => row.id !== null) }
}

/** An attempt of a replay that ended, and what becomes of it. */
export interface EndedReplay {
  readonly claim: ReplayClaim
  readonly outcome: AttemptOutcome
  /** Of the system or of TLS, where there was no answer. */
  readonly code: string | null
  readonly statusCode: number | null
  readonly excerpt: string | null
  readonly times: TimeSplit
  readonly startedAt: number
  readonly endedAt: number
  readonly state: 'WAITING' | 'DELIVERED' | 'FAILED'
  readonly dueAt: number | null
  /** Until when the receiver asks to be left alone, if it does. */
  readonly heldUntil: number | null
}

// What was called off meanwhile is not tried again, but whether it was taken counts. What failed and is taken now is delivered; what was delivered once stays so, whatever becomes of it again. Of the lane only the
// time is kept that its receiver asks for.
const recordReplaysStatement = statement<[ended: string], never>(
  'webhooks.recordReplays',
  `WITH ended AS (
     SELECT * FROM jsonb_to_recordset($1::jsonb)
       AS ended (replay_id uuid, delivery_id uuid, claim_id uuid, subscription_id uuid, attempt integer, outcome text,
                 code text, status_code integer, excerpt text, dns_ms integer, connect_ms integer, tls_ms integer,
                 wait_ms integer, total_ms integer, started_at timestamptz, ended_at timestamptz, state text,
                 due_at timestamptz, held_until timestamptz)),
   recorded AS (
     INSERT INTO delivery_attempt (delivery_id, attempt, outcome, status_code, started_at, ended_at, subscription_id, code,
                                   excerpt, dns_ms, connect_ms, tls_ms, wait_ms, total_ms, replay_id)
     SELECT delivery_id, attempt, outcome, status_code, started_at, ended_at, subscription_id, code, excerpt, dns_ms,
            connect_ms, tls_ms, wait_ms, total_ms, replay_id
       FROM ended
         ON CONFLICT DO NOTHING),
   asking AS (
     SELECT l.subscription_id, asked.until
       FROM lane l
       JOIN (SELECT subscription_id, max(held_until) AS until FROM ended WHERE held_until IS NOT NULL GROUP BY 1) AS asked
            USING (subscription_id)
      ORDER BY l.subscription_id
        FOR UPDATE OF l),
   held AS (
     UPDATE lane l SET held_until = greatest(l.held_until, asking.until)
       FROM asking
      WHERE l.subscription_id = asking.subscription_id),
   ours AS (
     SELECT r.replay_id, r.delivery_id, ended.due_at, ended.outcome, ended.ended_at,
            CASE WHEN r.state = 'CANCELLED' AND ended.state = 'WAITING' THEN r.state ELSE ended.state END AS state
       FROM replay_delivery r
       JOIN ended ON ended.replay_id = r.replay_id AND ended.delivery_id = r.delivery_id AND ended.claim_id = r.claim_id
      WHERE r.state IN ('WAITING', 'CANCELLED')
      ORDER BY r.replay_id, r.delivery_id
        FOR UPDATE OF r),
   done AS (
     UPDATE replay_delivery r
        SET state = ours.state, due_at = CASE WHEN ours.state = 'WAITING' THEN ours.due_at END, claim_id = NULL,
            finished_at = CASE WHEN ours.state <> 'WAITING' THEN ours.ended_at END
       FROM ours
      WHERE r.replay_id = ours.replay_id AND r.delivery_id = ours.delivery_id
     RETURNING ours.delivery_id, ours.state, ours.outcome, ours.ended_at)
   UPDATE delivery d
      SET state = done.state, last_outcome = done.outcome, finished_at = done.ended_at
     FROM done
    WHERE d.id = done.delivery_id
      AND ((d.state = 'FAILED' AND done.state = 'DELIVERED')
           OR (d.state = 'PENDING' AND d.next_attempt_at IS NULL AND done.state <> 'WAITING'))`,
)

/**
 * Records attempts of replays. What was ended meanwhile, or claimed by another process, stays as it is; the attempt is kept all
 * the same.
 * @source rules#webhooks.17, rules#webhooks.23, rules#webhooks.26
 */
export async function recordReplays(queries: Queries, ended: readonly EndedReplay[]): Promise<void> {
  await queries.rows(recordReplaysStatement, [JSON.stringify(ended.map(rowOf))])
}

function rowOf({ claim, times, startedAt, endedAt, dueAt, heldUntil, ...ended }: EndedReplay) {
  return {
    replay_id: claim.replayId,
    delivery_id: claim.id,
    claim_id: claim.claimId,
    subscription_id: claim.subscriptionId,
    attempt: claim.attempt,
    outcome: ended.outcome,
    code: ended.code,
    status_code: ended.statusCode,
    excerpt: ended.excerpt,
    dns_ms: times.dnsMs,
    connect_ms: times.connectMs,
    tls_ms: times.tlsMs,
    wait_ms: times.waitMs,
    total_ms: times.totalMs,
    started_at: instantParameter(startedAt),
    ended_at: instantParameter(endedAt),
    state: ended.state,
    due_at: dueAt === null ? null : instantParameter(dueAt),
    held_until: heldUntil === null ? null : instantParameter(heldUntil),
  }
}
