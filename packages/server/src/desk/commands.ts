import { Refusal } from '@pixgate/spec'
import type { Operator } from '../audit/operator.ts'
import { insertAudit } from '../audit/store.ts'
import type { DryRun } from '../engine/dry-run.ts'
import type { Engine } from '../engine/engine.ts'
import type { CaseStep, Document } from '../engine/operation.ts'
import { HoldersChanged, holdActive, type Person } from '../operators/index.ts'
import { type Queries, refusableTransaction } from '../platform/db/database.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import { CaseMoved, currentVersion, type Decidable, decidableOf } from './decidable.ts'
import type { AnyOrder } from './decider.ts'
import { weigh } from './effects.ts'
import { CasesMoved } from './loose/index.ts'
import type { OptionsNeeds } from './options.ts'
import { whySecondPerson } from './second-person.ts'
import {
  assertMayApprove,
  assertOperates,
  auditOf,
  contentOf,
  type Decided,
  decidedAnswer,
  isVoid,
  type Ordered,
  openProposals,
  orderedBy,
  type Standing,
  whyVoid,
} from './steps/rules.ts'
import {
  closeCase,
  holdCase,
  insertStep,
  readAnswered,
  readLooseVersion,
  readSteps,
  readStoredCase,
  type StoredCase,
  type StoredStep,
} from './steps/store.ts'

/** What the commands work with. */
export interface DeskNeeds extends OptionsNeeds {
  readonly engine: Pick<Engine, 'execute'>
  readonly dryRun: DryRun
  readonly ids: Ids
  readonly holders: {
    /** All operators there ever were, as they are now. */
    readonly people: () => Promise<readonly Person[]>
    /** How often keys and operators were deactivated: to be read before who holds them. */
    readonly version: () => Promise<bigint>
  }
}

/** A decision as it is asked for. */
export interface DecisionRequest {
  readonly caseId: string
  readonly ordered: Ordered
  /** Of the case as it was read. */
  readonly version: string
  readonly isDryRun: boolean
  readonly operator: Operator
  readonly idempotencyKey: string | null
  readonly bodyHash: Buffer
  readonly live: LiveRequest
}

/** What is said to a proposal. */
export interface ProposalRequest extends Pick<DecisionRequest, 'caseId' | 'operator' | 'bodyHash' | 'live'> {
  readonly proposalId: string
  readonly reason: string
}

/** What an operator notes of a case. */
export interface NoteRequest extends Pick<DecisionRequest, 'caseId' | 'operator' | 'bodyHash' | 'live'> {
  readonly text: string
}

/** What a request did, now or when it came before. */
export interface Answered {
  readonly answer: Decided
  readonly isReplayed: boolean
}

/** One function per intention; each leaves a step of the case and a row of the audit trail, with what it does or not at all. */
export interface DeskCommands {
  /**
   * Decides a case, proposes that, or says what it would do.
   * @throws not_found (404) · case_changed · not_possible_in_state (409) · validation_error (400) · idempotency_key_reused (422) ·
   *   insufficient_role (403) it is to be proposed, and nobody is named · unauthorized (401) the operator was deactivated meanwhile
   * @source rules#desk.35, rules#desk.36, rules#desk.37, rules#desk.39, rules#desk.40
   */
  decide(request: DecisionRequest): Promise<Answered>
  /**
   * Does what another person proposed.
   * @throws not_found (404) · proposal_void · not_possible_in_state (409) · insufficient_role · approver_not_independent (403)
   * @source rules#desk.41, rules#desk.42
   */
  approve(request: ProposalRequest): Promise<Decided>
  /** Refuses a proposal, its own proposer too. @throws not_found (404) · proposal_void (409) @source rules#desk.43 */
  refuse(request: ProposalRequest): Promise<Decided>
  /**
   * Keeps a note of a case. It changes nothing: what is proposed stays so.
   * @throws not_found (404) · unauthorized (401)
   * @source rules#desk.62
   */
  note(request: NoteRequest): Promise<{ readonly id: string; readonly at: string }>
}

