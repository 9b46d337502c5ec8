import type { LaneReason, LaneState } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../../../platform/db/database.ts'
import type { SealedSecret } from '../../../signing-keys/index.ts'
import { ROOM_OF_NEW, type Room } from '../../lanes/lanes.ts'
import type { LaneFacts } from '../../lanes/state.ts'

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
  /** What it is signed with beside the signing key, the newest first; none where its receiver has none. */
  readonly secrets: readonly SealedSecret[]
  /** Its receiver's lane, as it was then. */
  readonly lane: LaneFacts
  /** The one attempt of a degraded lane. */
  readonly isProbe: boolean
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
  /** What the secrets begin with that the process can open. */
  readonly openedHeaders: readonly Buffer[]
  readonly now: number
  readonly leaseEndsAt: number
  /** Of the lanes that the process knows; a new one has {@link ROOM_OF_NEW}. */
  readonly room: readonly Room[]
  readonly maxFirsts: number
  readonly maxRetries: number
}

/** A claim as its row has it. */
export interface ClaimRow extends Omit<Claim, 'lane' | 'secrets'> {
  /** The newest first, with the sealed bytes in Base64. */
  readonly sealedSecrets: readonly { readonly id: string; readonly secret: string }[] | null
  readonly laneVersion: number
  readonly laneState: LaneState
  readonly laneReason: LaneReason | null
  readonly laneFailures: number
  readonly laneFailingSince: number | null
  readonly laneFailedProbes: number
  readonly laneGoodProbes: number
}

/**
 * Which key is current, and what receivers share with us at the time that is parameter 2.
 * @param opened the parameter with what secrets begin with that the process opens
 */
export function signedWith(opened: string): string {
  return `signing AS (SELECT id FROM signing_key WHERE state = 'current'),
   secret AS (
     SELECT subscription_id,
            -- Every claim has it, and the driver reads arrays a letter at a time.
            json_agg(json_build_object('id', id, 'secret', encode(secret, 'base64')) ORDER BY created_at DESC, id DESC) AS sealed,
            bool_and(substring(secret FROM 1 FOR 12) = ANY (${opened}::bytea[])) AS is_opened
       FROM webhook_secret
      WHERE secret IS NOT NULL AND (expires_at IS NULL OR expires_at > $2)
      GROUP BY subscription_id)`
}

/** What is told of a delivery `c` that was claimed, with its notification `n`. */
export const CLAIM_COLUMNS = `c.id, c.claim_id AS "claimId", c.attempts AS attempt,
          c.subscription_id AS "subscriptionId", c.notification_id AS "notificationId", n.body`

/** What it is sent by, of its lane `open`. */
export const LANE_COLUMNS = `open.url, open.sealed AS "sealedSecrets",
          open.state = 'degraded' AS "isProbe", open.version AS "laneVersion", open.state AS "laneState",
          open.reason AS "laneReason", open.failures AS "laneFailures", open.failing_since AS "laneFailingSince",
          open.failed_probes AS "laneFailedProbes", open.good_probes AS "laneGoodProbes"`

/** The parameters that are the same however deliveries are claimed: see {@link claimParameters}. */
export type ClaimParameters = [
  claimId: string,
  now: string,
  leaseEndsAt: string,
  signingKeyId: string,
  openedHeaders: readonly Buffer[],
  known: readonly string[],
  underWay: readonly number[],
  free: readonly number[],
  knownVersions: readonly number[],
  newFree: number,
  maxFirsts: number,
]

/** Parameters 1 to 11 of a statement that claims. */
export function claimParameters({ room, ...bounds }: ClaimBounds): ClaimParameters {
  return [
    bounds.claimId,
    instantParameter(bounds.now),
    instantParameter(bounds.leaseEndsAt),
    bounds.signingKeyId,
    bounds.openedHeaders,
    room.map(({ subscriptionId }) => subscriptionId),
    room.map(({ underWay }) => underWay),
    room.map(({ free }) => free),
    room.map(({ version }) => version),
    ROOM_OF_NEW.free,
    bounds.maxFirsts,
  ]
}

// There are lanes only for who signs with the key that is current in this very statement, and opens what its receiver shares. Plain ones are read; one that is
// probed or drained is locked, so that over all processes there is one probe and one pace: what was held in a pause leaves at
// ten a second at first, and twice as fast with every ten seconds. Every lane offers what it may start; the emptiest are served
// first, so that a backlog or a hanging receiver takes no turn from the others.
const claimDeliveriesStatement = statement<
  [...ClaimParameters, freeForRetries: readonly number[], newFreeForRetries: number, maxRetries: number],
  { signingKeyId: string } & (ClaimRow | { id: null })
