import { type LooseDecision, Refusal } from '@pixgate/spec'
import type { Operator } from '../audit/operator.ts'
import { insertAudit } from '../audit/store.ts'
import type { Document } from '../engine/operation.ts'
import { instantParameter, type Queries, refusableTransaction, statement } from '../platform/db/database.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import { type Answered, answered, type DeskNeeds, holdOperator, nobodyNamed } from './commands.ts'
import { weigh } from './effects.ts'
import type { ReadCase } from './loose/index.ts'
import { whySecondPerson } from './second-person.ts'
import { auditOf, contentOf, type Decided, decidedAnswer } from './steps/rules.ts'
import { insertStep } from './steps/store.ts'

/** Adjustments that take a second person: each is a case with a proposal to book it. */

/** An adjustment as it is asked for. */
export interface RequestedAdjustment {
  /** Of the case. */
  readonly id: string
  /** Positive: came in; negative: went out. */
  readonly valueCents: bigint
  readonly reason: string
  readonly idempotencyKey: string | null
  readonly bodyHash: Buffer
  readonly live?: LiveRequest | undefined
}

/** Adjustments, as far as they take a second person. */
export interface AdjustmentDesk {
  /** Whether an adjustment takes a second person. @source rules#adjustment.create.4 */
  needsSecondPerson(valueCents: bigint): boolean
  /** The answer to the same request before. @throws idempotency_key_reused (422) */
  requested(request: Pick<RequestedAdjustment, 'idempotencyKey' | 'bodyHash'>): Promise<Answered | undefined>
  /**
   * Opens a case with a proposal to book the adjustment.
   * @throws insufficient_balance · idempotency_key_reused (422) · insufficient_role (403) nobody is named · unauthorized (401)
   * @source rules#adjustment.create.4, rules#adjustment.create.5
   */
  request(request: RequestedAdjustment, operator: Operator): Promise<Answered>
}

/** Makes it. */
export function createAdjustmentDesk(needs: DeskNeeds): AdjustmentDesk {
  const reasonFor = (valueCents: bigint) => whySecondPerson(null, Number(abs(valueCents)), needs.approvalFromCents)
  return {
    needsSecondPerson: (valueCents) => reasonFor(valueCents) !== null,
    requested: (request) => answered(needs, request),
    request: async (request, operator) => {
      const before = await answered(needs, request)
      if (before) return before
      if (operator.actorName === undefined) throw nobodyNamed()
      const answer = await answerFor(needs, request, reasonFor(request.valueCents))
      try {
        return await proposeAdjustment(needs, request, operator, answer)
      } catch (error) {
        // The same request came twice at once.
        const now = error instanceof Refusal ? await answered(needs, request) : undefined
        if (now) return now
        throw error
      }
    },
  }
}

/** The answer, with what the adjustment would do. */
async function answerFor(needs: DeskNeeds, request: RequestedAdjustment, because: string | null): Promise<Decided> {
  const order = {
    decision: decisionOf(request),
    caseId: request.id,
    operator: '',
    reason: request.reason,
    evidence: {},
  }
  const { looks, decide, ...counted } = await needs.looseDesk.prepare(caseOf(request), order)
  const proposalId = needs.ids.uuid()
  return needs.dryRun({
    ...looks,
    request: request.live,
    decide: (state, now) => {
      const decision = decide(state, now)
      const { effects } = weigh(decision, state, counted)
      const outcome = { ...decidedAnswer('proposed', order, effects, { whySecondPerson: because }), proposalId }
      return { ...decision, outcome }
    },
  })
}

/** Keeps the case and the proposal, both or neither. */
function proposeAdjustment(
  needs: DeskNeeds,
  request: RequestedAdjustment,
  operator: Operator,
  answer: Decided & { readonly proposalId: string | null },
): Promise<Answered> {
  const { id, reason, idempotencyKey, bodyHash, live } = request
  const { clock, ids, looseDesk } = needs
  const proposalId = answer.proposalId ?? ''
  const ordered = { decision: decisionOf(request), reason, evidence: {} }
  return refusableTransaction(needs.database, async (queries) => {
    if (live) refuseLapsed(live)
    await holdOperator(queries, operator)
    const before = await answered({ database: queries, clock }, request)
    if (before) return before
    const at = clock.now()
    await insertCase(queries, request, at)
    const read = await looseDesk.read(id, queries)
    if (!read) throw new Error(`case ${id} was not kept`)
    const isKept = await insertStep(queries, {
      id: proposalId,
      caseId: id,
      step: 'proposed',
      proposalId: null,
      operatorId: operator.actor,
      operatorName: operator.actorName ?? null,
      content: contentOf(ordered),
      caseVersion: read.version,
      amountCents: abs(request.valueCents),
      idempotencyKey,
      bodyHash,
      answer: answer as unknown as Document,
      at,
    })
    if (!isKept) throw new Refusal('idempotency_key_reused')
    const about = { ordered, reason, amountCents: Number(abs(request.valueCents)), proposalId }
    await insertAudit(queries, {
      ...auditOf(operator, 'proposed', { id, operationId: null }, about),
      id: ids.uuid(),
      at,
    })
    return { answer, isReplayed: false }
  })
}

function decisionOf({ valueCents }: Pick<RequestedAdjustment, 'valueCents'>): LooseDecision & ('credit' | 'debit') {
  return valueCents > 0n ? 'credit' : 'debit'
}

/** The case as it will be kept, to tell what its decision would do. */
function caseOf(request: RequestedAdjustment): ReadCase {
  const { id, valueCents } = request
  return {
    id,
    kind: 'adjustment_requested',
    reference: id,
    facts: factsOf(request),
    atStakeCents: abs(valueCents),
    openedAt: 0,
    closedAt: null,
    subject: { is: 'request', cents: valueCents },
    about: id,
    booked: [],
    version: '',
  }
}

function factsOf({ valueCents }: RequestedAdjustment): Document {
  return { rule: 'adjustment.create.4', direction: valueCents > 0n ? 'in' : 'out', valueCents: Number(abs(valueCents)) }
}

function abs(cents: bigint): bigint {
  return cents < 0n ? -cents : cents
}

const insertCaseStatement = statement<[id: string, facts: string, amountCents: string, at: string]>(
  'desk.insert_adjustment_case',
  `INSERT INTO "case" (id, kind, reference, facts, amount_cents, opened_at)
   VALUES ($1::uuid, 'adjustment_requested', $1::uuid::text, $2::jsonb, $3, $4)`,
)

async function insertCase(queries: Queries, request: RequestedAdjustment, openedAt: number): Promise<void> {
  const facts = JSON.stringify(factsOf(request))
  await queries.rows(insertCaseStatement, [
    request.id,
    facts,
    String(abs(request.valueCents)),
    instantParameter(openedAt),
  ])
}
