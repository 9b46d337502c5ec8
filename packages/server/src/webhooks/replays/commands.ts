import { limits, Refusal, type ReplayKind } from '@pixgate/spec'
import type { Operator } from '../../audit/operator.ts'
import { insertAudit } from '../../audit/store.ts'
import type { Clock } from '../../platform/clock.ts'
import { type Database, type Queries, refusableTransaction } from '../../platform/db/database.ts'
import { type Ids, isUuid } from '../../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../../platform/live-request.ts'
import { selectLane } from '../lanes/store.ts'
import { LOOKED_AT_MAX } from './missed/jobs.ts'
import { insertMissedReplay, type MissedSpan, selectMissed, selectMissedStart } from './missed/store.ts'
import { dueAtOf } from './rules.ts'
import {
  insertReplay,
  insertReplayDeliveries,
  lockReplays,
  type Replay,
  type Replayable,
  type Span,
  selectFailed,
  selectReplayable,
  selectReplayByKey,
} from './store.ts'

/** What the commands work with. */
export interface ReplayDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

/** By whom, and how, something is ordered to be sent again. */
export interface ReplayRequest {
  readonly isDryRun: boolean
  readonly operator: Operator
  readonly live: LiveRequest
  /** With its scope; `null` where none was sent. */
  readonly idempotencyKey: string | null
  readonly bodyHash: Buffer
}

/** What was ordered, now or before, or would be. */
export interface Ordered {
  readonly replay: Replay
  readonly isDryRun: boolean
  /** Whether the same request came before. */
  readonly isReplayed: boolean
}

/** For how long the same `Idempotency-Key` gets the same answer. */
const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

/** What is to be sent. */
interface Chosen {
  readonly subscriptionId: string
  readonly kind: ReplayKind
  readonly hasMore: boolean
  readonly count: number
  readonly facts: Readonly<Record<string, unknown>>
  /**
   * Adds it to the order that was written.
   * @param dueAt of each that was counted, epoch milliseconds
   * @returns whether it was still there
   */
  readonly add: (replay: Replay, dueAt: readonly number[]) => Promise<boolean>
}

/**
 * Orders one delivery to be sent again.
 * @throws Refusal not_found (404) · delivery_not_replayable (409) · idempotency_key_reused (422) · overloaded (503) the request
 *   has lapsed
 * @source rules#webhooks.21
 */
export function replayOne(needs: ReplayDependencies, deliveryId: string, request: ReplayRequest): Promise<Ordered> {
  return order(needs, request, async (queries) => {
    const delivery = isUuid(deliveryId) ? await selectReplayable(queries, deliveryId) : undefined
    if (delivery === undefined) throw new Refusal('not_found')
    const reason = reasonAgainst(delivery)
    if (reason !== undefined) throw notReplayable(reason)
    const { id, subscriptionId } = delivery
    const chosen = { subscriptionId, kind: 'delivery', hasMore: false, count: 1, facts: { delivery: id } } as const
    return { ...chosen, add: (replay, dueAt) => insertReplayDeliveries(queries, replay, [id], dueAt) }
  })
}

/** Why a delivery cannot be sent again, and what is said about it. @source rules#webhooks.21 */
const REASONS = {
  receiver_removed: 'the receiver of this delivery was removed',
  pending: 'this delivery is still tried by itself',
  replaying: 'this delivery waits to be sent again already',
  erased: 'what this delivery told of is over its time and was erased',
} as const

function reasonAgainst(delivery: Replayable): keyof typeof REASONS | undefined {
  if (delivery.isReceiverRemoved) return 'receiver_removed'
  if (delivery.isReplaying) return 'replaying'
  if (delivery.state === 'PENDING') return 'pending'
  return delivery.isErased ? 'erased' : undefined
}

function notReplayable(code: keyof typeof REASONS): Refusal {
  return new Refusal('delivery_not_replayable', { fields: [{ field: 'id', code, message: REASONS[code] }] })
}

/**
 * Orders what failed at a receiver, or what it missed, to be sent.
 * @throws Refusal not_found (404) it is unknown or removed · idempotency_key_reused (422) · overloaded (503) the request has lapsed
 * @source rules#webhooks.22
 */
