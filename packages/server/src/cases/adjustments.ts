import { Refusal } from '@pixgate/spec'
import type { Operator } from '../audit/trail.ts'
import type { Document } from '../engine/operation.ts'
import { instantParameter, type Queries, refusableTransaction, statement } from '../platform/db/database.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import type { DecisionInput } from './case.ts'
import { type CaseNeeds, type DecisionResult, replayedAnswer } from './decide.ts'
import { weigh } from './effects.ts'
import { assertNamedOperator, type Decided, whySecondPerson } from './second-person.ts'
import { answerOf, keepProposal, requireActiveOperator } from './steps.ts'
import { abs, prepareWithoutOperation, type ReadCase } from './without-operation.ts'

/** Adjustments that need a second person: each is a case with a proposal to book it. */

export interface RequestedAdjustment {
  readonly id: string
  /** Positive: credit; negative: debit. */
  readonly valueCents: bigint
  readonly reason: string
  readonly idempotencyKey: string | null
  readonly bodyHash: Buffer
  readonly live?: LiveRequest | undefined
}

/** Reason for a second person; `null`: none needed. @source rules#adjustment.create.4 */
export function whyAdjustmentNeedsSecondPerson(
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
export async function requestAdjustment(
  needs: CaseNeeds,
  request: RequestedAdjustment,
  operator: Operator,
): Promise<DecisionResult> {
  const before = await replayedAnswer(needs, request)
  if (before) return before
  assertNamedOperator(operator)
  const read = caseOf(request)
  const order = orderOf(request)
  const answer = await answerFor(needs, request, read, order)
  const keep = refusableTransaction(needs.database, async (queries): Promise<DecisionResult> => {
    if (request.live) refuseLapsed(request.live)
    await requireActiveOperator(queries, operator)
    const now = await replayedAnswer({ database: queries, clock: needs.clock }, request)
    if (now) return now
    await insertCase(queries, read, needs.clock.now())
    const proposal = { ...request, ordered: order, operator }
    const stored = { ...read, operationId: null }
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
  { live, valueCents }: RequestedAdjustment,
  read: ReadCase,
  order: DecisionInput,
): Promise<Decided> {
  const { command, decide, ...counted } = await prepareWithoutOperation(needs.withoutOperation, read, order)
  const why = whyAdjustmentNeedsSecondPerson(needs, valueCents)
  return needs.dryRun({
    ...command,
    request: live,
    decide: (state, now) => {
      const decision = decide(state, now)
      const { effects } = weigh(decision, state, counted)
      return { ...decision, outcome: answerOf('proposed', order, effects, { whySecondPerson: why }) }
    },
  })
}

function orderOf({ id: caseId, valueCents, reason }: RequestedAdjustment): DecisionInput {
  const decision = valueCents > 0n ? 'credit' : 'debit'
  return { decision, caseId, operatorId: '', approverId: null, reason, evidence: {}, newId: caseId }
}

function caseOf({ id, valueCents }: RequestedAdjustment): ReadCase {
  const rule = 'adjustment.create.4'
  return {
    id,
    kind: 'adjustment_requested',
    reference: id,
    rule,
    facts: { rule, direction: valueCents > 0n ? 'in' : 'out', valueCents: Number(abs(valueCents)) },
    amountCents: abs(valueCents),
    closedAt: null,
    version: 1,
    subject: { is: 'request', cents: valueCents },
    about: id,
    booked: [],
  }
}

const insertCaseStatement = statement<
  [id: string, kind: string, reference: string, facts: string, amountCents: string, at: string]
>(
  'cases.insert_adjustment',
  'INSERT INTO "case" (id, kind, reference, facts, amount_cents, opened_at) VALUES ($1, $2, $3, $4::jsonb, $5, $6)',
)

async function insertCase(
  queries: Queries,
  { id, kind, reference, facts, amountCents }: ReadCase & { readonly facts: Document },
  openedAt: number,
): Promise<void> {
  const about = [id, kind, reference, JSON.stringify(facts), String(amountCents)] as const
  await queries.rows(insertCaseStatement, [...about, instantParameter(openedAt)])
}
