import { instantParameter, type Queries, statement } from '../../../platform/db/database.ts'
import {
  CLAIM_COLUMNS,
  type Claim,
  type ClaimBounds,
  type Claimed,
  type ClaimParameters,
  type ClaimRow,
  claimParameters,
  claimsOf,
  LANE_COLUMNS,
  signedWith,
} from '../claims/store.ts'

/** What was fanned out. */
export interface FannedOut extends Claimed {
  /** How many notifications. */
  readonly notifications: number
  /** How many of their deliveries wait to be claimed. */
  readonly waiting: number
}

/** What was fanned out, in each row; with a delivery that was claimed as it was made. */
type FannedOutRow = {
  readonly notifications: number
  readonly waiting: number
  /** Another process holds what it takes; nothing was done. */
  readonly isHeld: boolean
} & (ClaimRow | { readonly id: null })

type FanOutParameters = [...ClaimParameters, max: number, deliveryIds: string]

/**
 * Whoever finds that another process has the oldest notifications waits for it, so that of two the older one, and so the first of two
 * of one operation, never has the later place in the feed: the engine makes the second of them the younger one, whatever the clocks
 * of two processes say. Notifications are locked before the feed by all who wait for both. A receiver that is being removed is waited for, and one that is fanned out to is removed
 * afterwards (FOR SHARE).
 *
 * What may be sent at once is claimed as it is made: the row is written once less, and no other statement looks for it. That is in
 * a lane that nothing holds up and in which nothing due waits, as far as it has room; everything else waits for its turn.
 *
 * @param ifHeld what is done where another process holds one of these rows. Who waits for nobody locks the feed first, so that of two
 *   one has all and the other nothing; it is as quick as a claim, and sees of lanes, secrets and keys what a claim sees.
 */
