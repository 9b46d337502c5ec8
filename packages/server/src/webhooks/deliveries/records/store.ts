import type { AttemptOutcome, LaneReason, LaneState } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../../../platform/db/database.ts'
import type { TimeSplit } from '../../../platform/http-client/request-times.ts'
import type { LaneMove } from '../../lanes/state.ts'

/** An attempt that ended, and what becomes of its delivery and its lane. */
export interface EndedAttempt {
  readonly deliveryId: string
  readonly claimId: string
  readonly subscriptionId: string
  readonly attempt: number
  readonly outcome: AttemptOutcome
  /** Of the system or of TLS, where there was no answer. */
  readonly code: string | undefined
  readonly statusCode: number | null
  /** How the answer began. */
  readonly excerpt: string | null
  readonly times: TimeSplit
  readonly startedAt: number
  readonly endedAt: number
  readonly state: 'PENDING' | 'DELIVERED' | 'FAILED'
  readonly nextAttemptAt: number | null
  /** The receiver asked to be left alone until then, epoch milliseconds. */
  readonly heldUntil: number | null
  /** Another state of the lane, and the version of that it was claimed in. */
  readonly move: (LaneMove & { readonly version: number }) | null
}

/** What attempts make of their lane, as the statement takes it. */
interface LaneChange {
  readonly subscription_id: string
  /** Whether one was taken: failures before it no longer count. */
  readonly is_taken: boolean
  /** After the last that was taken, and when the first of them ended. */
  readonly failures: number
  readonly failing_since: string | null
  readonly held_until: string | null
  /** The version that is moved; null where none is. */
  readonly version: number | null
  readonly state: string | null
  readonly reason: string | null
  readonly failed_probes: number | null
  readonly good_probes: number | null
  readonly probe_at: string | null
  readonly moved_at: string | null
}

/** A lane that has another state since. */
export interface MovedLane {
  readonly subscriptionId: string
  readonly url: string
  readonly state: LaneState
  readonly reason: LaneReason | null
}

const recordAttemptsStatement = statement<
  [
    readonly string[],
    readonly string[],
    readonly number[],
    readonly string[],
    readonly (number | null)[],
    readonly number[],
    readonly number[],
    readonly string[],
    readonly (number | null)[],
    lanes: string,
    subscriptionIds: readonly string[],
    codes: readonly (string | null)[],
    excerpts: readonly (string | null)[],
    dnsMs: readonly (number | null)[],
    connectMs: readonly (number | null)[],
    tlsMs: readonly (number | null)[],
    waitMs: readonly (number | null)[],
    totalMs: readonly number[],
  ],
  MovedLane
>(
  'webhooks.recordAttempts',
  `WITH ended AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::integer[], $6::timestamptz[],
                          $7::timestamptz[], $8::text[], $9::timestamptz[], $11::uuid[], $12::text[], $13::text[],
                          $14::integer[], $15::integer[], $16::integer[], $17::integer[], $18::integer[])
       AS ended (id, claim_id, attempt, outcome, status_code, started_at, ended_at, state, next_attempt_at, subscription_id,
                 code, excerpt, dns_ms, connect_ms, tls_ms, wait_ms, total_ms)),
   recorded AS (
     INSERT INTO delivery_attempt (delivery_id, attempt, outcome, status_code, started_at, ended_at, subscription_id, code,
                                   excerpt, dns_ms, connect_ms, tls_ms, wait_ms, total_ms)
     SELECT id, attempt, outcome, status_code, started_at, ended_at, subscription_id, code, excerpt, dns_ms, connect_ms,
            tls_ms, wait_ms, total_ms
       FROM ended
         ON CONFLICT DO NOTHING),
   told AS (
     SELECT * FROM jsonb_to_recordset($10::jsonb)
       AS told (subscription_id uuid, is_taken boolean, failures integer, failing_since timestamptz, held_until timestamptz,
                version integer, state text, reason text, failed_probes integer, good_probes integer, probe_at timestamptz,
                moved_at timestamptz)),
   theirs AS (
     SELECT told.*, coalesce(told.version = l.version, false) AS moves, l.state AS state_before
       FROM lane l
       JOIN told USING (subscription_id)
      WHERE told.failures > 0 OR told.version IS NOT NULL OR told.held_until IS NOT NULL OR l.failures > 0
      ORDER BY l.subscription_id
        FOR UPDATE OF l),
   kept AS (
     UPDATE lane l
        SET failures = CASE WHEN t.is_taken THEN 0 ELSE l.failures END + t.failures,
            failing_since = CASE WHEN t.is_taken THEN t.failing_since ELSE coalesce(l.failing_since, t.failing_since) END,
            held_until = greatest(l.held_until, t.held_until),
            version = CASE WHEN t.moves THEN l.version + 1 ELSE l.version END,
            state = CASE WHEN t.moves THEN t.state ELSE l.state END,
            reason = CASE WHEN t.moves THEN t.reason ELSE l.reason END,
            since = CASE WHEN t.moves AND t.state <> l.state THEN t.moved_at ELSE l.since END,
            failed_probes = CASE WHEN t.moves THEN t.failed_probes ELSE l.failed_probes END,
            good_probes = CASE WHEN t.moves THEN t.good_probes ELSE l.good_probes END,
            probe_at = CASE WHEN t.moves THEN t.probe_at ELSE l.probe_at END,
            drain_since = CASE WHEN t.moves AND t.state = 'active' AND (l.reason = 'resumed' OR l.drain_since IS NOT NULL)
                               THEN t.moved_at ELSE l.drain_since END,
            drained = CASE WHEN t.moves THEN 0 ELSE l.drained END
       FROM theirs t
      WHERE l.subscription_id = t.subscription_id
     RETURNING l.subscription_id, l.state, l.reason, t.moves AND t.state <> t.state_before AS is_moved),
   -- With what becomes of each: joined once more, each was held against each other one, as the planner knows no sizes.
   ours AS (
     SELECT ended.*
       FROM delivery d
       JOIN ended ON ended.id = d.id AND ended.claim_id = d.claim_id
      ORDER BY d.id
        FOR UPDATE OF d),
   done AS (
     UPDATE delivery d
        SET state = ours.state, next_attempt_at = ours.next_attempt_at, claim_id = NULL, last_outcome = ours.outcome,
            finished_at = CASE WHEN ours.state <> 'PENDING' THEN ours.ended_at END
       FROM ours
      WHERE d.id = ours.id)
   SELECT kept.subscription_id AS "subscriptionId", kept.state, kept.reason, s.url
     FROM kept
     JOIN subscription s ON s.id = kept.subscription_id
    WHERE kept.is_moved`,
)

