import { type CaseDecision, type CaseWithoutOperation, Refusal } from '@pixgate/spec'
import type { Operator } from '../audit/trail.ts'
import type { Document } from '../engine/operation.ts'
import { instantParameter, type Queries, refusableTransaction, statement } from '../platform/db/database.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import type { DecisionInput, StoredCase } from './case.ts'
import { type CaseNeeds, type DecisionResult, refusalOf, replayedAnswer } from './decide.ts'
import { weigh } from './effects.ts'
import { assertNamedOperator, type Decided, whySecondPerson } from './second-person.ts'
import { answerOf, keepProposal, requireActiveOperator } from './steps.ts'
import { abs, prepareWithoutOperation, type RequestedRefund, readSubject } from './without-operation.ts'

/** Adjustments and refunds that need a second person: each is a case with a proposal to execute it. */

interface Identified {
  /** Of the case. */
  readonly id: string
  readonly reason: string
  readonly idempotencyKey: string | null
  readonly bodyHash: Buffer
  readonly live?: LiveRequest | undefined
}

export interface AdjustmentToRequest extends Identified {
  /** Positive: credit; negative: debit. */
  readonly valueCents: bigint
}

export interface RefundToRequest extends Identified, Omit<RequestedRefund, 'reason'> {}

interface Requested extends Identified {
  readonly kind: Extract<CaseWithoutOperation, 'adjustment_requested' | 'refund_requested'>
  /** The proposed decision. */
  readonly decision: CaseDecision
  readonly amountCents: bigint
  /** The move that the decision executes, with its rule. */
  readonly facts: Document & { readonly rule: string }
}

/** Reason for a second person; `null`: none needed. @source rules#adjustment.create.4, rules#console.14 */
export function whyRequestNeedsSecondPerson(
  { approvalFromCents }: Pick<CaseNeeds, 'approvalFromCents'>,
  valueCents: bigint,
): string | null {
  return whySecondPerson(null, Number(abs(valueCents)), approvalFromCents)
}

/**
 * Opens a case with a proposal to book the adjustment.
 * @throws insufficient_balance · idempotency_key_reused (422) · insufficient_role (403) administrative token ·
 * unauthorized (401)
 * @source rules#adjustment.create.4, rules#adjustment.create.5
 */
export function requestAdjustment(needs: CaseNeeds, request: AdjustmentToRequest, operator: Operator) {
  const { valueCents, ...identified } = request
  const rule = 'adjustment.create.4'
  const isCredit = valueCents > 0n
  const requested: Requested = {
    ...identified,
    kind: 'adjustment_requested',
    decision: isCredit ? 'credit' : 'debit',
    amountCents: abs(valueCents),
    facts: { rule, direction: isCredit ? 'in' : 'out', valueCents: Number(abs(valueCents)) },
  }
  return propose(needs, requested, operator)
}

/**
 * Opens a case with a proposal to create the refund, which gets the id of the case.
 * @throws as the refund · idempotency_key_reused (422) · insufficient_role (403) administrative token ·
 * unauthorized (401)
 * @source rules#console.14
 */
export function requestRefund(needs: CaseNeeds, request: RefundToRequest, operator: Operator) {
  const { cashInId, valueCents, externalId, ...identified } = request
  const { reason } = identified
  const requested: Requested = {
    ...identified,
    kind: 'refund_requested',
    decision: 'return_to_payer',
    amountCents: valueCents,
    facts: { rule: 'console.14', cashInId, valueCents: Number(valueCents), reason, externalId },
  }
  return propose(needs, requested, operator)
}

async function propose(needs: CaseNeeds, request: Requested, operator: Operator): Promise<DecisionResult> {
  const before = await replayedAnswer(needs, request)
  if (before) return before
  assertNamedOperator(operator)
  const stored = caseOf(request)
  const order = orderOf(request, operator)
  const answer = await answerFor(needs, request, stored, order)
  const keep = refusableTransaction(needs.database, async (queries): Promise<DecisionResult> => {
    if (request.live) refuseLapsed(request.live)
    await requireActiveOperator(queries, operator)
    const now = await replayedAnswer({ database: queries, clock: needs.clock }, request)
    if (now) return now
    await insertCase(queries, stored, needs.clock.now())
    const proposal = { ...request, ordered: order, operator }
    return { answer: await keepProposal(needs, queries, stored, proposal, answer), isReplayed: false }
  })
  return keep.catch(async (error) => {
    // A concurrent request with the same key came first.
    const now = error instanceof Refusal ? await replayedAnswer(needs, request) : undefined
    if (now) return now
    throw error
  })
}

async function answerFor(
  needs: CaseNeeds,
  { live, amountCents, bodyHash }: Requested,
  stored: StoredCase,
  order: DecisionInput,
): Promise<Decided> {
  const read = await readSubject(needs.database, needs.withoutOperation.events, stored)
  const { command, decide, ...counted } = await prepareWithoutOperation(needs.withoutOperation, read, order)
  const why = whyRequestNeedsSecondPerson(needs, amountCents)
  const answer = needs.dryRun({
    ...command,
    request: live,
    decide: (state, now) => {
      const decision = decide(state, now)
      const { effects } = weigh(decision, state, counted)
      return { ...decision, outcome: answerOf('proposed', order, effects, { whySecondPerson: why }) }
    },
  })
  return answer.catch((error) => {
    throw refusalOf(error, bodyHash)
  })
}

function orderOf({ id: caseId, decision, reason }: Requested, { actor: operatorId }: Operator): DecisionInput {
  return { decision, caseId, operatorId, approverId: null, reason, evidence: {}, newId: caseId }
}

function caseOf({ id, kind, facts, amountCents }: Requested): StoredCase {
  const isOpen = { closedAt: null, version: 1 }
  return { id, kind, reference: id, rule: facts.rule, facts, amountCents, operationId: null, ...isOpen }
}

const insertCaseStatement = statement<
  [id: string, kind: string, reference: string, facts: string, amountCents: string, at: string]
>(
  'cases.insert_requested',
  'INSERT INTO "case" (id, kind, reference, facts, amount_cents, opened_at) VALUES ($1, $2, $3, $4::jsonb, $5, $6)',
)

async function insertCase(
  queries: Queries,
  { id, kind, reference, facts, amountCents }: StoredCase,
  openedAt: number,
): Promise<void> {
  const about = [id, kind, reference, JSON.stringify(facts), String(amountCents)] as const
  await queries.rows(insertCaseStatement, [...about, instantParameter(openedAt)])
}