/** For how long the same `Idempotency-Key` gets the same answer. */
const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

/** A decision that is carried out, tried out, or approved. */
interface Executed extends Pick<DecisionRequest, 'operator' | 'idempotencyKey' | 'bodyHash' | 'live' | 'isDryRun'> {
  readonly order: AnyOrder
  readonly version: string
  /** The proposal that is approved, and how often operators had been deactivated before it was read who they are. */
  readonly approval?: { readonly proposal: StoredStep; readonly reason: string; readonly holdersVersion: bigint }
}

/** Makes the commands. */
export function createDeskCommands(needs: DeskNeeds): DeskCommands {
  return {
    decide: (request) => decide(needs, request),
    approve: (request) => approve(needs, request),
    refuse: (request) => refuse(needs, request),
    note: (request) => note(needs, request),
  }
}

async function decide(needs: DeskNeeds, request: DecisionRequest): Promise<Answered> {
  const { caseId, version, isDryRun } = request
  const asked = isDryRun ? { ...request, idempotencyKey: null } : request
  const before = await answered(needs, asked)
  if (before) return before
  try {
    return await decideAnew(needs, asked)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    // The same request came twice at once and the other one was first, or what it was decided by is gone.
    const now = await answered(needs, asked)
    if (now) return now
    const current = await currentVersion(needs, caseId)
    throw current !== undefined && current !== version ? new Refusal('case_changed') : error
  }
}

async function decideAnew(needs: DeskNeeds, request: DecisionRequest): Promise<Answered> {
  const { caseId, ordered, version, operator } = request
  const decidable = await decidableOf(needs, caseId)
  if (decidable.version !== version) throw new Refusal('case_changed')
  const newId = needs.ids.uuid()
  const order: AnyOrder = { ...ordered, caseId: decidable.stored.id, operator: operator.actor, approver: null, newId }
  try {
    return { answer: await execute(needs, decidable, { ...request, order }), isReplayed: false }
  } catch (error) {
    if (!(error instanceof TakesTwo)) throw error
    return propose(needs, request, error.decidable, error.answer)
  }
}

/** A decision that one person may not make alone. Nothing of it was written. */
class TakesTwo extends Error {
  readonly decidable: Decidable
  /** What is answered once it is proposed. */
  readonly answer: Decided

  constructor(decidable: Decidable, answer: Decided) {
    super('the decision takes a second person')
    this.decidable = decidable
    this.answer = answer
  }
}

/** What the same `Idempotency-Key` was answered. @throws idempotency_key_reused (422) */
export async function answered(
  { database, clock }: Pick<DeskNeeds, 'clock'> & { readonly database: Queries },
  { idempotencyKey, bodyHash }: Pick<DecisionRequest, 'idempotencyKey' | 'bodyHash'>,
): Promise<Answered | undefined> {
  if (idempotencyKey === null) return undefined
  const step = await readAnswered(database, idempotencyKey, clock.now() - IDEMPOTENCY_MS)
  if (!step) return undefined
  if (!step.bodyHash.equals(bodyHash)) throw new Refusal('idempotency_key_reused')
  return replayed(step)
}

function replayed({ answer }: Pick<StoredStep, 'answer'>): Answered {
  return { answer: answer as unknown as Decided, isReplayed: true }
}

/**
 * Carries a decision out, or tries it out, where the case is as it was read.
 * @throws TakesTwo it is to be proposed
 * @throws case_changed · proposal_void (409) · HoldersChanged, and what the decider refuses
 */
async function execute(needs: DeskNeeds, decidable: Decidable, executed: Executed): Promise<Decided> {
  try {
    return await executeOnce(needs, decidable, executed)
  } catch (error) {
    const changed = () =>
      executed.approval ? isVoid('the case changed after it was proposed') : new Refusal('case_changed')
    // Who holds tokens changed: whoever approves is looked up again there.
    if (error instanceof HoldersChanged && !executed.approval) return execute(needs, decidable, executed)
    if (error instanceof CaseMoved) throw changed()
    if (!(error instanceof CasesMoved)) throw error
    const now = await decidableOf(needs, decidable.stored.id)
    if (now.version !== executed.version) throw changed()
    return execute(needs, now, executed)
  }
}

