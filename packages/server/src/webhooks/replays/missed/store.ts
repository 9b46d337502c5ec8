import { instantParameter, type Queries, statement } from '../../../platform/db/database.ts'

/** What a receiver missed, looked for in the order of the feed. */

/** Of whom, and of which time. Instants are epoch milliseconds. */
export interface MissedSpan {
  readonly subscriptionId: string
  /** Inclusive. */
  readonly since: number
  /** Exclusive; not later than when the receiver was registered. */
  readonly until: number
}

// The feed is in the order in which notifications were committed, and their times are those of when that was begun. What is before
// one that was made a day before the span is not in it, unless it took a day to commit.
const selectStartStatement = statement<[subscriptionId: string, since: string, until: string], { position: bigint }>(
  'webhooks.selectMissedStart',
  `SELECT greatest(
     (SELECT max(position) FROM missed_replay WHERE subscription_id = $1 AND since <= $2 AND until >= $3),
     (SELECT coalesce(position, 0)
        FROM notification
       WHERE created_at < $2::timestamptz - interval '1 day' AND erased_at IS NULL AND fanned_out_at IS NOT NULL
       ORDER BY created_at DESC
       LIMIT 1),
     0) AS position`,
)

/** The place of the feed behind which to begin: before it nothing of the span is left that an order has not dealt with. */
export async function selectMissedStart(
  queries: Queries,
  { subscriptionId, since, until }: MissedSpan,
): Promise<bigint> {
  const parameters = [subscriptionId, instantParameter(since), instantParameter(until)] as const
  const [start] = await queries.rows(selectStartStatement, [...parameters])
  return start?.position ?? 0n
}

/** A stretch of the feed that was looked at. */
export interface MissedStretch {
  /** The notifications there that the receiver missed, oldest first. */
  readonly ids: readonly string[]
  /** The last place that was looked at. */
  readonly reached: bigint
  /** Whether no place is behind it. */
  readonly isEnd: boolean
  /** Whether something of the span has no place yet, and will be behind it. */
  readonly isMoreToCome: boolean
}

type StretchRow = Omit<MissedStretch, 'ids'> & { readonly id: string | null }

const selectMissedStatement = statement<
  [subscriptionId: string, since: string, until: string, after: string, lookedAtMax: number, isCounted: boolean],
  StretchRow
>(
  'webhooks.selectMissed',
  `WITH stretch AS (
     SELECT s.id, s.events, least($4::bigint + $5::integer, feed.last_position) AS reached, feed.last_position AS last
       FROM subscription s
      CROSS JOIN feed
      WHERE s.id = $1)
   SELECT greatest(stretch.reached, $4::bigint) AS reached, stretch.reached >= stretch.last AS "isEnd",
          EXISTS (SELECT FROM notification WHERE fanned_out_at IS NULL AND created_at < $3) AS "isMoreToCome",
          missed.id
     FROM stretch
     LEFT JOIN LATERAL (
       SELECT n.id, n.position
         FROM notification n
        WHERE n.position > $4 AND n.position <= stretch.reached AND n.created_at >= $2 AND n.created_at < $3
          AND n.erased_at IS NULL AND n.event_type = ANY (stretch.events)
          AND NOT EXISTS (SELECT FROM delivery d WHERE d.notification_id = n.id AND d.subscription_id = stretch.id)
          AND NOT EXISTS (SELECT FROM missed_replay m
                           WHERE m.subscription_id = stretch.id AND m.since <= n.created_at AND m.until > n.created_at
                             AND (m.position >= n.position OR ($6 AND m.due_at IS NOT NULL)))) AS missed ON true
    ORDER BY missed.position`,
)

/**
 * Looks at the next places of the feed for what the receiver never was to get and never was sent.
 * @param after the place behind which to look
 * @param lookedAtMax how many places
 * @param isCounted whether it is to be counted only, without what an order that goes on will find
 * @source rules#webhooks.24
 */
export async function selectMissed(
  queries: Queries,
  { subscriptionId, since, until }: MissedSpan,
  after: bigint,
  lookedAtMax: number,
  isCounted: boolean,
): Promise<MissedStretch> {
  const span = [subscriptionId, instantParameter(since), instantParameter(until)] as const
  const rows = await queries.rows(selectMissedStatement, [...span, String(after), lookedAtMax, isCounted])
  const [first] = rows
  if (first === undefined) throw new Error('the feed has a row')
  const { reached, isEnd, isMoreToCome } = first
  return { ids: rows.flatMap(({ id }) => id ?? []), reached, isEnd, isMoreToCome }
}

const insertMissedReplayStatement = statement<
  [replayId: string, subscriptionId: string, since: string, until: string, position: string, dueAt: string],
  { id: string }
>(
  'webhooks.insertMissedReplay',
  `WITH receiver AS (SELECT id FROM subscription WHERE id = $2 AND deleted_at IS NULL FOR SHARE)
   INSERT INTO missed_replay (replay_id, subscription_id, since, until, position, due_at)
   SELECT $1, id, $3, $4, $5, $6 FROM receiver
   RETURNING replay_id AS id`,
)

/**
 * Adds what an order looks for, which begins at once.
 * @param position the place of the feed behind which it begins
 * @returns whether its receiver was not removed meanwhile
 */
