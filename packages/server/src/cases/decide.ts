import { Refusal } from '@pixgate/spec'
import { insertAudit, type Operator } from '../audit/trail.ts'
import type { DryRun } from '../engine/dry-run.ts'
import type { Engine } from '../engine/engine.ts'
import type { Audit, CaseStep, Document, Operation, OperationKind, State } from '../engine/operation.ts'
import { createReader } from '../engine/reader.ts'
import { HoldersChanged, holdActive, type Person } from '../operators/index.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, type Queries, refusableTransaction } from '../platform/db/database.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import type { CaseDecider, CaseOrder, Prepared, StoredCase } from './case.ts'
import { countedOf, type Effects, weigh } from './effects.ts'
import {
  assertMayApprove,
  assertNamedOperator,
  assertOperates,
  type Decided,
  isVoid,
  type Ordered,
  pendingProposals,
  whySecondPerson,
  whyVoid,
} from './second-person.ts'
import { closeCase, holdCase, insertStep, readAnswered, readSteps, readStoredCase, type StoredStep } from './store.ts'
import { prepareWithoutOperation, readSubject, type WithoutOperation } from './without-operation.ts'

/**
 * Decides cases, by one or two people. Each step commits its effects with a row of the case and one of the audit trail.
 */

export type Deciders = Partial<Readonly<Record<OperationKind, CaseDecider>>>

export interface CaseNeeds {
  readonly database: Database
  readonly engine: Pick<Engine, 'execute'>
  readonly dryRun: DryRun
  readonly clock: Clock
  readonly ids: Ids
  readonly deciders: Deciders
  readonly withoutOperation: WithoutOperation
  readonly holders: {
    /** All operators, active or not. */
    readonly people: () => Promise<readonly Person[]>
    /** Counter of deactivations; read it before the holders. */
    readonly version: () => Promise<bigint>
  }
  readonly approvalFromCents: number
}

interface Said {
  readonly caseId: string
  readonly operator: Operator
  readonly bodyHash: Buffer
  readonly live: LiveRequest
}

export interface DecisionRequest extends Said {
  readonly ordered: Ordered
  /** Version of the case that the operator saw. */
  readonly version: string
  readonly isDryRun: boolean
  readonly idempotencyKey: string | null
}

export interface ProposalRequest extends Said {
  readonly proposalId: string
  readonly reason: string
}

export interface NoteRequest extends Said {
  readonly text: string
}

export interface Answered {
  readonly answer: Decided
  readonly isReplayed: boolean
}

const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

/**
 * Decides a case, proposes the decision, or reports its effects.
 * @throws not_found (404) · case_changed · not_possible_in_state (409) · validation_error (400) ·
 * idempotency_key_reused (422) · insufficient_role (403) a proposal with the administrative token · unauthorized (401)
 * the operator was deactivated meanwhile
 * @source rules#cases.35, rules#cases.36, rules#cases.37, rules#cases.39, rules#cases.40
 */
export async function decide(needs: CaseNeeds, request: DecisionRequest): Promise<Answered> {
  const asked = request.isDryRun ? { ...request, idempotencyKey: null } : request
  const before = await answered(needs, asked)
  if (before) return before
  try {
    return await decideAnew(needs, asked)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // A concurrent request with the same key came first, or the case changed.
    const now = await answered(needs, asked)
    if (now) return now
    const current = await caseOf(needs.database, request.caseId)
    throw current && String(current.version) !== request.version ? new Refusal('case_changed') : error
  }
}

async function decideAnew(needs: CaseNeeds, request: DecisionRequest): Promise<Answered> {
  const { ordered, version, operator } = request
  const stored = await existing(needs.database, request.caseId)
  if (String(stored.version) !== version) throw new Refusal('case_changed')
  const newId = needs.ids.uuid()
  const order: CaseOrder = { ...ordered, caseId: stored.id, operator: operator.actor, approver: null, newId }
  try {
    return { answer: await execute(needs, { ...request, stored, order }), isReplayed: false }
  } catch (error) {
    if (!(error instanceof SecondPersonRequired)) throw error
    return propose(needs, request, error.answer)
  }
}

