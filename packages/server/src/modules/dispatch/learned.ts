import type { Changes } from '../../engine/follow.ts'
import { type SendFacts, unanswered } from './attempts.ts'
import type { OrderInput } from './inputs.ts'

/** What becomes known of any order by each input. Pure. */

/** Inputs that teach the same of every kind of order. */
type PlainInput = Extract<
  OrderInput,
  {
    readonly on:
      | 'work.requested'
      | 'work.claimed'
      | 'work.done'
      | 'clock.overdue'
      | 'clock.escalated'
      | 'send.unknown'
      | 'send.contradicted'
  }
>

/** What an input teaches. A `dueAt` here is when a worker looks next; otherwise the state says when work is due. */
export function learnedOfOrder(input: PlainInput, facts: SendFacts, at: number): Changes {
  switch (input.on) {
    case 'work.requested':
      return { dueAt: at }
    case 'work.claimed':
      return { dueAt: at + input.leaseMs }
    case 'work.done':
      return {}
    case 'clock.overdue':
      return { dueAt: at, facts: { isOverdue: true } }
    case 'clock.escalated':
      return { facts: { doubt: 'missing', unknownSince: facts.unknownSince ?? at } }
    case 'send.unknown':
      return { facts: unanswered(facts, at) }
    case 'send.contradicted':
      return { facts: { doubt: 'contradiction' } }
  }
}
