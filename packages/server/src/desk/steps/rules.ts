import { type decideCase, type getCase, Refusal } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Operator } from '../../audit/operator.ts'
import type { Audit, Document } from '../../engine/operation.ts'
import { isApprover, isMadeBy, isSamePerson, type Person } from '../../operators/index.ts'
import type { AnyOrder, DeskEvidence } from '../decider.ts'
import type { Effects } from '../effects.ts'
import type { StoredCase, StoredStep } from './store.ts'

/** Who may decide a case, and what is kept of it. Pure. */

/** What is answered to a decision. */
export type Decided = Static<(typeof decideCase)['responses'][200]['schema']>

type StepView = Static<(typeof getCase)['responses'][200]['schema']>['steps'][number]

/** What is ordered, as it is kept with a proposal. */
export type Ordered = Pick<AnyOrder, 'decision' | 'reason' | 'evidence' | 'operationId'>

/** What was ordered, as JSON. */
export function contentOf({ decision, reason, evidence, operationId }: Ordered): Document {
  return { decision, reason, evidence: { ...evidence }, ...(operationId !== undefined && { operationId }) }
}

/** What a proposal orders. */
export function orderedBy({ content }: Pick<StoredStep, 'content'>): Ordered {
  const { decision, reason, evidence, operationId } = content as unknown as Ordered
  return { decision, reason, evidence, ...(operationId !== undefined && { operationId }) }
}

/** What an operator names of the bank's; what is empty is not named. */
export function evidenceOf(
  named: { readonly [field in keyof DeskEvidence]?: string | null | undefined },
): DeskEvidence {
  return Object.fromEntries(Object.entries(named).filter(([, text]) => text))
}

/** What the audit trail is told of a step. @source rules#desk.37 */
export function auditOf(
  operator: Operator,
  step: StoredStep['step'],
  { id, operationId }: Pick<StoredCase, 'id' | 'operationId'>,
  facts: {
    readonly ordered: Ordered
    readonly reason: string
    readonly amountCents: number
    readonly proposalId?: string
  },
): Audit {
  const { ordered, reason, amountCents, proposalId } = facts
  return {
    ...operator,
    action: `case.${step}`,
    subject: id,
    facts: {
      decision: ordered.decision,
      valueCents: amountCents,
      reason,
      operationId,
      ...(proposalId !== undefined && { proposalId }),
    },
  }
}

/** What is answered where nobody else has to approve it, or has approved it. */
export function decidedAnswer(
  outcome: Decided['outcome'],
  { caseId, decision }: Pick<AnyOrder, 'caseId' | 'decision'>,
  effects: Effects | null,
  proposal: { readonly whySecondPerson: string | null; readonly proposalId?: string },
): Decided {
  const { whySecondPerson, proposalId = null } = proposal
  const needsSecondPerson = whySecondPerson !== null || proposalId !== null
  return { outcome, caseId, decision, proposalId, needsSecondPerson, whySecondPerson, effects }
}

/** Whether a case is as it was when something was proposed about it, and who proposed it an operator still. */
export interface Standing {
  readonly version: string
  readonly isClosed: boolean
  /** All operators there ever were, as they are now. */
  readonly people: readonly Person[]
}

/** Why a proposal that nobody has ended cannot be approved any more; `null`: it can. @source rules#desk.42 */
export function whyVoid(
  { caseVersion, operatorId }: Pick<StoredStep, 'caseVersion' | 'operatorId'>,
  { version, isClosed, people }: Standing,
): string | null {
  if (isClosed) return 'the case is closed'
  if (caseVersion !== version) return 'the case changed after it was proposed'
  const isActive = people.some((person) => person.id === operatorId && person.isActive)
  return isActive ? null : 'whoever proposed it was deactivated'
}

/**
 * Who orders is an operator still; the administrative token names nobody who could be deactivated.
 * @throws unauthorized (401)
 * @source rules#desk.45
 */
export function assertOperates({ actor, actorName }: Operator, people: readonly Person[]): void {
  if (actorName !== undefined && !people.some(({ id, isActive }) => id === actor && isActive)) {
    throw new Refusal('unauthorized')
  }
}

/**
 * A second person approves it, who is known by name, and whom neither its proposer made nor somebody whom these made. Whoever
 * made both of them has seen the tokens of both.
 * @throws insufficient_role · approver_not_independent (403)
 * @source rules#desk.41
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

/** A proposal that cannot be approved or refused any more. */
export function isVoid(message: string): Refusal {
  return new Refusal('proposal_void', { message })
}

/** The proposals that can be approved as things are. */
export function openProposals(steps: readonly StoredStep[], standing: Standing): StoredStep[] {
  const ended = new Set(steps.map(({ proposalId }) => proposalId))
  return steps.filter((step) => step.step === 'proposed' && !ended.has(step.id) && whyVoid(step, standing) === null)
}

/** What operators have said of a case, as it is shown. @source rules#desk.38, rules#desk.42 */
export function stepViews(steps: readonly StoredStep[], standing: Standing): StepView[] {
  const ended = new Set(steps.map(({ proposalId }) => proposalId))
  return steps.map((step) => {
    const isPending = step.step === 'proposed' && !ended.has(step.id)
    const because = isPending ? whyVoid(step, standing) : null
    return {
      id: step.id,
      step: step.step,
      proposalId: step.proposalId,
      by: { id: step.operatorId, name: step.operatorName },
      order: step.content,
      amountCents: Number(step.amountCents),
      isOpen: isPending && because === null,
      whyVoid: because,
      at: new Date(step.at).toISOString(),
    }
  })
}