/** The decision needs a second person. Nothing was written. */
class SecondPersonRequired extends Error {
  /** Answer once it is proposed. */
  readonly answer: Decided

  constructor(answer: Decided) {
    super('the decision needs a second person')
    this.answer = answer
  }
}

async function caseOf(queries: Queries, caseId: string): Promise<StoredCase | undefined> {
  return isUuid(caseId) ? readStoredCase(queries, caseId) : undefined
}

/** @throws not_found (404) */
async function existing(queries: Queries, caseId: string): Promise<StoredCase> {
  const stored = await caseOf(queries, caseId)
  if (!stored) throw new Refusal('not_found')
  return stored
}

/**
 * The answer of an earlier request with the same key.
 * @throws idempotency_key_reused (422)
 */
export async function answered(
  { database, clock }: Pick<CaseNeeds, 'clock'> & { readonly database: Queries },
  { idempotencyKey, bodyHash }: Pick<DecisionRequest, 'idempotencyKey' | 'bodyHash'>,
): Promise<Answered | undefined> {
  if (idempotencyKey === null) return undefined
  const step = await readAnswered(database, idempotencyKey, clock.now() - IDEMPOTENCY_MS)
  if (!step) return undefined
  if (!step.bodyHash.equals(bodyHash)) throw new Refusal('idempotency_key_reused')
  return { answer: answerIn(step), isReplayed: true }
}

function answerIn({ answer }: Pick<StoredStep, 'answer'>): Decided {
  return answer as unknown as Decided
}

interface Executed extends Omit<Said, 'caseId'>, Pick<DecisionRequest, 'idempotencyKey' | 'isDryRun' | 'version'> {
  readonly stored: StoredCase
  readonly order: CaseOrder
  /** The approved proposal, and the counter of deactivations read before the operators. */
  readonly approval?: { readonly proposal: StoredStep; readonly reason: string; readonly holdersVersion: bigint }
}

class CaseChanged extends Error {}

/**
 * Executes a decision or dry run, if the case is unchanged.
 * @throws SecondPersonRequired · HoldersChanged · case_changed · proposal_void (409) · as the decider
 */
async function execute(needs: CaseNeeds, executed: Executed): Promise<Decided> {
  try {
    return await executeOnce(needs, executed)
  } catch (error) {
    // Only an approval has to read the operators again itself.
    if (error instanceof HoldersChanged && !executed.approval) return execute(needs, executed)
    if (!(error instanceof CaseChanged)) throw error
    throw executed.approval ? isVoid('the case changed after it was proposed') : new Refusal('case_changed')
  }
}

async function executeOnce(needs: CaseNeeds, executed: Executed): Promise<Decided> {
  const { stored, order, approval, live, isDryRun } = executed
  const id = needs.ids.uuid()
  const { looks, decide: decideIt, isShort, ...counted } = await prepare(needs, stored, order)
  const holdersVersion = approval?.holdersVersion ?? (await versionOfHolders(needs, executed.operator))
  return (isDryRun ? needs.dryRun : needs.engine.execute)<Decided>({
    ...looks,
    controls: [...(looks.controls ?? []), 'holders'],
    request: live,
    decide: (state, now) => {
      if (state.versionOf('holders') !== holdersVersion) throw new HoldersChanged()
      assertAsRead(executed, state)
      const decision = decideIt(state, now)
      const { effects, amountCents } = weigh(decision, state, counted)
      const why = whySecondPerson(order.decision, amountCents, needs.approvalFromCents, isShort)
      const unmade = (outcome: 'dry_run' | 'proposed') => answerOf(outcome, order, effects, { whySecondPerson: why })
      // A dry run notifies nobody and writes no audit row.
      if (isDryRun) return { ...decision, notifications: [], audits: [], outcome: unmade('dry_run') }
      if (approval) assertProposed(effects, approval.proposal)
      else if (why !== null) throw new SecondPersonRequired(unmade('proposed'))
      const refundId = decision.creates?.find(({ operation: { kind } }) => kind === 'refund_in')?.operation.id ?? null
      const standing = approval ? standingFor(approval.proposal) : { whySecondPerson: null }
      const answer = { ...answerOf(approval ? 'approved' : 'decided', order, effects, standing), refundId }
      return {
        ...decision,
        audits: [...(decision.audits ?? []), auditOfExecuted(executed, effects.amountCents)],
        caseSteps: [stepOf(id, executed, answer)],
        outcome: answer,
      }
    },
  })
}