/**
 * Records attempts, each with its times and how it was answered, and what they tell of their receivers. A delivery that was cancelled or claimed by another process
 * meanwhile stays as it is, and so does the state of a lane that has moved; the attempt is kept all the same.
 * @returns the lanes that it moved
 * @source rules#webhooks.13, rules#webhooks.17
 */
export function recordAttempts(queries: Queries, ended: readonly EndedAttempt[]): Promise<MovedLane[]> {
  return queries.rows(recordAttemptsStatement, [
    ended.map(({ deliveryId }) => deliveryId),
    ended.map(({ claimId }) => claimId),
    ended.map(({ attempt }) => attempt),
    ended.map(({ outcome }) => outcome),
    ended.map(({ statusCode }) => statusCode),
    ended.map(({ startedAt }) => startedAt),
    ended.map(({ endedAt }) => endedAt),
    ended.map(({ state }) => state),
    ended.map(({ nextAttemptAt }) => nextAttemptAt),
    JSON.stringify([...Map.groupBy(ended, ({ subscriptionId }) => subscriptionId).values()].map(laneChange)),
    ...attemptColumns(ended),
  ])
}

/** Of each attempt: whose it is, why it failed, how it was answered, and its times. */
function attemptColumns(ended: readonly EndedAttempt[]) {
  return [
    ended.map(({ subscriptionId }) => subscriptionId),
    ended.map(({ code }) => code ?? null),
    ended.map(({ excerpt }) => excerpt),
    ended.map(({ times }) => times.dnsMs),
    ended.map(({ times }) => times.connectMs),
    ended.map(({ times }) => times.tlsMs),
    ended.map(({ times }) => times.waitMs),
    ended.map(({ times }) => times.totalMs),
  ] as const
}

/** @param ended of one receiver, in the order in which they ended */
function laneChange(ended: readonly EndedAttempt[]): LaneChange {
  const lastTaken = ended.findLastIndex(({ state }) => state === 'DELIVERED')
  const failed = ended.slice(lastTaken + 1)
  const allMoves = ended.flatMap(({ move, endedAt }) => (move === null ? [] : [{ ...move, at: endedAt }]))
  const newest = Math.max(...allMoves.map(({ version }) => version))
  const moves = allMoves.filter(({ version }) => version === newest)
  // What pauses a receiver is not undone by what its other attempts would have made of it.
  const move = moves.find(({ state }) => state === 'paused') ?? moves.at(-1)
  const heldUntil = Math.max(...ended.map(({ heldUntil }) => heldUntil ?? 0))
  return {
    subscription_id: (ended[0] as EndedAttempt).subscriptionId,
    is_taken: lastTaken >= 0,
    failures: failed.length,
    failing_since: instantOrNull(failed[0]?.endedAt ?? null),
    held_until: heldUntil === 0 ? null : instantParameter(heldUntil),
    version: move?.version ?? null,
    state: move?.state ?? null,
    reason: move?.reason ?? null,
    failed_probes: move?.failedProbes ?? null,
    good_probes: move?.goodProbes ?? null,
    probe_at: instantOrNull(move?.probeAt ?? null),
    moved_at: instantOrNull(move?.at ?? null),
  }
}

function instantOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : instantParameter(epochMs)
}
