import type { Changes } from '../engine/follow.ts'
import type { Clock } from '../platform/clock.ts'
import type { SendFacts } from './attempts.ts'
import type { WorkInput } from './inputs.ts'

/** When any order needs work, and whether it still does. Pure. */

/** What is to be done about an order that is due. */
export type Step = 'send' | 'ask' | 'release' | 'case'

/** When a kind of order needs work, and what. */
export interface Schedule<Order> {
  /** What is to be done about an order that is due. */
  nextStep(order: Order, at: number): Step
  /** When a worker must look at an order that nobody is working on. */
  restingDueAt(order: Order, at: number): number | null
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
 * A question is wanted at once. It stays wanted until a question that was claimed later is answered. While the order is
 * being sent, or asked about, it waits for that to end: one call at a time, and one that is wanted after it.
 * @param facts what else became known
 * @source rules#cash-out.work.4, failure-modes#CO-19
 */
export function questionWanted({ dueAt, facts: before }: Asking, at: number, facts: SendFacts = {}): Changes {
  const isUnderWay = dueAt !== null && dueAt > at && dueAt === before.leaseEndsAt
  const repeats = before.repeats ? { repeats: 0 } : {}
  return { dueAt: isUnderWay ? dueAt : at, facts: { ...facts, ...repeats, question: 'wanted' } }
}

/**
 * When a worker looks at an order next, after an input that does not say it.
 * @param after what is known of the order then
 * @param resting when its state alone would have it looked at
 */
export function nextDueAt(before: Asking, after: SendFacts, resting: number | null, at: number): number | null {
  if (after.question === 'wanted') return at
  // Should the process that asks die, its lease is the reminder.
  if (after.question === 'asked') return Math.min(before.dueAt ?? at, resting ?? Number.POSITIVE_INFINITY)
  return resting
}

/**
 * Whether there is still to be done what a worker does: between its look and its word another process may have been
 * faster.
 * @source failure-modes#CO-21
 */
export function isStillToDo<Order extends Asking>(
  input: WorkInput,
  order: Order,
  { nextStep, restingDueAt }: Schedule<Order>,
  at: number,
): boolean {
  const isDue = order.dueAt !== null && order.dueAt <= at
  switch (input.on) {
    case 'work.claimed':
      return isDue
    case 'send.claimed':
      // After a question that told no outcome the claim to ask passes into one to send: its row says whether it may.
      return input.again !== undefined || (isDue && nextStep(order, at) === 'send')
    case 'clock.released':
      return nextStep(order, at) === 'release'
    case 'clock.overdue':
      return nextStep(order, at) === 'case'
    case 'work.done':
      if (order.facts.question === 'wanted') return !isDue
      return order.facts.question === 'asked' || order.dueAt !== restingDueAt(order, at)
  }
}