/**
 * Prepares the decision by the operation's table, or by the case's subject.
 * @throws not_possible_in_state (409) no decider
 */
async function prepare(
  needs: CaseNeeds,
  stored: StoredCase,
  order: CaseOrder,
): Promise<Prepared & { readonly isShort: boolean }> {
  if (stored.operationId === null) {
    const read = await readSubject(needs.database, needs.withoutOperation.events, stored)
    return { ...(await prepareWithoutOperation(needs.withoutOperation, read, order)), isShort: false }
  }
  const operation = await operationOf(needs.database, stored)
  const decider = operation && needs.deciders[operation.kind]
  const message = 'cases of this operation cannot be decided'
  if (!operation || !decider) throw new Refusal('not_possible_in_state', { message })
  const handed = await decider.handOver?.(operation, stored, order)
  return {
    looks: decider.looks(operation, stored, order, handed),
    decide: (state, now) =>
      decider.decide(state.operation(operation.id) ?? operation, stored, order, state, now, handed),
    ...countedOf(order.decision, order.amountCents ?? stored.amountCents),
    isShort: order.decision === 'accept' && (order.amountCents ?? 0n) < operation.valueCents,
  }
}

/** The operation with its open cases; `undefined` for a case without one. */
export async function operationOf(
  database: Database,
  { operationId }: Pick<StoredCase, 'operationId'>,
): Promise<Operation | undefined> {
  return operationId === null ? undefined : (await createReader(database).operations([operationId]))[0]
}

/**
 * A case closed at the read is refused by its table.
 * @throws CaseChanged
 */
function assertAsRead({ stored: { id, operationId, closedAt }, version }: Executed, state: State): void {
  const open =
    operationId === null
      ? state.openCase(id)
      : state.operation(operationId)?.openCases?.find((openCase) => openCase.id === id)
  const isAsRead = closedAt === null ? String(open?.version) === version : open === undefined
  if (!isAsRead) throw new CaseChanged()
}

/**
 * Counter of deactivations, read before the operator was seen active.
 * @throws unauthorized (401)
 * @source rules#cases.45
 */
async function versionOfHolders({ holders }: CaseNeeds, operator: Operator): Promise<bigint> {
  const version = await holders.version()
  assertOperates(operator, await holders.people())
  return version
}

/** Nothing else is booked than was proposed, and no more of it. @source rules#cases.39, rules#cases.41 */
function assertProposed(effects: Effects, proposal: StoredStep): void {
  if (effects.amountCents > Number(proposal.amountCents)) throw isVoid('it would move more than was proposed')
  if (journalsIn(effects) !== journalsIn(answerIn(proposal).effects)) throw isVoid('it would book something else')
}

/** Debts are repaid by whatever is credited: they belong to no decision. */
function journalsIn(effects: Effects | null): string {
  const kinds = effects?.journals.map(({ journal }) => journal).filter((journal) => journal !== 'debt_recovered')
  return (kinds ?? []).toSorted().join(' ')
}

export function answerOf(
  outcome: Decided['outcome'],
  { caseId, decision }: Pick<CaseOrder, 'caseId' | 'decision'>,
  effects: Effects | null,
  proposal: { readonly whySecondPerson: string | null; readonly proposalId?: string },
): Decided {
  const { whySecondPerson: why, proposalId = null } = proposal
  const needsSecondPerson = why !== null || proposalId !== null
  return { outcome, caseId, decision, proposalId, refundId: null, needsSecondPerson, whySecondPerson: why, effects }
}

function standingFor(proposal: StoredStep) {
  return { whySecondPerson: answerIn(proposal).whySecondPerson, proposalId: proposal.id }
}

function auditOfExecuted({ operator, order, approval, stored }: Executed, amountCents: number): Audit {
  const about = { ordered: order, reason: approval?.reason ?? order.reason, amountCents }
  return approval
    ? auditOf(operator, 'approved', stored, { ...about, proposalId: approval.proposal.id })
    : auditOf(operator, 'decided', stored, about)
}

