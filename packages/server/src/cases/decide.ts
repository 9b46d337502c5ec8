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
} from './approval.ts'
import type { CaseDecider, CaseOrder, Prepared, StoredCase } from './case.ts'
import { countedOf, type Effects, weigh } from './effects.ts'
import { closeCase, holdCase, insertStep, readAnswered, readSteps, readStoredCase, type StoredStep } from './store.ts'
import { prepareWithoutOperation, readSubject, type WithoutOperation } from './without-operation.ts'

/** Deciding a case, alone or by two people. Each step leaves a row of the case and one of the audit trail, with what it does or not at all. */

/** Who decides the cases of each kind of operation. */
export type Deciders = Partial<Readonly<Record<OperationKind, CaseDecider>>>

/** What deciding works with. */
export interface CaseNeeds {
  readonly database: Database
  readonly engine: Pick<Engine, 'execute'>
  readonly dryRun: DryRun
  readonly clock: Clock
  readonly ids: Ids
  readonly deciders: Deciders
  readonly withoutOperation: WithoutOperation
  readonly holders: {
    /** All operators there ever were, as they are now. */
    readonly people: () => Promise<readonly Person[]>
    /** How often keys and operators were deactivated: to be read before who holds them. */
    readonly version: () => Promise<bigint>
  }
  /** From which amount on it takes two people, centavos. */
  readonly approvalFromCents: number
}

/** Who says something of which case. */
interface Said {
  readonly caseId: string
  readonly operator: Operator
  readonly bodyHash: Buffer
  readonly live: LiveRequest
}

/** A decision as it is asked for. */
export interface DecisionRequest extends Said {
  readonly ordered: Ordered
  /** Of the case as it was read. */
  readonly version: string
  readonly isDryRun: boolean
  readonly idempotencyKey: string | null
}

/** What is said to a proposal. */
export interface ProposalRequest extends Said {
  readonly proposalId: string
  readonly reason: string
}

/** What an operator notes of a case. */
export interface NoteRequest extends Said {
  readonly text: string
}

/** What a request did, now or when it came before. */
export interface Answered {
  readonly answer: Decided
  readonly isReplayed: boolean
}

/** For how long the same `Idempotency-Key` gets the same answer. */
const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

/**
 * Decides a case, proposes that, or says what it would do.
 * @throws not_found (404) · case_changed · not_possible_in_state (409) · validation_error (400) · idempotency_key_reused (422) ·
 *   insufficient_role (403) it is to be proposed, and nobody is named · unauthorized (401) the operator was deactivated meanwhile
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
    // The same request came twice at once and the other one was first, or what it was decided by is gone.
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
    if (!(error instanceof TakesTwo)) throw error
    return propose(needs, request, error.answer)
  }
}

/** A decision that one person may not make alone. Nothing of it was written. */
class TakesTwo extends Error {
  /** What is answered once it is proposed. */
  readonly answer: Decided

