import { Refusal, type ReplayKind } from '@pixgate/spec'
import type { Operator } from '../../audit/operator.ts'
import { insertAudit } from '../../audit/store.ts'
import { refusableTransaction } from '../../platform/db/database.ts'
import { isUuid } from '../../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../../platform/live-request.ts'
import type { ReplayDependencies } from './commands.ts'
import { endMissedReplay } from './missed/store.ts'
import { cancelReplayDeliveries, selectReplay } from './store.ts'

/** A replay that was called off. */
export interface Cancelled {
  readonly id: string
  readonly subscriptionId: string
  readonly kind: ReplayKind
  /** Deliveries that this called off. */
  readonly cancelled: number
}

/**
 * Calls off what a replay has not begun, and tells the audit trail of it where that changes something.
 * @throws Refusal not_found (404) · overloaded (503) the request has lapsed
 * @source rules#webhooks.26
 */
export async function cancel(
  { database, clock, ids }: ReplayDependencies,
  replayId: string,
  operator: Operator,
  live: LiveRequest,
): Promise<Cancelled> {
  if (!isUuid(replayId)) throw new Refusal('not_found')
  return refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    const now = clock.now()
    const replay = await selectReplay(queries, replayId)
    if (replay === undefined) throw new Refusal('not_found')
    // First: what a step that is under way has found is there to be cancelled then.
    const isEnded = await endMissedReplay(queries, replay.id)
    const cancelled = await cancelReplayDeliveries(queries, replay.id, now)
    if (isEnded || cancelled > 0) {
      const row = { ...operator, id: ids.uuid(), at: now, subject: replay.subscriptionId }
      const facts = { kind: replay.kind, replay: replay.id, deliveries: cancelled }
      await insertAudit(queries, { ...row, action: 'webhook.replay_cancelled', facts })
    }
    return { ...replay, cancelled }
  })
}
