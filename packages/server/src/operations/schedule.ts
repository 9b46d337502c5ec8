import { limits } from '@pixgate/spec'
import type { Changes } from '../engine/follow.ts'
import type { Plan, Step } from '../engine/operation.ts'
import type { Clock } from '../platform/clock.ts'
import { type SendFacts, sendableSince } from './attempts.ts'
import type { WorkInput } from './inputs.ts'
import { statusQueryFact, statusQueryOf } from './status-query.ts'

/** When any order needs work, and whether it still does. Pure. */

/**
 * What is to be done about an order that is due: what its table lets a worker do, else the bank is asked.
 * @param applies whether a row of the table applies to the input of a worker for whom it is due
 */
export function stepBy(applies: (input: WorkInput) => boolean): Step {
  if (applies({ on: 'clock.released' })) return 'release'
  if (applies({ on: 'clock.overdue' })) return 'case'
  return applies({ on: 'send.claimed', leaseMs: 0 }) ? 'send' : 'ask'
}

/** An order as far as its next step goes. */
interface Planned {
  readonly dueAt: number | null
  readonly createdAt: number
  readonly facts: SendFacts
}

/**
 * What is to be done about an order when it is due, and when that would become another step without a move: by the passing
 * of time alone an order is given back, or its outcome is overdue.
 * @param nextStep what is to be done about it at an instant
 * @source rules#cash-out.work.6
 */
export function planOfOrder<Order extends Planned>(
  order: Order,
  nextStep: (order: Order, nowMs: number) => Step,
  nowMs: number,
): Plan {
  const step = nextStep(order, Math.max(order.dueAt ?? nowMs, nowMs))
  const changesAt = endOf(order, step)
  return { step, changesAt: changesAt !== null && nextStep(order, changesAt) !== step ? changesAt : null }
}

function endOf(order: Planned, step: Step): number | null {
  const { facts } = order
  const { attempts = 0, firstAttemptAt = order.createdAt } = facts
  if (step === 'send')
    return attempts > 0 ? firstAttemptAt + limits.unsentReleaseMs : sendableSince(order) + limits.unclaimedReleaseMs
  return step === 'ask' && facts.isAccepted ? firstAttemptAt + limits.outcomeOverdueMs : null
}

/** Whether a worker has something to do about an order right now. */
export function isDueNow({ dueAt }: Pick<Asking, 'dueAt'>, clock: Clock): boolean {
  return dueAt !== null && dueAt <= clock.now()
}

/** An order as far as asking about it goes. */
export interface Asking {
  readonly dueAt: number | null
  readonly facts: SendFacts
}

/**
 * A status query is requested. It stays so until one that was claimed later is answered. While the order is being sent, or
 * asked about, it waits for that to end: one call at a time, and one that is requested after it.
 * @param endsCall the input that requests it is the answer to the call under way
 * @source rules#cash-out.work.4, failure-modes#CO-19
 */
export function queryRequested({ dueAt, facts }: Asking, endsCall: boolean, nowMs: number): Changes {
  const isUnderWay = !endsCall && dueAt !== null && dueAt > nowMs && dueAt === facts.leaseEndsAt
  const repeats = facts.repeats ? { repeats: 0 } : {}
  return { dueAt: isUnderWay ? dueAt : nowMs, facts: { ...repeats, ...statusQueryFact('requested') } }
}

/**
 * When a worker looks at an order next, after an input that does not say it.
 * @param after what is known of the order then
 * @param resting when its state alone would have it looked at
 */
export function nextDueAt(before: Asking, after: SendFacts, resting: number | null, nowMs: number): number | null {
  const query = statusQueryOf(after)
  if (query === 'requested') return nowMs
  // Should the process that asks die, its lease is the reminder.
  if (query === 'in_flight') return Math.min(before.dueAt ?? nowMs, resting ?? Number.POSITIVE_INFINITY)
  return resting
}

/**
 * Whether a status query that has ended is forgotten already, and nothing follows from it: between a worker's look and its
 * word another process may have been faster.
 * @param resting when the order's state alone would have it looked at
 * @source failure-modes#CO-21
 */
export function isAtRest({ dueAt, facts }: Asking, resting: number | null, nowMs: number): boolean {
  const query = statusQueryOf(facts)
  if (query === 'requested') return dueAt !== null && dueAt <= nowMs
  return query === null && dueAt === resting
}