  constructor(answer: Decided) {
    super('the decision takes a second person')
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

/** What the same `Idempotency-Key` was answered. @throws idempotency_key_reused (422) */
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

/** A decision that is carried out, tried out, or approved. */
interface Executed extends Omit<Said, 'caseId'>, Pick<DecisionRequest, 'idempotencyKey' | 'isDryRun' | 'version'> {
  readonly stored: StoredCase
  readonly order: CaseOrder
  /** The proposal that is approved, and how often operators had been deactivated before it was read who they are. */
  readonly approval?: { readonly proposal: StoredStep; readonly reason: string; readonly holdersVersion: bigint }
}

/** The case changed since it was read. */
class CaseMoved extends Error {}

/**
 * Carries a decision out, or tries it out, where the case is as it was read.
 * @throws TakesTwo it is to be proposed
 * @throws case_changed · proposal_void (409) · HoldersChanged, and what the decider refuses
 */
async function execute(needs: CaseNeeds, executed: Executed): Promise<Decided> {
  try {
    return await executeOnce(needs, executed)
  } catch (error) {
    // Who holds tokens changed: whoever approves is looked up again there.
    if (error instanceof HoldersChanged && !executed.approval) return execute(needs, executed)
    if (!(error instanceof CaseMoved)) throw error
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
      // Nobody is to be told of it.
      if (isDryRun) return { ...decision, notifications: [], audits: [], outcome: unmade('dry_run') }
      if (approval) assertProposed(effects, approval.proposal)
      else if (why !== null) throw new TakesTwo(unmade('proposed'))
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

/** What decides a case: the table of its operation, or what it is about. @throws not_possible_in_state (409) nobody decides it here */
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
  const message = 'a case of this operation has no decision'
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

/** The operation of a case as it stands, with its open cases; `undefined` where it has none. */
export async function operationOf(
  database: Database,
  { operationId }: Pick<StoredCase, 'operationId'>,
): Promise<Operation | undefined> {
  return operationId === null ? undefined : (await createReader(database).operations([operationId]))[0]
}

/** What was closed when it was read is refused by its table. @throws CaseMoved */
function assertAsRead({ stored: { id, operationId, closedAt }, version }: Executed, state: State): void {
  const open =
    operationId === null
      ? state.openCase(id)
      : state.operation(operationId)?.openCases?.find((openCase) => openCase.id === id)
  const isAsRead = closedAt === null ? String(open?.version) === version : open === undefined
  if (!isAsRead) throw new CaseMoved()
}

/**
 * How often operators were deactivated before it was read that this one was not.
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

/** What is answered to a decision. */
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

/** Why a proposal was made, and its id. */
function standingFor(proposal: StoredStep) {
  return { whySecondPerson: answerIn(proposal).whySecondPerson, proposalId: proposal.id }
}

function auditOfExecuted({ operator, order, approval, stored }: Executed, amountCents: number): Audit {
  const about = { ordered: order, reason: approval?.reason ?? order.reason, amountCents }
  return approval
    ? auditOf(operator, 'approved', stored, { ...about, proposalId: approval.proposal.id })
    : auditOf(operator, 'decided', stored, about)
}

/** What the audit trail is told of a step. @source rules#cases.37 */
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

/** What was ordered, as JSON. */
function contentOf({ decision, reason, evidence, operationId, amountCents }: Ordered): Document {
  const amount = amountCents === undefined ? {} : { amountCents: Number(amountCents) }
  return { decision, reason, evidence: { ...evidence }, ...(operationId !== undefined && { operationId }), ...amount }
}

/** What a proposal orders. */
function orderedBy({ content }: Pick<StoredStep, 'content'>): Ordered {
  type Kept = Omit<Ordered, 'amountCents'> & { readonly amountCents?: number }
  const { decision, reason, evidence, operationId, amountCents } = content as unknown as Kept
  const amount = amountCents === undefined ? {} : { amountCents: BigInt(amountCents) }
  return { decision, reason, evidence, ...(operationId !== undefined && { operationId }), ...amount }
}

/**
 * Keeps a proposal, unless one that can be approved is there.
 * @throws case_changed · not_possible_in_state (409) · insufficient_role (403) nobody is named
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

/** Whoever deactivates the operator waits until the transaction ends. @throws unauthorized (401) @source rules#cases.45 */
export async function holdOperator(queries: Queries, { actor, actorName }: Operator): Promise<void> {
  if (actorName !== undefined && !(await holdActive(queries, actor))) throw new Refusal('unauthorized')
}

function isProposed(): Refusal {
  const message = 'a decision about this case is proposed already: approve it or refuse it'
  return new Refusal('not_possible_in_state', { message })
}

/**
 * Writes a proposal with its audit row.
 * @returns the answer with its id
 * @throws idempotency_key_reused (422) a decision about another case has the key since
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
 * Does what another person proposed.
 * @throws not_found (404) · proposal_void · not_possible_in_state (409) · insufficient_role · approver_not_independent (403)
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
      // Somebody else ended it meanwhile.
      if (error instanceof Refusal && endOf(await readSteps(database, stored.id), proposal.id)) continue
      throw error instanceof Refusal && error.code === 'case_changed' ? isVoid('the case changed') : error
    }
  }
}

/** A proposal of a case, and how it ended. @throws not_found (404) */
async function proposalOf({ database }: CaseNeeds, { caseId, proposalId }: ProposalRequest) {
  const steps = isUuid(caseId) && isUuid(proposalId) ? await readSteps(database, caseId) : []
  const proposal = steps.find(({ id, step }) => step === 'proposed' && id === proposalId.toLowerCase())
  if (!proposal) throw new Refusal('not_found')
  return { proposal, end: endOf(steps, proposal.id) }
}

function endOf(steps: readonly StoredStep[], id: string): StoredStep | undefined {
  return steps.find(({ proposalId }) => proposalId === id)
}

/** Whoever says the same again is answered as before. @throws proposal_void (409) */
function ended(end: StoredStep, step: StoredStep['step'], { actor }: Operator): Decided {
  if (end.step === step && end.operatorId === actor) return answerIn(end)
  throw isVoid(`the proposal was ${end.step} before`)
}

/** Refuses a proposal, its own proposer too. @throws not_found (404) · proposal_void (409) @source rules#cases.43 */
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
    // The case first, then its step, as an approval does.
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
    // Whoever approves it at this moment is waited for.
    if (!isFirst) return false
    // A request without a proposal waits for nothing.
    if (stored.kind === 'adjustment_requested') await closeCase(queries, stored.id, at)
    const facts = { ordered, reason, amountCents: Number(amountCents), proposalId: proposal.id }
    await insertAudit(queries, { ...auditOf(operator, 'refused', stored, facts), id: ids.uuid(), at })
    return true
  })
  return isKept ? answer : refuse(needs, request)
}

/**
 * Keeps a note of a case. It changes nothing: what is proposed stays so.
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
