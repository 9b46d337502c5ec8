import { type Decision, mergeDecisions } from '../engine/operation.ts'
import type { Result } from './inputs.ts'

/** Deciding on any order. Pure. */

/**
 * Decides inputs one after the other, as one change: a confirmation and the returns that came with it. What one of them
 * came to is what all did, unless it was ignored.
 * @param before where the order stands
 * @param decideOne decides the next input, where the one before left the order
 * @source failure-modes#EV-22
 */
export function decideInTurn<Input, Outcome extends { readonly result: Result }>(
  before: Outcome,
  inputs: readonly Input[],
  decideOne: (standing: Outcome, input: Input) => Decision<Outcome>,
): Decision<Outcome> {
  let decision: Decision<Outcome> = { outcome: before }
  for (const input of inputs) {
    const next = decideOne(decision.outcome, input)
    const { result } = next.outcome.result === 'IGNORED' ? decision.outcome : next.outcome
    decision = mergeDecisions(decision, { ...next, outcome: { ...next.outcome, result } })
  }
  return decision
}
