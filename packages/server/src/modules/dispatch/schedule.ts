import type { Changes } from '../../engine/follow.ts'
import { LEASE_MS, type SendFacts } from './attempts.ts'
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

/** An order as far as asking about it goes. */
export interface Asking {
  readonly dueAt: number | null
  readonly facts: SendFacts
}

/**
 * A question is wanted at once. It stays wanted until a question that was claimed later is answered. While the order is
 * being sent it waits for that to end: its outcome may be told before its own answer.
 * @param facts what else became known
 * @source rules#cash-out.work.4, failure-modes#CO-19
 */
export function questionWanted({ dueAt, facts: before }: Asking, at: number, facts: SendFacts = {}): Changes {
  const isBeingSent = dueAt !== null && dueAt > at && dueAt === (before.lastAttemptAt ?? 0) + LEASE_MS
  return { dueAt: isBeingSent ? dueAt : at, facts: { ...facts, question: 'wanted' } }
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
  { on }: WorkInput,
  order: Order,
  { nextStep, restingDueAt }: Schedule<Order>,
  at: number,
): boolean {
  const isDue = order.dueAt !== null && order.dueAt <= at
  switch (on) {
    case 'work.claimed':
      return isDue
    case 'send.claimed':
      return isDue && nextStep(order, at) === 'send'
    case 'clock.released':
      return nextStep(order, at) === 'release'
    case 'clock.overdue':
      return nextStep(order, at) === 'case'
    case 'work.done':
      if (order.facts.question) return order.facts.question === 'asked'
      return order.dueAt !== restingDueAt(order, at)
  }
}
