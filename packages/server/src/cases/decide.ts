import { Refusal } from '@pixgate/spec'
import { HoldersChanged, type Person } from '../access/index.ts'
import { insertAudit, type Operator } from '../audit/trail.ts'
import { ExternalIdTaken } from '../engine/batch.ts'
import type { DryRun } from '../engine/dry-run.ts'
import type { Engine } from '../engine/engine.ts'
import type { Document, Operation, OperationKind, State } from '../engine/operation.ts'
import { createReader } from '../engine/reader.ts'
import { duplicateOf } from '../operations/requests.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, type Queries, refusableTransaction } from '../platform/db/database.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import type { CaseDecider, DecisionInput, Prepared, StoredCase } from './case.ts'
import { countedOf, type Effects, weigh } from './effects.ts'
import {
  assertMayApprove,
  assertNamedOperator,
  assertOperates,
  type Decided,
  type Ordered,
  pendingProposals,
  proposalVoid,
  whySecondPerson,
  whyVoid,
} from './second-person.ts'
import {
  answerIn,
  answerOf,
  auditOf,
  auditOfExecuted,
  byOperator,
  keepProposal,
  orderedBy,
  proposalFields,
  requireActiveOperator,
  stepOf,
} from './steps.ts'
import { closeCase, insertStep, lockCase, readAnswered, readSteps, readStoredCase, type StoredStep } from './store.ts'
import { isRequest, prepareWithoutOperation, readSubject, type WithoutOperation } from './without-operation.ts'

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
  readonly operators: {
    /** All operators, active or not. */
    readonly people: () => Promise<readonly Person[]>
    /** Counter of deactivations of keys and operators; read it before the operators. */
    readonly deactivations: () => Promise<bigint>
  }
  readonly approvalFromCents: number
  /** Called after the commit of a decision that ordered a refund. */
  readonly onRefundOrdered?: () => void
}

interface CaseRequest {
  readonly caseId: string
  readonly operator: Operator
  readonly bodyHash: Buffer
  readonly live: LiveRequest
}

export interface DecisionRequest extends CaseRequest {
  readonly ordered: Ordered
  /** Version of the case that the operator saw. */
  readonly version: string
  readonly isDryRun: boolean
  readonly idempotencyKey: string | null
}

export interface ProposalRequest extends CaseRequest {
  readonly proposalId: string
  readonly reason: string
}

export interface NoteRequest extends CaseRequest {
  readonly text: string
}

export interface DecisionResult {
  readonly answer: Decided
  readonly isReplayed: boolean
}