function fanOutText(ifHeld: 'nothing' | 'wait'): string {
  const waits = ifHeld === 'wait'
  const orSkip = waits ? '' : ' SKIP LOCKED'
  const before = `
   seen AS (SELECT id FROM notification WHERE fanned_out_at IS NULL ORDER BY created_at, id LIMIT $12),
   held_feed AS (SELECT FROM feed WHERE EXISTS (SELECT FROM seen) FOR UPDATE SKIP LOCKED),`
  const hasAll = `
     SELECT NOT EXISTS (SELECT id FROM seen EXCEPT SELECT id FROM fresh)
            AND (NOT EXISTS (SELECT FROM seen)
                 OR NOT EXISTS (SELECT id FROM subscription WHERE deleted_at IS NULL EXCEPT SELECT id FROM receiver)) AS yes`
  return `WITH ${signedWith('$5')},${waits ? '' : before}
   fresh AS (
     SELECT id, event_type, created_at, body FROM notification
      WHERE fanned_out_at IS NULL${waits ? '' : ' AND EXISTS (SELECT FROM held_feed)'}
      ORDER BY created_at, id
      LIMIT $12
        FOR UPDATE${orSkip}),
   receiver AS (
     SELECT id, url, events, created_at FROM subscription
      WHERE deleted_at IS NULL AND EXISTS (SELECT FROM fresh)
        FOR SHARE${orSkip}),
   go AS (${waits ? 'SELECT true AS yes' : hasAll}),
   numbered AS (
     SELECT id, event_type, created_at, row_number() OVER (ORDER BY created_at, id) AS nth
       FROM fresh
      WHERE (SELECT yes FROM go)),
   placed AS (
     UPDATE feed
        SET last_position = last_position + counted.fresh
       FROM (SELECT count(*) AS fresh FROM numbered) AS counted
      WHERE counted.fresh > 0
     RETURNING last_position - counted.fresh AS before),
   marked AS (
     UPDATE notification n
        SET fanned_out_at = $2, position = (SELECT before FROM placed) + numbered.nth
       FROM numbered
      WHERE n.id = numbered.id),
   room AS (
     SELECT * FROM unnest($6::uuid[], $7::integer[], $8::integer[], $9::integer[]) AS room (id, under_way, free, version)),
   open AS (
     SELECT l.*, r.url, secret.sealed, coalesce(room.under_way, 0) AS under_way,
            CASE WHEN l.version > coalesce(room.version, 0) THEN 1 ELSE coalesce(room.free, $10::integer) END AS free
       FROM lane l
       JOIN receiver r ON r.id = l.subscription_id
       JOIN signing ON signing.id = $4
       LEFT JOIN room ON room.id = l.subscription_id
       LEFT JOIN secret ON secret.subscription_id = l.subscription_id
      WHERE l.state = 'active' AND l.drain_since IS NULL AND NOT l.is_over AND (l.held_until IS NULL OR l.held_until <= $2)
        AND coalesce(secret.is_opened, true)
        -- Looked up for each lane, never joined: that would read the backlogs of all of them.
        AND (SELECT true FROM delivery d
              WHERE d.subscription_id = l.subscription_id AND d.state = 'PENDING' AND least(d.attempts, 1) = 0
                AND d.next_attempt_at <= $2
              LIMIT 1) IS NULL),
   added AS (
     SELECT (left($13::text, 24) || lpad(to_hex(row_number() OVER (ORDER BY n.nth, r.id)), 4, '0')
              || left(gen_random_uuid()::text, 8))::uuid AS id,
            n.id AS notification_id, r.id AS subscription_id, least(n.created_at, $2) AS due_at, open.under_way,
            row_number() OVER (PARTITION BY r.id ORDER BY n.nth) AS nth,
            row_number() OVER (PARTITION BY r.id ORDER BY n.nth) <= coalesce(open.free, 0) AS fits
       FROM numbered n
       JOIN receiver r ON r.created_at <= n.created_at AND n.event_type = ANY (r.events)
       LEFT JOIN open ON open.subscription_id = r.id),
   turns AS (
     SELECT *, fits AND row_number() OVER (PARTITION BY fits ORDER BY under_way + nth, due_at, id) <= $11 AS starts
       FROM added),
   made AS (
     INSERT INTO delivery (id, notification_id, subscription_id, state, created_at, next_attempt_at, attempts, claim_id)
     SELECT id, notification_id, subscription_id, 'PENDING', $2, CASE WHEN starts THEN $3 ELSE due_at END,
            starts::integer, CASE WHEN starts THEN $1::uuid END
       FROM turns
         ON CONFLICT (notification_id, subscription_id) DO NOTHING
     RETURNING id, notification_id, subscription_id, attempts, claim_id)
   SELECT counted.*, ${CLAIM_COLUMNS}, ${LANE_COLUMNS}
     FROM (SELECT (SELECT count(*) FROM numbered)::integer AS notifications,
                  (SELECT count(*) FROM made WHERE attempts = 0)::integer AS waiting,
                  NOT (SELECT yes FROM go) AS "isHeld") AS counted
     LEFT JOIN (made c
                JOIN fresh n ON n.id = c.notification_id
                JOIN open ON open.subscription_id = c.subscription_id) ON c.attempts = 1
    ORDER BY n.created_at, n.id`
}

const fanOutAtOnce = statement<FanOutParameters, FannedOutRow>('webhooks.fanOut', fanOutText('nothing'))

const fanOutInTurn = statement<FanOutParameters, FannedOutRow>('webhooks.fanOutInTurn', fanOutText('wait'))

/** What a claim has of its lane. */
type LaneRow = Omit<ClaimRow, 'id' | 'claimId' | 'attempt' | 'subscriptionId' | 'notificationId' | 'body'>

// What fan-out waited for another process's locks it does not see: a secret that was ended, a key that was replaced, a lane that was
// paused. This begins when all of that is over.
const selectOpenStatement = statement<
  [subscriptionIds: readonly string[], now: string, signingKeyId: string, openedHeaders: readonly Buffer[]],
  { signingKeyId: string } & (({ subscriptionId: string } & LaneRow) | { subscriptionId: null })
