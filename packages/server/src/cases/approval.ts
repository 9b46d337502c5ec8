import { type CaseDecision, type decideCase, formatReais, Refusal } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Operator } from '../audit/trail.ts'
import { isApprover, isMadeBy, isSamePerson, type Person } from '../operators/index.ts'
import type { CaseOrder } from './case.ts'
import type { StoredStep } from './store.ts'

/** Which decisions take a second person, who that may be, and how long a proposal stands. Pure. */

/** What is answered to a decision. */
export type Decided = Static<(typeof decideCase)['responses'][200]['schema']>

/** What is ordered, as a proposal keeps it. */
export type Ordered = Pick<CaseOrder, 'decision' | 'reason' | 'evidence' | 'operationId' | 'amountCents'>

/**
 * Why a decision takes a second person, in words; `null`: it takes none. A query of the bank that hands nothing over moves nothing, and
 * leaves its case open.
 * @param amountCents `null`: unknown
 * @param fromCents from which amount on; 0: every decision
 * @param isShort less is accepted than the charge asks for
 * @source rules#cases.39, rules#cases.47
 */
export function whySecondPerson(
  decision: CaseDecision | null,
  amountCents: number | null,
  fromCents: number,
  isShort = false,
): string | null {
  if (isShort) return 'it is less than the charge asks for'
  if (decision === 'ask_again' && amountCents === 0) return null
  if (amountCents === null) return 'its amount is unknown'
  return amountCents >= fromCents ? `its amount is at least ${formatReais(BigInt(fromCents))}` : null
}

/**
 * Who orders is an operator still; the administrative token names nobody who could be deactivated.
 * @throws unauthorized (401)
 * @source rules#cases.45
 */
export function assertOperates({ actor, actorName }: Operator, people: readonly Person[]): void {
  if (actorName !== undefined && !people.some(({ id, isActive }) => id === actor && isActive)) {
    throw new Refusal('unauthorized')
  }
}

/** A proposal has a named proposer. @throws insufficient_role (403) @source rules#cases.40 */
export function assertNamedOperator({ actorName }: Operator): void {
  const message =
    'a decision that takes a second person is proposed by an operator with a name: the administrative token names nobody'
  if (actorName === undefined) throw new Refusal('insufficient_role', { message })
}

/**
 * A second person approves it, who is known by name, and whom neither its proposer made nor somebody whom these made. Whoever
 * made both of them has seen the tokens of both.
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
  const isDependent = isSamePerson(approver, operatorId, people) || isMadeBy(approver, operatorId, people)
  if (actor === operatorId || isDependent) throw new Refusal('approver_not_independent')
}

/** Whether a case is as it was when something was proposed about it, and who proposed it an operator still. */
export interface Standing {
  readonly version: number
  readonly isClosed: boolean
  /** All operators there ever were, as they are now. */
  readonly people: readonly Person[]
}

/** Why a proposal that nobody has ended cannot be approved any more; `null`: it can. @source rules#cases.42 */
export function whyVoid(
  { caseVersion, operatorId }: Pick<StoredStep, 'caseVersion' | 'operatorId'>,
  { version, isClosed, people }: Standing,
): string | null {
  if (isClosed) return 'the case is closed'
  if (caseVersion !== String(version)) return 'the case changed after it was proposed'
  const isActive = people.some((person) => person.id === operatorId && person.isActive)
  return isActive ? null : 'whoever proposed it was deactivated'
}

/** A proposal that cannot be approved or refused any more. */
export function isVoid(message: string): Refusal {
  return new Refusal('proposal_void', { message })
}

/** The proposals that nobody has ended, each with why it is void; `null`: it can be approved. */
export function pendingProposals(steps: readonly StoredStep[], standing: Standing): ReadonlyMap<string, string | null> {
  const ended = new Set(steps.map(({ proposalId }) => proposalId))
  const pending = steps.filter(({ step, id }) => step === 'proposed' && !ended.has(id))
  return new Map(pending.map((step) => [step.id, whyVoid(step, standing)]))
}
