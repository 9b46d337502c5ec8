import { Refusal } from '@pixgate/spec'
import { lockActiveOperator } from '../access/index.ts'
import { insertAudit, type Operator } from '../audit/trail.ts'
import type { Audit, CaseStep, Document } from '../engine/operation.ts'
import type { Queries } from '../platform/db/database.ts'
import type { DecisionInput, StoredCase } from './case.ts'
import type { CaseNeeds, DecisionRequest, Execution } from './decide.ts'
import type { Effects } from './effects.ts'
import type { Decided, Ordered } from './second-person.ts'
import { insertStep, type StoredStep } from './store.ts'

/** Steps of decisions: their answers, rows of the case and rows of the audit trail. */

export function answerOf(
  outcome: Decided['outcome'],
  { caseId, decision }: Pick<DecisionInput, 'caseId' | 'decision'>,
  effects: Effects | null,
  proposal: { readonly whySecondPerson: string | null; readonly proposalId?: string },
): Decided {
  const { whySecondPerson, proposalId = null } = proposal
  const needsSecondPerson = whySecondPerson !== null || proposalId !== null
  return { outcome, caseId, decision, proposalId, refundId: null, needsSecondPerson, whySecondPerson, effects }
}

export function proposalFields(proposal: StoredStep) {
  return { whySecondPerson: answerIn(proposal).whySecondPerson, proposalId: proposal.id }
}

export function answerIn({ answer }: Pick<StoredStep, 'answer'>): Decided {
  return answer as unknown as Decided
}

export function auditOfExecuted({ operator, order, approval, stored }: Execution, amountCents: number): Audit {
  const about = { ordered: order, reason: approval?.reason ?? order.reason, amountCents }
  return approval
    ? auditOf(operator, 'approved', stored, { ...about, proposalId: approval.proposal.id })
    : auditOf(operator, 'decided', stored, about)
}

/** @source rules#cases.37 */
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
  const { ordered, reason, amountCents: valueCents, proposalId } = facts
  const { decision } = ordered
  return {
    ...operator,
    action: `case.${step}`,
    subject: id,
    facts: { decision, valueCents, reason, operationId, ...(proposalId !== undefined && { proposalId }) },
  }
}

export function stepOf(
  id: string,
  { operator, order, version, approval, idempotencyKey, bodyHash, stored }: Execution,
  answer: Decided,
): CaseStep {
  return {
    ...byOperator(operator),
    id,
    caseId: stored.id,
    step: approval ? 'approved' : 'decided',
    proposalId: approval?.proposal.id ?? null,
    content: approval ? { reason: approval.reason } : contentOf(order),
    caseVersion: version,
    amountCents: BigInt(answer.effects?.amountCents ?? 0),
    idempotencyKey,
    bodyHash,
    answer: answer as unknown as Document,
  }
}

export function byOperator({ actor, actorName }: Operator) {
  return { operatorId: actor, operatorName: actorName ?? null }
}

function contentOf({ decision, reason, evidence, operationId, amountCents }: Ordered): Document {
  const amount = amountCents === undefined ? {} : { amountCents: Number(amountCents) }
  return { decision, reason, evidence: { ...evidence }, ...(operationId !== undefined && { operationId }), ...amount }
}

export function orderedBy({ content }: Pick<StoredStep, 'content'>): Ordered {
  type Kept = Omit<Ordered, 'amountCents'> & { readonly amountCents?: number }
  const { decision, reason, evidence, operationId, amountCents } = content as unknown as Kept
  const amount = amountCents === undefined ? {} : { amountCents: BigInt(amountCents) }
  return { decision, reason, evidence, ...(operationId !== undefined && { operationId }), ...amount }
}

/**
 * Inserts a proposal with its audit row.
 * @returns the answer with the proposal's id
 * @throws idempotency_key_reused (422) the key was used for another case meanwhile
 */
export async function keepProposal(
  { ids, clock }: Pick<CaseNeeds, 'ids' | 'clock'>,
  queries: Queries,
  stored: Pick<StoredCase, 'id' | 'operationId' | 'version'>,
  request: Pick<DecisionRequest, 'ordered' | 'operator' | 'idempotencyKey' | 'bodyHash'>,
  proposalAnswer: Decided,
): Promise<Decided> {
  const { ordered, operator, idempotencyKey, bodyHash } = request
  const [id, at] = [ids.uuid(), clock.now()]
  const answer = { ...proposalAnswer, proposalId: id }
  const amountCents = answer.effects?.amountCents ?? 0
  const isInserted = await insertStep(queries, {
    ...byOperator(operator),
    id,
    caseId: stored.id,
    step: 'proposed',
    proposalId: null,
    content: contentOf(ordered),
    caseVersion: String(stored.version),
    amountCents: BigInt(amountCents),
    idempotencyKey,
    bodyHash,
    answer: answer as unknown as Document,
    at,
  })
  if (!isInserted) throw new Refusal('idempotency_key_reused')
  const audit = auditOf(operator, 'proposed', stored, {
    ordered,
    reason: ordered.reason,
    amountCents,
    proposalId: id,
  })
  await insertAudit(queries, { ...audit, id: ids.uuid(), at })
  return answer
}

/**
 * Locks the operator: a concurrent deactivation waits for the transaction.
 * @throws unauthorized (401)
 * @source rules#cases.45
 */
export async function requireActiveOperator(queries: Queries, { actor, actorName }: Operator): Promise<void> {
  if (actorName !== undefined && !(await lockActiveOperator(queries, actor))) throw new Refusal('unauthorized')
}
