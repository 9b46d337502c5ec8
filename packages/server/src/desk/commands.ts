import { Refusal } from '@pixgate/spec'
import type { Operator } from '../audit/operator.ts'
import { insertAudit } from '../audit/store.ts'
import type { Engine } from '../engine/engine.ts'
import type { CaseStep, Document } from '../engine/operation.ts'
import { HoldersChanged, holdActive, type Person } from '../operators/index.ts'
import { type Queries, refusableTransaction } from '../platform/db/database.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import { CaseMoved, currentVersion, type Decidable, decidableOf } from './decidable.ts'
import type { AnyOrder } from './decider.ts'
import { changesBy, weigh } from './effects.ts'
import { CasesMoved } from './loose/index.ts'
import { type OptionsNeeds, weighedAsThingsAre } from './options.ts'
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
}

/** For how long the same `Idempotency-Key` gets the same answer. */
const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

/** A decision that is carried out, or approved. */
interface Executed extends Pick<DecisionRequest, 'operator' | 'idempotencyKey' | 'bodyHash' | 'live'> {
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
  const { caseId, ordered, version, isDryRun, operator } = request
  const decidable = await decidableOf(needs, caseId)
  if (decidable.version !== version) throw new Refusal('case_changed')
  const { stored } = decidable
  const order: AnyOrder = { ...ordered, caseId: stored.id, operator: operator.actor, approver: null }
  const prepared = await decidable.prepare(order)
  const { effects, amountCents } = await weighedAsThingsAre(needs.rehearse, {
    ...prepared,
    decide: (state, now) => prepared.decide(state, now, undefined),
  })
  const why = whySecondPerson(order.decision, amountCents, needs.approvalFromCents)
  const answer = (because: string | null) =>
    decidedAnswer(isDryRun ? 'dry_run' : 'proposed', order, effects, { whySecondPerson: because })
  if (isDryRun) return { answer: answer(why), isReplayed: false }
  if (why !== null) return propose(needs, request, decidable, answer(why))
  return { answer: await execute(needs, decidable, { ...request, order }), isReplayed: false }
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
 * Carries a decision out where the case is as it was read, and the amount is one that may be decided so.
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
  const { order, version, approval, live } = executed
  const id = needs.ids.uuid()
  const { looks, decide, later, ...counted } = await decidable.prepare(order)
  const afterwards = later && (await needs.rehearse(later))
  const holdersVersion = approval?.holdersVersion ?? (await versionOfHolders(needs, executed.operator))
  return needs.engine.execute({
    ...looks,
    controls: [...(looks.controls ?? []), 'holders'],
    request: live,
    decide: (state, now) => {
      if (state.versionOf('holders') !== holdersVersion) throw new HoldersChanged()
      const decision = decide(state, now, version)
      const { effects, amountCents } = weigh(changesBy(decision, state), afterwards, counted)
      if (approval) assertProposed(effects.amountCents, approval.proposal)
      else if (whySecondPerson(order.decision, amountCents, needs.approvalFromCents)) throw new Refusal('case_changed')
      const answer = answerOf(executed, effects)
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
    }
    const approval = { proposal, reason, holdersVersion }
    const executed = { ...request, idempotencyKey: null, order, version: proposal.caseVersion, approval }
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
