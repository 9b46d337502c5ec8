import { type CaseDecision, type decideCase, formatReais, Refusal } from '@pixgate/spec'
import type { Static } from 'typebox'
import { isApprover, isCreatedBy, isSamePerson, type Person } from '../access/index.ts'
import type { Operator } from '../audit/trail.ts'
import type { DecisionInput } from './case.ts'
import type { StoredStep } from './store.ts'

/** Decisions that need a second person, possible approvers, and void proposals. Pure. */

export type Decided = Static<(typeof decideCase)['responses'][200]['schema']>

export type Ordered = Pick<DecisionInput, 'decision' | 'reason' | 'evidence' | 'operationId' | 'amountCents'>

/**
 * Reason for a second person; `null`: none needed. A query that attributes nothing moves no money and leaves its case
 * open.
 * @param amountCents `null`: unknown
 * @param fromCents threshold; 0: every decision
 * @param isBelowCharge the accepted amount is below the charge's value
 * @source rules#cases.39, rules#cases.47
 */
export function whySecondPerson(
  decision: CaseDecision | null,
  amountCents: number | null,
  fromCents: number,
  isBelowCharge = false,
): string | null {
  if (isBelowCharge) return 'the amount is less than the charge'
  if (decision === 'ask_again' && amountCents === 0) return null
  if (amountCents === null) return 'the amount is unknown'
  return amountCents >= fromCents ? `the amount is at least ${formatReais(BigInt(fromCents))}` : null
}

/**
 * Requires an active operator. The administrative token cannot be deactivated.
 * @throws unauthorized (401)
 * @source rules#cases.45
 */
export function assertOperates({ actor, actorName }: Operator, people: readonly Person[]): void {
  if (actorName !== undefined && !people.some(({ id, isActive }) => id === actor && isActive)) {
    throw new Refusal('unauthorized')
  }
}

/**
 * @throws insufficient_role (403) a proposal needs a named operator
 * @source rules#cases.40
 */
export function assertNamedOperator({ actorName }: Operator): void {
  const message =
    'a decision that needs a second person must be proposed by a named operator, not with the administrative token'
  if (actorName === undefined) throw new Refusal('insufficient_role', { message })
}

/**
 * The approver must be another person than the proposer, and neither may have created the other, directly or
 * indirectly: the creator of an operator has seen the token.
 * @throws insufficient_role · approver_not_independent (403)
 * @source rules#cases.41
 */
export function assertMayApprove(
  { actor }: Operator,
  { operatorId }: Pick<StoredStep, 'operatorId'>,
  people: readonly Person[],
): void {
  const approver = people.find(({ id }) => id === actor)
  if (approver === undefined || !isApprover(approver)) throw new Refusal('insufficient_role')
  const proposer = people.find(({ id }) => id === operatorId)
  const hasMadeProposer = proposer !== undefined && isCreatedBy(proposer, actor, people)
  const isDependent = isSamePerson(approver, operatorId, people) || isCreatedBy(approver, operatorId, people)
  if (hasMadeProposer || actor === operatorId || isDependent) throw new Refusal('approver_not_independent')
}

/** State that a proposal depends on. */
export interface Standing {
  readonly version: number
  readonly isClosed: boolean
  /** All operators, active or not. */
  readonly people: readonly Person[]
}

/** Reason why a pending proposal cannot be approved; `null`: it can. @source rules#cases.42 */
export function whyVoid(
  { caseVersion, operatorId }: Pick<StoredStep, 'caseVersion' | 'operatorId'>,
  { version, isClosed, people }: Standing,
): string | null {
  if (isClosed) return 'the case is closed'
  if (caseVersion !== String(version)) return 'the case changed after it was proposed'
  const isActive = people.some((person) => person.id === operatorId && person.isActive)
  return isActive ? null : 'the proposer was deactivated'
}

export function proposalVoid(message: string): Refusal {
  return new Refusal('proposal_void', { message })
}

/** Pending proposals, each with the reason why it is void, or `null`. */
export function pendingProposals(steps: readonly StoredStep[], standing: Standing): ReadonlyMap<string, string | null> {
  const ended = new Set(steps.map(({ proposalId }) => proposalId))
  const pending = steps.filter(({ step, id }) => step === 'proposed' && !ended.has(id))
  return new Map(pending.map((step) => [step.id, whyVoid(step, standing)]))
}