async function executeOnce(needs: DeskNeeds, decidable: Decidable, executed: Executed): Promise<Decided> {
  const { stored } = decidable
  const { order, version, approval, live, isDryRun } = executed
  const id = needs.ids.uuid()
  const { looks, decide, isShort, ...counted } = await decidable.prepare(order)
  const holdersVersion = approval?.holdersVersion ?? (await versionOfHolders(needs, executed.operator))
  return (isDryRun ? needs.dryRun : needs.engine.execute)<Decided>({
    ...looks,
    controls: [...(looks.controls ?? []), 'holders'],
    request: live,
    decide: (state, now) => {
      if (state.versionOf('holders') !== holdersVersion) throw new HoldersChanged()
      const decision = decide(state, now, version)
      const { effects, amountCents } = weigh(decision, state, counted)
      const why = whySecondPerson(order.decision, amountCents, needs.approvalFromCents, isShort)
      const unmade = (outcome: 'dry_run' | 'proposed') =>
        decidedAnswer(outcome, order, effects, { whySecondPerson: why })
      // Nobody is to be told of it.
      if (isDryRun) return { ...decision, notifications: [], audits: [], outcome: unmade('dry_run') }
      if (approval) assertProposed(effects.amountCents, approval.proposal)
      else if (why !== null) throw new TakesTwo(decidable, unmade('proposed'))
      const refundId = decision.creates?.find(({ operation: { kind } }) => kind === 'refund_in')?.operation.id ?? null
      const answer = { ...answerOf(executed, effects), refundId }
      return {
        ...decision,
        audits: [...(decision.audits ?? []), auditOfExecuted(executed, stored, effects.amountCents)],
        caseSteps: [stepOf(id, executed, stored, answer)],
        outcome: answer,
      }
    },
  })
}

/**
 * How often operators were deactivated before it was read that this one was not.
 * @throws unauthorized (401)
 * @source rules#desk.45
 */
async function versionOfHolders({ holders }: DeskNeeds, operator: Operator): Promise<bigint> {
  const version = await holders.version()
  assertOperates(operator, await holders.people())
  return version
}

/** As things are when it is written. @source rules#desk.39 */
function assertProposed(amountCents: number, { amountCents: proposedCents }: StoredStep): void {
  if (amountCents > Number(proposedCents)) throw isVoid('it would move more than was proposed')
}

function answerOf({ order, approval }: Executed, effects: Decided['effects']): Decided {
  return approval
    ? decidedAnswer('approved', order, effects, standingFor(approval.proposal))
    : decidedAnswer('decided', order, effects, { whySecondPerson: null })
}

/** Why a proposal was made, and its id. */
function standingFor(proposal: StoredStep) {
  return { whySecondPerson: replayed(proposal).answer.whySecondPerson, proposalId: proposal.id }
}

function auditOfExecuted({ operator, order, approval }: Executed, stored: StoredCase, amountCents: number) {
  const about = { ordered: order, reason: approval?.reason ?? order.reason, amountCents }
  return approval
    ? auditOf(operator, 'approved', stored, { ...about, proposalId: approval.proposal.id })
    : auditOf(operator, 'decided', stored, about)
}

function stepOf(
  id: string,
  { operator, order, version, approval, idempotencyKey, bodyHash }: Executed,
  stored: StoredCase,
  answer: Decided,
): CaseStep {
  return {
    id,
    caseId: stored.id,
    step: approval ? 'approved' : 'decided',
    proposalId: approval?.proposal.id ?? null,
    operatorId: operator.actor,
    operatorName: operator.actorName ?? null,
    content: approval ? { reason: approval.reason } : contentOf(order),
    caseVersion: version,
    amountCents: BigInt(answer.effects?.amountCents ?? 0),
    idempotencyKey,
    bodyHash,
    answer: answer as unknown as Document,
  }
}

