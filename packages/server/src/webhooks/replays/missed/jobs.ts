import type { Clock } from '../../../platform/clock.ts'
import type { Database, Queries } from '../../../platform/db/database.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Job } from '../../../platform/jobs/job.ts'
import { dueAtOf } from '../rules.ts'
import { claimMissedReplay, type FoundMissed, type MissedReplay, recordMissed, selectMissed } from './store.ts'

/** What looking for what receivers missed works with. */
export interface MissedReplaysDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  /** Called after something was found that is to be sent. */
  readonly onDeliveries: () => void
}

/** Places of the feed in one transaction: some ten milliseconds. */
export const LOOKED_AT_MAX = 2_000

/** While so much waits to be sent to a receiver nothing more is added. */
const WAITING_MAX = 2_000

/** Who has to wait, for the feed or for the receiver, looks again after this. */
const AGAIN_AFTER_MS = 1_000

/** What was begun to be written before a span ended is in the feed, or nowhere, by then: a statement has five seconds. */
const COMMITTED_AFTER_MS = 60_000

/**
 * Looks on for what receivers missed, one stretch of the feed after the other, each in a transaction of its own: what is found there,
 * and how far it was looked, are written together. Whoever goes on goes on from there.
 * @source rules#webhooks.24, failure-modes#NO-21
 */
export function createMissedReplays({ database, clock, ids, onDeliveries }: MissedReplaysDependencies): Job {
  return {
    processNext: async () => {
      const found = await database.transaction(async (queries) => {
        const now = clock.now()
        const order = await claimMissedReplay(queries, now, WAITING_MAX)
        if (order === undefined) return undefined
        const next = await lookOn(queries, order, now, ids)
        await recordMissed(queries, next, now)
        return next
      })
      if (found !== undefined && found.deliveries.length > 0) onDeliveries()
      return found !== undefined
    },
  }
}

async function lookOn(queries: Queries, order: MissedReplay, nowMs: number, ids: Ids): Promise<FoundMissed> {
  const { replayId, subscriptionId, position, until, orderedAt } = order
  const asBefore = { replayId, subscriptionId, deliveries: [], position }
  if (order.isReceiverRemoved) return { ...asBefore, dueAt: null }
  if (order.waiting >= WAITING_MAX) return { ...asBefore, dueAt: nowMs + AGAIN_AFTER_MS }
  const stretch = await selectMissed(queries, order, position, LOOKED_AT_MAX, false)
  const deliveries = stretch.ids.map((notificationId, index) => {
    // What is found late is not late itself: it is held from now on.
    return { id: ids.uuid(), notificationId, dueAt: Math.max(nowMs, dueAtOf(order.found + index, orderedAt)) }
  })
  const isOver = stretch.isEnd && !stretch.isMoreToCome && nowMs >= until + COMMITTED_AFTER_MS
  const lookOnAt = stretch.isEnd ? nowMs + AGAIN_AFTER_MS : nowMs
  return { replayId, subscriptionId, deliveries, position: stretch.reached, dueAt: isOver ? null : lookOnAt }
}