export interface Execution
  extends Omit<CaseRequest, 'caseId'>,
    Pick<DecisionRequest, 'idempotencyKey' | 'isDryRun' | 'version'> {
  readonly stored: StoredCase
  readonly order: DecisionInput
  /** The approved proposal, and the counter of deactivations read before the operators. */
  readonly approval?: { readonly proposal: StoredStep; readonly reason: string; readonly deactivations: bigint }
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

/** The case changed since it was read. Nothing was written. */
class CaseChanged extends Error {}

const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

/**
 * Decides a case, proposes the decision, or reports its effects.
 * @throws not_found (404) · case_changed · not_possible_in_state (409) · validation_error (400) ·
 * idempotency_key_reused (422) · insufficient_role (403) a proposal with the administrative token · unauthorized (401)
 * the operator was deactivated meanwhile
 * @source rules#cases.35, rules#cases.36, rules#cases.37, rules#cases.39, rules#cases.40
 */
export async function decide(needs: CaseNeeds, request: DecisionRequest): Promise<DecisionResult> {
  // A dry run is never replayed and uses no key.
  const effective = request.isDryRun ? { ...request, idempotencyKey: null } : request
  const before = await replayedAnswer(needs, effective)
  if (before) return before
  try {
    return await decideOrPropose(needs, effective)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // The refusal may only reflect a concurrent request: replay its answer, or report the changed case.
    const now = await replayedAnswer(needs, effective)
    if (now) return now
    const current = await findCase(needs.database, request.caseId)
    throw current && String(current.version) !== request.version ? new Refusal('case_changed') : error
  }
}

async function decideOrPropose(needs: CaseNeeds, request: DecisionRequest): Promise<DecisionResult> {
  const { ordered, version, operator } = request
  const stored = await requireCase(needs.database, request.caseId)
  if (String(stored.version) !== version) throw new Refusal('case_changed')
  const newId = needs.ids.uuid()
  const order: DecisionInput = { ...ordered, caseId: stored.id, operatorId: operator.actor, approverId: null, newId }
  try {
    return { answer: await execute(needs, { ...request, stored, order }), isReplayed: false }
  } catch (error) {
    if (!(error instanceof SecondPersonRequired)) throw error
    return propose(needs, request, error.answer)
  }
}

async function findCase(queries: Queries, caseId: string): Promise<StoredCase | undefined> {
  return isUuid(caseId) ? readStoredCase(queries, caseId) : undefined
}

/** @throws not_found (404) */
async function requireCase(queries: Queries, caseId: string): Promise<StoredCase> {
  const stored = await findCase(queries, caseId)
  if (!stored) throw new Refusal('not_found')
  return stored
}

/**
 * The answer of an earlier request with the same key.
 * @throws idempotency_key_reused (422)
 */
export async function replayedAnswer(
  { database, clock }: Pick<CaseNeeds, 'clock'> & { readonly database: Queries },
  { idempotencyKey, bodyHash }: Pick<DecisionRequest, 'idempotencyKey' | 'bodyHash'>,
): Promise<DecisionResult | undefined> {
  if (idempotencyKey === null) return undefined
  const step = await readAnswered(database, idempotencyKey, clock.now() - IDEMPOTENCY_MS)
  if (!step) return undefined
  if (!step.bodyHash.equals(bodyHash)) throw new Refusal('idempotency_key_reused')
  return { answer: answerIn(step), isReplayed: true }
}

/**
 * Executes a decision or dry run, if the case is unchanged.
 * @throws SecondPersonRequired · HoldersChanged · case_changed · proposal_void (409) · as the decider
 */
async function execute(needs: CaseNeeds, execution: Execution): Promise<Decided> {
  try {
    const answer = await executeOnce(needs, execution)
    if (answer.refundId !== null) needs.onRefundOrdered?.()
    return answer
  } catch (error) {
    // Only an approval has to read the operators again itself.
    if (error instanceof HoldersChanged && !execution.approval) return execute(needs, execution)
    const { approval, bodyHash } = execution
    if (!(error instanceof CaseChanged)) throw refusalOf(error, approval?.proposal.bodyHash ?? bodyHash)
    throw approval ? proposalVoid('the case changed after it was proposed') : new Refusal('case_changed')
  }
}

async function executeOnce(needs: CaseNeeds, execution: Execution): Promise<Decided> {
  const { stored, order, approval, live, isDryRun } = execution
  const id = needs.ids.uuid()
  const { command, decide: decideCase, isBelowCharge, ...counted } = await prepare(needs, stored, order)
  const deactivations = approval?.deactivations ?? (await deactivationsIfActive(needs, execution.operator))
  return (isDryRun ? needs.dryRun : needs.engine.execute)<Decided>({
    ...command,
    controls: [...(command.controls ?? []), 'holders'],
    request: live,
    decide: (state, now) => {
      if (state.versionOf('holders') !== deactivations) throw new HoldersChanged()
      assertUnchanged(execution, state)
      const decision = decideCase(state, now)
      const { effects, amountCents } = weigh(decision, state, counted)
      const secondPersonReason = whySecondPerson(order.decision, amountCents, needs.approvalFromCents, isBelowCharge)
      const answerWithoutExecution = (outcome: 'dry_run' | 'proposed') =>
        answerOf(outcome, order, effects, { whySecondPerson: secondPersonReason })
      // A dry run sends no notification and writes no audit row.
      if (isDryRun) return { ...decision, notifications: [], audits: [], outcome: answerWithoutExecution('dry_run') }
      if (approval) assertProposed(effects, approval.proposal)
      else if (secondPersonReason !== null) throw new SecondPersonRequired(answerWithoutExecution('proposed'))
      const refundId = decision.creates?.find(({ operation: { kind } }) => kind === 'refund_in')?.operation.id ?? null
      const proposalPart = approval ? proposalFields(approval.proposal) : { whySecondPerson: null }
      const answer = { ...answerOf(approval ? 'approved' : 'decided', order, effects, proposalPart), refundId }
      return {
        ...decision,
        audits: [...(decision.audits ?? []), auditOfExecuted(execution, effects.amountCents)],
        caseSteps: [stepOf(id, execution, answer)],
        outcome: answer,
      }
    },
  })
}

/** The external id of a requested refund may be taken meanwhile. */
export function refusalOf(error: unknown, bodyHash: Buffer): unknown {
  return error instanceof ExternalIdTaken ? duplicateOf(error, { bodyHash }, 'externalId') : error
}

/**
 * Prepares the decision by the operation's table, or by the case's subject.
 * @throws not_possible_in_state (409) no decider
 */
async function prepare(
  needs: CaseNeeds,
  stored: StoredCase,
  order: DecisionInput,
): Promise<Prepared & { readonly isBelowCharge: boolean }> {
  if (stored.operationId === null) {
    const read = await readSubject(needs.database, needs.withoutOperation.events, stored)
    return { ...(await prepareWithoutOperation(needs.withoutOperation, read, order)), isBelowCharge: false }
  }
  const operation = await operationOf(needs.database, stored)
  const decider = operation && needs.deciders[operation.kind]
  const message = 'cases of this operation cannot be decided'
  if (!operation || !decider) throw new Refusal('not_possible_in_state', { message })
  const handed = await decider.handOver?.(operation, stored, order)
  return {
    command: decider.readsFor(operation, stored, order, handed),
    decide: (state, now) =>
      decider.decide(state.operation(operation.id) ?? operation, stored, order, state, now, handed),
    ...countedOf(order, order.amountCents ?? stored.amountCents),
    // `accept` without an amount is refused by the decider.
    isBelowCharge: order.decision === 'accept' && (order.amountCents ?? 0n) < operation.valueCents,
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
 * Refuses a case that changed since it was read. A case that was already closed then is refused by its table.
 * @throws CaseChanged
 */
function assertUnchanged({ stored: { id, operationId, closedAt }, version }: Execution, state: State): void {
  const open =
    operationId === null
      ? state.openCase(id)
      : state.operation(operationId)?.openCases?.find((openCase) => openCase.id === id)
  const isUnchanged = closedAt === null ? String(open?.version) === version : open === undefined
  if (!isUnchanged) throw new CaseChanged()
}

/**
 * Counter of deactivations, read before the operator was seen active.
 * @throws unauthorized (401)
 * @source rules#cases.45
 */
async function deactivationsIfActive({ operators }: CaseNeeds, operator: Operator): Promise<bigint> {
  const deactivations = await operators.deactivations()
  assertOperates(operator, await operators.people())
  return deactivations
}

/**
 * Refuses an approval that would book other journals than proposed, or a larger amount.
 * @source rules#cases.39, rules#cases.41
 */
function assertProposed(effects: Effects, proposal: StoredStep): void {
  if (effects.amountCents > Number(proposal.amountCents)) throw proposalVoid('it would move more than was proposed')
  if (shapeOf(effects) !== shapeOf(answerIn(proposal).effects)) throw proposalVoid('it would book something else')
}

const MERCHANTS: ReadonlySet<string> = new Set(['available', 'receivable'])

/**
 * Journals, who bears them, end states and notifications. Ignores debt repayments: any credit triggers them, whatever was proposed.
 */
function shapeOf(effects: Effects | null): string {
  const { journals = [], accounts = [], operations = [], notifications = [] } = effects ?? {}
  const kinds = journals.map(({ journal }) => journal).filter((journal) => journal !== 'debt_recovered')
  // The merchant's balance and debt are one: what is available may change meanwhile.
  const bearers = new Set(accounts.map(({ account }) => (MERCHANTS.has(account) ? 'merchant' : account)))
  const ends = operations.map(({ statusAfter }) => statusAfter)
  const notified = notifications.map(({ eventType, status }) => `${eventType} ${status}`)
  return [kinds, [...bearers], ends, notified].map((names) => names.toSorted().join(' ')).join(', ')
}

/**
 * Stores a proposal, unless a valid one is pending.
 * @throws case_changed · not_possible_in_state (409) · insufficient_role (403) administrative token
 * @source rules#cases.40
 */
async function propose(needs: CaseNeeds, request: DecisionRequest, answer: Decided): Promise<DecisionResult> {
  const { operator, version, live, caseId } = request
  assertNamedOperator(operator)
  const people = await needs.operators.people()
  return refusableTransaction(needs.database, async (queries) => {
    refuseLapsed(live)
    await requireActiveOperator(queries, operator)
    const stored = await lockCase(queries, caseId)
    const before = await replayedAnswer({ database: queries, clock: needs.clock }, request)
    if (before) return before
    if (!stored || stored.closedAt !== null || String(stored.version) !== version) throw new Refusal('case_changed')
    const current = { version: stored.version, isClosed: false, people }
    const pending = pendingProposals(await readSteps(queries, caseId), current)
    if ([...pending.values()].includes(null)) throw proposalAlreadyPending()
    return { answer: await keepProposal(needs, queries, stored, request, answer), isReplayed: false }
  })
}

function proposalAlreadyPending(): Refusal {
  const message = 'a decision about this case is already proposed: approve or refuse it'
  return new Refusal('not_possible_in_state', { message })
}

/**
 * Approves another person's proposal, and executes it.
 * @throws not_found (404) · proposal_void · not_possible_in_state (409) · insufficient_role · approver_not_independent
 * (403)
 * @source rules#cases.41, rules#cases.42
 */
export async function approve(needs: CaseNeeds, request: ProposalRequest): Promise<Decided> {
  const { operators, database } = needs
  const { operator, reason } = request
  for (;;) {
    const deactivations = await operators.deactivations()
    const people = await operators.people()
    const stored = await requireCase(database, request.caseId)
    const { proposal, end } = await proposalOf(needs, request)
    if (end) return replayEnd(end, 'approved', operator)
    assertMayApprove(operator, proposal, people)
    const because = whyVoid(proposal, { version: stored.version, isClosed: stored.closedAt !== null, people })
    if (because !== null) throw proposalVoid(because)
    const by = { operatorId: proposal.operatorId, approverId: operator.actor }
    const order = { ...orderedBy(proposal), ...by, caseId: stored.id, newId: needs.ids.uuid() }
    const execution = {
      ...request,
      stored,
      order,
      version: proposal.caseVersion,
      idempotencyKey: null,
      isDryRun: false,
    }
    try {
      return await execute(needs, { ...execution, approval: { proposal, reason, deactivations } })
    } catch (error) {
      if (error instanceof HoldersChanged) continue
      // Another request ended the proposal meanwhile: report that end.
      if (error instanceof Refusal && endOf(await readSteps(database, stored.id), proposal.id)) continue
      throw error instanceof Refusal && error.code === 'case_changed' ? proposalVoid('the case changed') : error
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
function replayEnd(end: StoredStep, step: StoredStep['step'], { actor }: Operator): Decided {
  if (end.step === step && end.operatorId === actor) return answerIn(end)
  throw proposalVoid(`the proposal was already ${end.step}`)
}

/**
 * Refuses a proposal; its proposer may do so, too.
 * @throws not_found (404) · proposal_void (409)
 * @source rules#cases.43
 */
export async function refuse(needs: CaseNeeds, request: ProposalRequest): Promise<Decided> {
  const { database, clock, ids } = needs
  const { operator, reason, bodyHash, live } = request
  const stored = await requireCase(database, request.caseId)
  const { proposal, end } = await proposalOf(needs, request)
  if (end) return replayEnd(end, 'refused', operator)
  const ordered = orderedBy(proposal)
  const answer = answerOf('refused', { ...ordered, caseId: stored.id }, null, proposalFields(proposal))
  const isRefused = await refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    await requireActiveOperator(queries, operator)
    // Locks the case before inserting the step, in the order of an approval.
    await lockCase(queries, stored.id)
    const at = clock.now()
    const { caseVersion, amountCents } = proposal
    const isInserted = await insertStep(queries, {
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
    if (!isInserted) return false
    if (isRequest(stored)) await closeCase(queries, stored.id, at)
    const facts = { ordered, reason, amountCents: Number(amountCents), proposalId: proposal.id }
    await insertAudit(queries, { ...auditOf(operator, 'refused', stored, facts), id: ids.uuid(), at })
    return true
  })
  // A concurrent request ended the proposal: report that end.
  return isRefused ? answer : refuse(needs, request)
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
    await requireActiveOperator(queries, operator)
    const stored = await requireCase(queries, caseId)
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