/**
 * Keeps a proposal, unless one that can be approved is there.
 * @throws case_changed · not_possible_in_state (409) · insufficient_role (403) nobody is named
 * @source rules#desk.40
 */
async function propose(
  needs: DeskNeeds,
  request: DecisionRequest,
  { stored: { id: caseId }, seen }: Decidable,
  answer: Decided,
): Promise<Answered> {
  const { database, clock, ids, holders } = needs
  const { operator, ordered, version, live } = request
  if (operator.actorName === undefined) throw nobodyNamed()
  const people = await holders.people()
  // What a case of no operation is about changes without the case.
  if ((await currentVersion(needs, caseId)) !== version) throw new Refusal('case_changed')
  const id = ids.uuid()
  return refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    await holdOperator(queries, operator)
    const stored = await holdCase(queries, caseId)
    const before = await answered({ database: queries, clock }, request)
    if (before) return before
    if (!stored || !(await isAsRead(queries, stored, version, seen))) throw new Refusal('case_changed')
    const isClosed = stored.closedAt !== null
    if (openProposals(await readSteps(queries, caseId), { version, isClosed, people }).length > 0) throw isProposed()
    const at = clock.now()
    const amountCents = answer.effects?.amountCents ?? 0
    const proposal = { ...answer, proposalId: id }
    const isKept = await insertStep(queries, {
      id,
      caseId,
      step: 'proposed',
      proposalId: null,
      operatorId: operator.actor,
      operatorName: operator.actorName ?? null,
      content: contentOf(ordered),
      caseVersion: version,
      amountCents: BigInt(amountCents),
      idempotencyKey: request.idempotencyKey,
      bodyHash: request.bodyHash,
      answer: proposal as unknown as Document,
      at,
    })
    // A decision about another case has the key since.
    if (!isKept) throw new Refusal('idempotency_key_reused')
    const audit = auditOf(operator, 'proposed', stored, {
      ordered,
      reason: ordered.reason,
      amountCents,
      proposalId: id,
    })
    await insertAudit(queries, { ...audit, id: ids.uuid(), at })
    return { answer: proposal, isReplayed: false }
  })
}

/** Whoever deactivates the operator waits until the transaction ends. @throws unauthorized (401) @source rules#desk.45 */
export async function holdOperator(queries: Queries, { actor, actorName }: Operator): Promise<void> {
  if (actorName !== undefined && !(await holdActive(queries, actor))) throw new Refusal('unauthorized')
}

/** Of cases of no operation none was decided since; of an operation the version of the case tells. @source rules#desk.40 */
async function isAsRead(
  queries: Queries,
  stored: StoredCase,
  version: string,
  seen: bigint | undefined,
): Promise<boolean> {
  if (stored.operationId !== null) return stored.closedAt === null && String(stored.version) === version
  return stored.closedAt === null && (await readLooseVersion(queries)) === seen
}

/** A proposal has a named proposer. @source rules#desk.40 */
export function nobodyNamed(): Refusal {
  const message =
    'a decision that takes a second person is proposed by an operator with a name: the administrative token names nobody'
  return new Refusal('insufficient_role', { message })
}

function isProposed(): Refusal {
  const message = 'a decision about this case is proposed already: approve it or refuse it'
  return new Refusal('not_possible_in_state', { message })
}