export function replayMany(
  needs: ReplayDependencies,
  kind: 'failed' | 'missed',
  span: Span,
  request: ReplayRequest,
): Promise<Ordered> {
  return order(needs, request, async (queries, nowMs) => {
    const { subscriptionId, since, until } = span
    const receiver = isUuid(subscriptionId) ? await selectLane(queries, subscriptionId, nowMs) : undefined
    if (receiver === undefined) throw new Refusal('not_found')
    const facts = {
      since: new Date(since).toISOString(),
      ...(until !== null && { until: new Date(until).toISOString() }),
    }
    const chosen =
      kind === 'failed'
        ? await chooseFailed(queries, span)
        : await chooseMissed(
            queries,
            { ...span, until: Math.min(until ?? nowMs, receiver.createdAt + REGISTERED_WITHIN_MS) },
            nowMs,
          )
    return { subscriptionId, kind, facts, ...chosen }
  })
}

/**
 * What is notified while a receiver is being registered may have been fanned out before anybody saw it. Of what is younger and has a
 * delivery nothing was missed.
 */
const REGISTERED_WITHIN_MS = 15_000

type ChosenMany = Pick<Chosen, 'hasMore' | 'count' | 'add'>

async function chooseFailed(queries: Queries, span: Span): Promise<ChosenMany> {
  // One more than is sent tells whether there are more.
  const found = await selectFailed(queries, span, limits.webhookReplayMax + 1)
  const ids = found.slice(0, limits.webhookReplayMax).map(({ id }) => id)
  const add = (replay: Replay, dueAt: readonly number[]) => insertReplayDeliveries(queries, replay, ids, dueAt)
  return { hasMore: found.length > ids.length, count: ids.length, add }
}

/** Places of the feed that are looked at to count: some hundred milliseconds. What is behind them is sent all the same. */
const COUNTED_MAX = 100_000n

async function chooseMissed(queries: Queries, span: MissedSpan, nowMs: number): Promise<ChosenMany> {
  const start = await selectMissedStart(queries, span)
  const countBehind = (place: bigint) => selectMissed(queries, span, place, LOOKED_AT_MAX, true)
  let stretch = await countBehind(start)
  let count = stretch.ids.length
  while (!stretch.isEnd && count <= limits.webhookReplayMax && stretch.reached < start + COUNTED_MAX) {
    stretch = await countBehind(stretch.reached)
    count += stretch.ids.length
  }
  const hasMore = !stretch.isEnd || stretch.isMoreToCome || count > limits.webhookReplayMax
  const add = (replay: Replay) => insertMissedReplay(queries, replay.id, span, start, nowMs)
  return { hasMore, count: Math.min(count, limits.webhookReplayMax), add }
}

/** Chooses and orders in one transaction, one order after the other. */
function order(
  { database, clock, ids }: ReplayDependencies,
  request: ReplayRequest,
  choose: (queries: Queries, nowMs: number) => Promise<Chosen>,
): Promise<Ordered> {
  const { isDryRun, idempotencyKey, bodyHash, operator, live } = request
  return refusableTransaction(database, async (queries) => {
    if (!isDryRun) await lockReplays(queries)
    refuseLapsed(live)
    const nowMs = clock.now()
    const before = isDryRun ? undefined : await answered(queries, request, nowMs)
    if (before) return { replay: before, isDryRun: false, isReplayed: true }
    const { subscriptionId, kind, hasMore, count, facts, add } = await choose(queries, nowMs)
    const dueAt = Array.from({ length: count }, (_, index) => dueAtOf(index, nowMs))
    const given = { idempotencyKey, bodyHash, createdAt: nowMs, lastDueAt: dueAt.at(-1) ?? null }
    const replay: Replay = { id: ids.uuid(), subscriptionId, kind, deliveries: count, hasMore, ...given }
    if (isDryRun) return { replay, isDryRun, isReplayed: false }
    await insertReplay(queries, replay)
    if (!(await add(replay, dueAt))) throw new Refusal('not_found')
    const told = { kind, replay: replay.id, deliveries: count, ...facts }
    const row = { ...operator, id: ids.uuid(), at: nowMs, subject: subscriptionId, facts: told }
    await insertAudit(queries, { ...row, action: 'webhook.replayed' })
    return { replay, isDryRun, isReplayed: false }
  })
}

/** What the same `Idempotency-Key` was answered. @throws Refusal idempotency_key_reused (422) */
async function answered(
  queries: Queries,
  { idempotencyKey, bodyHash }: ReplayRequest,
  nowMs: number,
): Promise<Replay | undefined> {
  if (idempotencyKey === null) return undefined
  const before = await selectReplayByKey(queries, idempotencyKey, nowMs - IDEMPOTENCY_MS)
  if (before && !before.bodyHash.equals(bodyHash)) throw new Refusal('idempotency_key_reused')
  return before
}