>(
  'webhooks.selectOpen',
  `WITH ${signedWith('$4')},
   open AS (
     SELECT l.*, s.url, secret.sealed
       FROM lane l
       JOIN signing ON signing.id = $3
       JOIN subscription s ON s.id = l.subscription_id AND s.deleted_at IS NULL
       LEFT JOIN secret ON secret.subscription_id = l.subscription_id
      WHERE l.subscription_id = ANY ($1::uuid[]) AND l.state = 'active' AND l.drain_since IS NULL AND NOT l.is_over
        AND (l.held_until IS NULL OR l.held_until <= $2) AND coalesce(secret.is_opened, true))
   SELECT signing.id AS "signingKeyId", open.subscription_id AS "subscriptionId", ${LANE_COLUMNS}
     FROM signing
     LEFT JOIN open ON true`,
)

const giveBackStatement = statement<[ids: readonly string[], claimId: string]>(
  'webhooks.giveBack',
  `UPDATE delivery d
      SET claim_id = NULL, attempts = 0, next_attempt_at = least(n.created_at, d.created_at)
     FROM notification n
    WHERE d.id = ANY ($1::uuid[]) AND d.claim_id = $2 AND n.id = d.notification_id`,
)

/** A statement that fans out more notifications takes so long that what it saw of lanes is looked at again. */
const QUICK_MAX = 32

/**
 * Makes a delivery of the next notifications for every receiver that was there before each, marks them as fanned out, and gives
 * them the next places of the feed, in their order. What is claimed
 * may be sent as of a moment after others were waited for.
 * @param nowMs the time, epoch milliseconds
 * @param max how many notifications
 * @param deliveryIds a UUID of now, by which the ids of the deliveries are in the order in which they are made
 * @source rules#webhooks.9, rules#feed.1, rules#signing-keys.5, rules#webhook-secrets.4, rules#webhooks.10
 */
export async function fanOut(
  queries: Queries,
  bounds: ClaimBounds,
  nowMs: () => number,
  max: number,
  deliveryIds: string,
): Promise<FannedOut> {
  const parameters: FanOutParameters = [...claimParameters(bounds), max, deliveryIds]
  const atOnce = await queries.rows(fanOutAtOnce, parameters)
  const isHeld = atOnce[0]?.isHeld ?? false
  const rows = isHeld ? await queries.rows(fanOutInTurn, parameters) : atOnce
  const made = rows.filter((row) => row.id !== null)
  const isQuick = !isHeld && (rows[0]?.notifications ?? 0) <= QUICK_MAX
  if (isQuick || made.length === 0) return fannedOut(rows, bounds.signingKeyId, claimsOf(made))
  const { signingKeyId, lanes } = await selectOpen(queries, bounds, made, nowMs())
  const [open, held] = partition(made, ({ subscriptionId }) => lanes.has(subscriptionId))
  if (held.length > 0) await queries.rows(giveBackStatement, [held.map(({ id }) => id), bounds.claimId])
  const claims = claimsOf(open.map((row) => ({ ...row, ...(lanes.get(row.subscriptionId) as LaneRow) })))
  return fannedOut(rows, signingKeyId, claims, held.length)
}

/** @param heldBack how many of those that were claimed wait all the same */
function fannedOut(
  rows: readonly FannedOutRow[],
  signingKeyId: string,
  claims: readonly Claim[],
  heldBack = 0,
): FannedOut {
  const { notifications = 0, waiting = 0 } = rows[0] ?? {}
  return { notifications, waiting: waiting + heldBack, signingKeyId, claims }
}

/** The lanes in which what was made may be sent now, by receiver, and which key is current. */
async function selectOpen(
  queries: Queries,
  { signingKeyId, openedHeaders }: ClaimBounds,
  made: readonly ClaimRow[],
  nowMs: number,
): Promise<{ readonly signingKeyId: string; readonly lanes: ReadonlyMap<string, LaneRow> }> {
  const receivers = [...new Set(made.map(({ subscriptionId }) => subscriptionId))]
  const parameters = [receivers, instantParameter(nowMs), signingKeyId, openedHeaders] as const
  const rows = await queries.rows(selectOpenStatement, [...parameters])
  const [first] = rows
  if (first === undefined) throw new Error('no signing key is current')
  const open = rows.filter((row) => row.subscriptionId !== null)
  return { signingKeyId: first.signingKeyId, lanes: new Map(open.map((row) => [row.subscriptionId, row])) }
}

function partition<Item>(items: readonly Item[], is: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(is), items.filter((item) => !is(item))]
}