async function approve(needs: DeskNeeds, request: ProposalRequest): Promise<Decided> {
  const { database, holders } = needs
  const { caseId, operator, reason } = request
  for (;;) {
    const holdersVersion = await holders.version()
    const people = await holders.people()
    const decidable = await decidableOf(needs, caseId)
    const { proposal, end } = await proposalOf(needs, request)
    if (end) return ended(end, 'approved', operator)
    assertMayApprove(operator, proposal, people)
    const because = whyVoid(proposal, standingOf(decidable, people))
    if (because !== null) throw isVoid(because)
    const ordered = orderedBy(proposal)
    const order: AnyOrder = {
      ...ordered,
      caseId: decidable.stored.id,
      operator: proposal.operatorId,
      approver: operator.actor,
      newId: needs.ids.uuid(),
    }
    const approval = { proposal, reason, holdersVersion }
    const version = proposal.caseVersion
    const executed = { ...request, idempotencyKey: null, isDryRun: false, order, version, approval }
    try {
      return await execute(needs, decidable, executed)
    } catch (error) {
      if (error instanceof HoldersChanged) continue
      // Somebody else ended it meanwhile.
      if (error instanceof Refusal && endOf(await readSteps(database, proposal.caseId), proposal.id)) continue
      throw error
    }
  }
}

function standingOf({ stored, version }: Decidable, people: readonly Person[]): Standing {
  return { version, isClosed: stored.closedAt !== null, people }
}

/** A proposal of a case, and how it ended. @throws not_found (404) */
async function proposalOf({ database }: DeskNeeds, { caseId, proposalId }: ProposalRequest) {
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
  if (end.step === step && end.operatorId === actor) return replayed(end).answer
  throw isVoid(`the proposal was ${end.step} before`)
}

async function refuse(needs: DeskNeeds, request: ProposalRequest): Promise<Decided> {
  const { database, clock, ids } = needs
  const { caseId, operator, reason, bodyHash, live } = request
  const stored = isUuid(caseId) ? await readStoredCase(database, caseId) : undefined
  if (!stored) throw new Refusal('not_found')
  const { proposal, end } = await proposalOf(needs, request)
  if (end) return ended(end, 'refused', operator)
  const ordered = orderedBy(proposal)
  const answer = decidedAnswer(
    'refused',
    { caseId: stored.id, decision: ordered.decision },
    null,
    standingFor(proposal),
  )
  const isKept = await refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    await holdOperator(queries, operator)
    const at = clock.now()
    const step = { id: ids.uuid(), caseId: stored.id, step: 'refused', proposalId: proposal.id, at } as const
    const by = { operatorId: operator.actor, operatorName: operator.actorName ?? null }
    const { caseVersion, amountCents } = proposal
    const kept = { content: { reason }, caseVersion, amountCents, idempotencyKey: null, bodyHash }
    // Whoever approves it at this moment is waited for.
    if (!(await insertStep(queries, { ...step, ...by, ...kept, answer: answer as unknown as Document }))) return false
    // A request without a proposal waits for nothing.
    if (stored.kind === 'adjustment_requested') await closeCase(queries, stored.id, at)
    const facts = { ordered, reason, amountCents: Number(amountCents), proposalId: proposal.id }
    await insertAudit(queries, { ...auditOf(operator, 'refused', stored, facts), id: ids.uuid(), at })
    return true
  })
  return isKept ? answer : refuse(needs, request)
}

function note(needs: DeskNeeds, { caseId, text, operator, bodyHash, live }: NoteRequest) {
  const { database, clock, ids } = needs
  return refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    await holdOperator(queries, operator)
    const stored = isUuid(caseId) ? await readStoredCase(queries, caseId) : undefined
    if (!stored) throw new Refusal('not_found')
    const [id, at] = [ids.uuid(), clock.now()]
    const by = { operatorId: operator.actor, operatorName: operator.actorName ?? null }
    const kept = { caseVersion: String(stored.version), amountCents: 0n, idempotencyKey: null, bodyHash, answer: {} }
    const step = { id, caseId: stored.id, step: 'noted', proposalId: null, content: { text }, at } as const
    await insertStep(queries, { ...step, ...by, ...kept })
    const facts = { operationId: stored.operationId }
    await insertAudit(queries, { ...operator, action: 'case.noted', subject: stored.id, facts, id: ids.uuid(), at })
    return { id, at: new Date(at).toISOString() }
  })
}