>(
  'webhooks.claimDeliveries',
  `WITH ${signedWith('$5')},
   room AS (
     SELECT * FROM unnest($6::uuid[], $7::integer[], $8::integer[], $12::integer[], $9::integer[])
       AS room (id, under_way, free, retries, version)),
   paced AS (
     SELECT l.*
       FROM lane l
       JOIN subscription s ON s.id = l.subscription_id AND s.deleted_at IS NULL
      WHERE NOT l.is_over
        AND ((l.state = 'degraded' AND l.probe_at <= $2) OR (l.state = 'active' AND l.drain_since IS NOT NULL))
        AND EXISTS (SELECT FROM delivery d
                     WHERE d.subscription_id = l.subscription_id AND d.state = 'PENDING'
                       AND least(d.attempts, 1) IN (0, 1) AND d.next_attempt_at <= $2)
        FOR UPDATE OF l SKIP LOCKED),
   ready AS (
     SELECT l.*, NULL::integer AS bound FROM lane l WHERE NOT is_over AND state = 'active' AND drain_since IS NULL
      UNION ALL
     SELECT p.*, CASE WHEN p.state = 'active' THEN floor(144.2695 * (2 ^ t.tens - 1))::integer - p.drained END
       FROM paced p
      CROSS JOIN LATERAL (SELECT least(extract(epoch FROM $2 - p.drain_since) / 10, 20) AS tens) AS t),
   open AS (
     SELECT ready.*, s.url, secret.sealed, coalesce(room.under_way, 0) AS under_way,
            CASE WHEN ready.state = 'degraded' THEN 1
                 WHEN ready.version > coalesce(room.version, 0) THEN least(1, ready.bound)
                 ELSE least(coalesce(room.free, $10::integer), ready.bound) END AS free,
            CASE WHEN ready.state = 'degraded' THEN 1
                 WHEN ready.version > coalesce(room.version, 0) THEN least(1, ready.bound)
                 ELSE least(coalesce(room.retries, $13::integer), ready.bound) END AS retries
       FROM ready
       JOIN subscription s ON s.id = ready.subscription_id AND s.deleted_at IS NULL
       JOIN signing ON signing.id = $4
       LEFT JOIN room ON room.id = ready.subscription_id
       LEFT JOIN secret ON secret.subscription_id = ready.subscription_id
      WHERE (ready.held_until IS NULL OR ready.held_until <= $2) AND coalesce(secret.is_opened, true)),
   offered AS (
     SELECT open.subscription_id, open.under_way, open.free, due.id, due.next_attempt_at AS due_at, kind.tried,
            row_number() OVER (PARTITION BY open.subscription_id ORDER BY due.next_attempt_at, due.id) AS nth
       FROM open
      CROSS JOIN LATERAL (VALUES (0, open.free), (1, open.retries)) AS kind (tried, most)
      CROSS JOIN LATERAL (
        SELECT id, next_attempt_at
          FROM delivery
         WHERE subscription_id = open.subscription_id AND state = 'PENDING' AND least(attempts, 1) = kind.tried
           AND next_attempt_at <= $2
         ORDER BY next_attempt_at
         LIMIT greatest(kind.most, 0)
           FOR UPDATE SKIP LOCKED) AS due),
   turns AS (
     SELECT *, row_number() OVER (PARTITION BY tried ORDER BY under_way + nth, due_at, id) AS turn
       FROM offered
      WHERE nth <= free),
   claimed AS (
     UPDATE delivery d
        SET claim_id = $1, next_attempt_at = $3, attempts = d.attempts + 1
       FROM turns
      WHERE d.id = turns.id AND turns.turn <= CASE turns.tried WHEN 0 THEN $11::integer ELSE $14::integer END
     RETURNING d.id, d.claim_id, d.attempts, d.subscription_id, d.notification_id, turns.due_at),
   kept AS (
     UPDATE lane l
        SET probe_at = CASE WHEN l.state = 'degraded' THEN $3::timestamptz END,
            drained = l.drained + counted.claims,
            drain_since = CASE WHEN l.state = 'degraded' OR counted.is_behind THEN l.drain_since END
       FROM (SELECT p.subscription_id, count(c.id)::integer AS claims,
                    EXISTS (SELECT FROM delivery d
                             WHERE d.subscription_id = p.subscription_id AND d.state = 'PENDING'
                               AND d.next_attempt_at <= p.drain_since) AS is_behind
               FROM paced p
               JOIN claimed c ON c.subscription_id = p.subscription_id
              GROUP BY p.subscription_id, p.drain_since) AS counted
      WHERE l.subscription_id = counted.subscription_id)
   SELECT signing.id AS "signingKeyId", ${CLAIM_COLUMNS}, ${LANE_COLUMNS}
     FROM signing
     LEFT JOIN (claimed c
                JOIN open ON open.subscription_id = c.subscription_id
                JOIN notification n ON n.id = c.notification_id) ON true
    ORDER BY c.due_at`,
)

/**
 * Claims what is due, the oldest of each subscription first. A claim counts as an attempt.
 * @source rules#signing-keys.5, rules#webhook-secrets.4, rules#webhooks.10
 */
export async function claimDeliveries(queries: Queries, bounds: ClaimBounds): Promise<Claimed> {
  const rows = await queries.rows(claimDeliveriesStatement, [
    ...claimParameters(bounds),
    bounds.room.map(({ freeForRetries }) => freeForRetries),
    ROOM_OF_NEW.freeForRetries,
    bounds.maxRetries,
  ])
  const [first] = rows
  if (first === undefined) throw new Error('no signing key is current')
  return { signingKeyId: first.signingKeyId, claims: claimsOf(rows) }
}

/** The claims among the rows of a statement that has a row without one where there is none. */
export function claimsOf(rows: readonly (ClaimRow | { readonly id: null })[]): Claim[] {
  return rows.filter((row) => row.id !== null).map(claimOf)
}

function claimOf({ sealedSecrets, ...ofLane }: ClaimRow): Claim {
  const { laneVersion, laneState, laneReason, laneFailures, laneFailingSince, ...row } = ofLane
  const { laneFailedProbes: failedProbes, laneGoodProbes: goodProbes, ...claim } = row
  const lane = { version: laneVersion, state: laneState, reason: laneReason, failedProbes, goodProbes }
  return {
    ...claim,
    secrets: secretsOf(claim.subscriptionId, sealedSecrets),
    lane: { ...lane, failures: laneFailures, failingSince: laneFailingSince },
  }
}

function secretsOf(subscriptionId: string, sealed: ClaimRow['sealedSecrets']): SealedSecret[] {
  return (sealed ?? []).map(({ id, secret }) => ({ subscriptionId, id, secret: Buffer.from(secret, 'base64') }))
}
