import type { Row } from '@pixgate/spec'
import type { Operation } from './operation.ts'

/** Why an operation is in doubt: part of where it stands, beside its status. */
export type Reason = 'no_answer' | 'conflict' | 'not_dispatched'

/** A reason as the database keeps it among the facts, in the words of the first version. @see docs/adr/0024 */
const STORED = { no_answer: 'missing', conflict: 'contradiction', not_dispatched: 'unrecorded' } as const

/** The fact in which the database keeps it; `null` after a doubt, absent before the first. */
export type ReasonFact = {
  readonly doubt?: (typeof STORED)[Reason] | null
}

const REASONS = new Map<unknown, Reason>(Object.entries(STORED).map(([reason, word]) => [word, reason as Reason]))

/** Why an operation is in doubt; `null`: it is not. */
export function reasonOf({ facts }: Pick<Operation, 'facts'>): Reason | null {
  return REASONS.get(facts.doubt) ?? null
}

/** The fact to write. */
export function reasonFact(reason: Reason | null): ReasonFact {
  return { doubt: reason === null ? null : STORED[reason] }
}

/** The fact in which a row's reason is kept, where the row changes it. */
export function reasonAfter(operation: Pick<Operation, 'facts'>, { reason }: Pick<Row, 'reason'>): ReasonFact {
  if (reason === 'same' || reason === reasonOf(operation)) return {}
  return reasonFact(reason as Reason | null)
}