export async function insertMissedReplay(
  queries: Queries,
  replayId: string,
  { subscriptionId, since, until }: MissedSpan,
  position: bigint,
  nowMs: number,
): Promise<boolean> {
  const span = [subscriptionId, instantParameter(since), instantParameter(until)] as const
  const parameters = [replayId, ...span, String(position), instantParameter(nowMs)] as const
  return (await queries.rows(insertMissedReplayStatement, [...parameters])).length > 0
}

/** An order that looks on now. Instants are epoch milliseconds. */
export interface MissedReplay extends MissedSpan {
  readonly replayId: string
  /** Up to which place of the feed it has looked. */
  readonly position: bigint
  /** How many it has found. */
  readonly found: number
  readonly orderedAt: number
  readonly isReceiverRemoved: boolean
  /** Of the receiver's, over all orders; as many as are asked for at most. */
  readonly waiting: number
}

// FOR SHARE: whoever removes the receiver waits until what was found is there to be cancelled, or is seen here.
const claimMissedReplayStatement = statement<[now: string, waitingMax: number], MissedReplay>(
  'webhooks.claimMissedReplay',
  `SELECT m.replay_id AS "replayId", m.subscription_id AS "subscriptionId", m.since, m.until, m.position, m.found,
          r.created_at AS "orderedAt", s.deleted_at IS NOT NULL AS "isReceiverRemoved",
          (SELECT count(*)::integer
             FROM (SELECT FROM replay_delivery
                    WHERE subscription_id = m.subscription_id AND state = 'WAITING' LIMIT $2) AS w) AS waiting
     FROM missed_replay m
     JOIN replay r ON r.id = m.replay_id
     JOIN subscription s ON s.id = m.subscription_id
    WHERE m.due_at <= $1
    ORDER BY m.due_at
    LIMIT 1
      FOR UPDATE OF m SKIP LOCKED
      FOR SHARE OF s`,
)

/** The next order that is due, which nobody else works on until the transaction ends; undefined where there is none. */
export async function claimMissedReplay(
  queries: Queries,
  nowMs: number,
  waitingMax: number,
): Promise<MissedReplay | undefined> {
  return (await queries.rows(claimMissedReplayStatement, [instantParameter(nowMs), waitingMax]))[0]
}

/** What an order has found in a stretch of the feed. Instants are epoch milliseconds. */
export interface FoundMissed {
  readonly replayId: string
  readonly subscriptionId: string
  /** One delivery of each; `dueAt` is when the replay sends it. */
  readonly deliveries: readonly { readonly id: string; readonly notificationId: string; readonly dueAt: number }[]
  /** Up to which place it has looked. */
  readonly position: bigint
  /** When it looks on; `null`: it is over. */
  readonly dueAt: number | null
}

// Deliveries that are not due by themselves: nothing but a replay sends them. Another order may have found the same a moment before.
const recordMissedStatement = statement<
  [
    replayId: string,
    subscriptionId: string,
    ids: readonly string[],
    notificationIds: readonly string[],
    deliveriesDueAt: readonly string[],
    position: string,
    dueAt: string | null,
    now: string,
  ]
>(
  'webhooks.recordMissed',
  `WITH found AS (
     SELECT * FROM unnest($3::uuid[], $4::uuid[], $5::timestamptz[]) AS found (id, notification_id, due_at)),
   added AS (
     INSERT INTO delivery (id, notification_id, subscription_id, state, next_attempt_at, created_at)
     SELECT id, notification_id, $2, 'PENDING', NULL, $8
       FROM found
         ON CONFLICT (notification_id, subscription_id) DO NOTHING
     RETURNING id),
   waiting AS (
     INSERT INTO replay_delivery (replay_id, delivery_id, subscription_id, state, due_at)
     SELECT $1, id, $2, 'WAITING', found.due_at
       FROM added
       JOIN found USING (id))
   UPDATE missed_replay
      SET position = $6, due_at = $7, found = found + (SELECT count(*) FROM added)
    WHERE replay_id = $1`,
)

/** Adds the deliveries, which wait for the replay, and that the order has come so far: both or none. */
export async function recordMissed(queries: Queries, found: FoundMissed, nowMs: number): Promise<void> {
  const { replayId, subscriptionId, deliveries, position, dueAt } = found
  await queries.rows(recordMissedStatement, [
    replayId,
    subscriptionId,
    deliveries.map(({ id }) => id),
    deliveries.map(({ notificationId }) => notificationId),
    deliveries.map((delivery) => instantParameter(delivery.dueAt)),
    String(position),
    dueAt === null ? null : instantParameter(dueAt),
    instantParameter(nowMs),
  ])
}

const endMissedReplayStatement = statement<[replayId: string], { id: string }>(
  'webhooks.endMissedReplay',
  'UPDATE missed_replay SET due_at = NULL WHERE replay_id = $1 AND due_at IS NOT NULL RETURNING replay_id AS id',
)

/** An order looks on no more; waits for a step that is under way. @returns whether it would have */
export async function endMissedReplay(queries: Queries, replayId: string): Promise<boolean> {
  return (await queries.rows(endMissedReplayStatement, [replayId])).length > 0
}
