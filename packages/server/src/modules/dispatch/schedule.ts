import type { WorkInput } from './inputs.ts'

/** When any order needs work, and whether it still does. Pure. */

/** What is to be done about an order that is due. */
export type Step = 'send' | 'ask' | 'release' | 'case' | 'nothing'

/** When a kind of order needs work, and what. */
export interface Schedule<Order> {
  /** What is to be done about an order that is due. */
  nextStep(order: Order, at: number): Step
  /** When a worker must look at an order that nobody is working on. */
  restingDueAt(order: Order, at: number): number | null
}

/**
 * Whether there is still to be done what a worker does: between its look and its word another process may have been
 * faster.
 * @source failure-modes#CO-21
 */
export function isStillToDo<Order extends { readonly dueAt: number | null }>(
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
      return order.dueAt !== restingDueAt(order, at)
  }
}
