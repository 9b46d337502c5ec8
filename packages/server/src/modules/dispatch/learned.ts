import type { Changes } from '../../engine/follow.ts'
import { unanswered } from './attempts.ts'
import type { OrderInput } from './inputs.ts'
import { type Asking, questionWanted } from './schedule.ts'

/** What becomes known of any order by each input. Pure. */

/** Inputs that teach the same of every kind of order. */
type PlainInput = Extract<
  OrderInput,
  {
    readonly on: 'work.requested' | 'work.claimed' | 'work.done' | 'clock.overdue' | 'clock.escalated' | 'send.unknown'
  }
>

/** What an input teaches. A `dueAt` here is when a worker looks next; otherwise the state says when work is due. */
export function learnedOfOrder(input: PlainInput, now: Asking, at: number): Changes {
  const { facts } = now
  switch (input.on) {
    case 'work.requested':
      return questionWanted(now, at)
    case 'work.claimed':
      return { dueAt: at + input.leaseMs, facts: facts.question ? { question: 'asked' } : {} }
    case 'work.done':
      return { facts: facts.question === 'asked' ? { question: null } : {} }
    case 'clock.overdue':
      return { dueAt: at, facts: { isOverdue: true } }
    case 'clock.escalated':
      return { facts: { doubt: 'missing', unknownSince: facts.unknownSince ?? at } }
    case 'send.unknown':
      return { facts: unanswered(facts, at) }
  }
}