/** @source rules#cases.37 */
function auditOf(
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

function stepOf(
  id: string,
  { operator, order, version, approval, idempotencyKey, bodyHash, stored }: Executed,
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

function byOperator({ actor, actorName }: Operator) {
  return { operatorId: actor, operatorName: actorName ?? null }
}

function contentOf({ decision, reason, evidence, operationId, amountCents }: Ordered): Document {
  const amount = amountCents === undefined ? {} : { amountCents: Number(amountCents) }
  return { decision, reason, evidence: { ...evidence }, ...(operationId !== undefined && { operationId }), ...amount }
}

function orderedBy({ content }: Pick<StoredStep, 'content'>): Ordered {
  type Kept = Omit<Ordered, 'amountCents'> & { readonly amountCents?: number }
  const { decision, reason, evidence, operationId, amountCents } = content as unknown as Kept
  const amount = amountCents === undefined ? {} : { amountCents: BigInt(amountCents) }
  return { decision, reason, evidence, ...(operationId !== undefined && { operationId }), ...amount }
}

/**
 * Stores a proposal, unless a valid one is pending.
 * @throws case_changed · not_possible_in_state (409) · insufficient_role (403) administrative token
 * @source rules#cases.40
 */
async function propose(needs: CaseNeeds, request: DecisionRequest, answer: Decided): Promise<Answered> {
  const { operator, version, live, caseId } = request
  assertNamedOperator(operator)
  const people = await needs.holders.people()
  return refusableTransaction(needs.database, async (queries) => {
    refuseLapsed(live)
    await holdOperator(queries, operator)
    const stored = await holdCase(queries, caseId)
    const before = await answered({ database: queries, clock: needs.clock }, request)
    if (before) return before
    if (!stored || stored.closedAt !== null || String(stored.version) !== version) throw new Refusal('case_changed')
    const standing = { version: stored.version, isClosed: false, people }
    const pending = pendingProposals(await readSteps(queries, caseId), standing)
    if ([...pending.values()].includes(null)) throw isProposed()
    return { answer: await keepProposal(needs, queries, stored, request, answer), isReplayed: false }
  })
}

/**
 * Locks the operator: a concurrent deactivation waits for the transaction.
 * @throws unauthorized (401)
 * @source rules#cases.45
 */
export async function holdOperator(queries: Queries, { actor, actorName }: Operator): Promise<void> {
  if (actorName !== undefined && !(await holdActive(queries, actor))) throw new Refusal('unauthorized')
}

function isProposed(): Refusal {
  const message = 'a decision about this case is already proposed: approve or refuse it'
  return new Refusal('not_possible_in_state', { message })
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
  unmade: Decided,
): Promise<Decided> {
  const { ordered, operator, idempotencyKey, bodyHash } = request
  const [id, at] = [ids.uuid(), clock.now()]
  const answer = { ...unmade, proposalId: id }
  const amountCents = answer.effects?.amountCents ?? 0
  const isKept = await insertStep(queries, {
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
  if (!isKept) throw new Refusal('idempotency_key_reused')
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
 * Approves another person's proposal, and executes it.
 * @throws not_found (404) · proposal_void · not_possible_in_state (409) · insufficient_role · approver_not_independent
 * (403)
 * @source rules#cases.41, rules#cases.42
 */
export async function approve(needs: CaseNeeds, request: ProposalRequest): Promise<Decided> {
  const { holders, database } = needs
  const { operator, reason } = request
  for (;;) {
    const holdersVersion = await holders.version()
    const people = await holders.people()
    const stored = await existing(database, request.caseId)
    const { proposal, end } = await proposalOf(needs, request)
    if (end) return ended(end, 'approved', operator)
    assertMayApprove(operator, proposal, people)
    const because = whyVoid(proposal, { version: stored.version, isClosed: stored.closedAt !== null, people })
    if (because !== null) throw isVoid(because)
    const by = { operator: proposal.operatorId, approver: operator.actor }
    const order = { ...orderedBy(proposal), ...by, caseId: stored.id, newId: needs.ids.uuid() }
    const executed = { ...request, stored, order, version: proposal.caseVersion, idempotencyKey: null, isDryRun: false }
    try {
      return await execute(needs, { ...executed, approval: { proposal, reason, holdersVersion } })
    } catch (error) {
      if (error instanceof HoldersChanged) continue
      // Ended by somebody else meanwhile.
      if (error instanceof Refusal && endOf(await readSteps(database, stored.id), proposal.id)) continue
      throw error instanceof Refusal && error.code === 'case_changed' ? isVoid('the case changed') : error
    }
  }
}

/** A proposal and its end. @throws not_found (404) */
async function proposalOf({ database }: CaseNeeds, { caseId, proposalId }: ProposalRequest) {
  const steps = isUuid(caseId) && isUuid(proposalId) ? await readSteps(database, caseId) : []
  const proposal = steps.find(({ id, step }) => step === 'proposed' && id === proposalId.toLowerCase())
  if (!proposal) throw new Refusal('not_found')
  return { proposal, end: endOf(steps, proposal.id) }
}

function endOf(steps: readonly StoredStep[], id: string): StoredStep | undefined {
  return steps.find(({ proposalId }) => proposalId === id)
}

/** Repeats the answer to the operator who ended it the same way. @throws proposal_void (409) */
function ended(end: StoredStep, step: StoredStep['step'], { actor }: Operator): Decided {
  if (end.step === step && end.operatorId === actor) return answerIn(end)
  throw isVoid(`the proposal was already ${end.step}`)
}

/**
 * Refuses a proposal; its proposer may do so, too.
 * @throws not_found (404) · proposal_void (409)
 * @source rules#cases.43
 */
export async function refuse(needs: CaseNeeds, request: ProposalRequest): Promise<Decided> {
  const { database, clock, ids } = needs
  const { operator, reason, bodyHash, live } = request
  const stored = await existing(database, request.caseId)
  const { proposal, end } = await proposalOf(needs, request)
  if (end) return ended(end, 'refused', operator)
  const ordered = orderedBy(proposal)
  const answer = answerOf('refused', { ...ordered, caseId: stored.id }, null, standingFor(proposal))
  const isKept = await refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    await holdOperator(queries, operator)
    // Locks the case before inserting the step, in the order of an approval.
    await holdCase(queries, stored.id)
    const at = clock.now()
    const { caseVersion, amountCents } = proposal
    const isFirst = await insertStep(queries, {
      ...byOperator(operator),
      id: ids.uuid(),
      caseId: stored.id,
      step: 'refused',
      proposalId: proposal.id,
      content: { reason },
      caseVersion,
      amountCents,
      idempotencyKey: null,
      bodyHash,
      answer: answer as unknown as Document,
      at,
    })
    // The insert waits for a concurrent approval.
    if (!isFirst) return false
    // A requested adjustment without a proposal has no purpose.
    if (stored.kind === 'adjustment_requested') await closeCase(queries, stored.id, at)
    const facts = { ordered, reason, amountCents: Number(amountCents), proposalId: proposal.id }
    await insertAudit(queries, { ...auditOf(operator, 'refused', stored, facts), id: ids.uuid(), at })
    return true
  })
  return isKept ? answer : refuse(needs, request)
}

/**
 * Adds a note to a case, which changes nothing else.
 * @throws not_found (404) · unauthorized (401)
 * @source rules#cases.62
 */
export function note(needs: CaseNeeds, { caseId, text, operator, bodyHash, live }: NoteRequest) {
  const { database, clock, ids } = needs
  return refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    await holdOperator(queries, operator)
    const stored = await existing(queries, caseId)
    const [id, at] = [ids.uuid(), clock.now()]
    await insertStep(queries, {
      ...byOperator(operator),
      id,
      caseId: stored.id,
      step: 'noted',
      proposalId: null,
      content: { text },
      caseVersion: String(stored.version),
      amountCents: 0n,
      idempotencyKey: null,
      bodyHash,
      answer: {},
      at,
    })
    const facts = { operationId: stored.operationId }
    await insertAudit(queries, { ...operator, action: 'case.noted', subject: stored.id, facts, id: ids.uuid(), at })
    return { id, at: new Date(at).toISOString() }
  })
}
