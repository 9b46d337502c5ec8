import { fieldRefusal, limits, Refusal } from '@pixgate/spec'
import { HoldersChanged } from '../access/index.ts'
import { type Held, isHeld, takenBack } from '../cases/unexplained.ts'
import { isTakenBack, type WithoutOperation } from '../cases/without-operation.ts'
import {
  type CashIn,
  decidedPaymentOf,
  hasReturnStep,
  isCashIn,
  refundableCents,
  refundDeadline,
  returnsInDoubt,
} from '../cash-in/index.ts'
import type { Engine } from '../engine/engine.ts'
import {
  type Command,
  type Create,
  created,
  type Decision,
  type MovementId,
  mergeDecisions,
  type State,
} from '../engine/operation.ts'
import { createOperationStore } from '../engine/operation-store.ts'
import { keyCapsFact, type Leaving, type Limits, looksOf, type OnLimitExceeded, taken } from '../operations/caps.ts'
import type { Result } from '../operations/orders.ts'
import { type AskedBy, hashOf, type OperatorRefusal, replayedOf } from '../operations/requests.ts'
import { createOrderStore, isEnabled } from '../operations/store.ts'
import { sha256 } from '../platform/crypto.ts'
import { type Database, statement } from '../platform/db/database.ts'
import { type Ids, orderId } from '../platform/ids.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import {
  type BankReturn,
  type Holder,
  holderIdOf,
  isImplausible,
  isRefundIn,
  movementOf,
  type RefundIn,
  type RefundInInput,
  type RefundInOutcome,
  type Standing,
} from './refund-in.ts'
import { decideInDoubt, decideReturn, type ReturnOutcome, subjectOf } from './returns.ts'
import { cashInDecision, decideRefundIn, decideRefusal } from './rules.ts'

export type RefundInCommands = ReturnType<typeof createRefundInCommands>

export interface Created {
  readonly refund: RefundIn
  readonly isReplayed: boolean
}

export interface RefundInCommandsOptions {
  readonly engine: Engine
  readonly store: Pick<RefundInStore, 'get' | 'open' | 'explaining' | 'holders' | 'relistedHold'>
  readonly ids: Ids
  readonly terms: RefundInTerms
  readonly onLimitExceeded?: OnLimitExceeded
  /** The bank supports charge queries, so returns reported by events are verified. */
  readonly canVerify?: boolean
  readonly isUnsupported?: boolean
}

export function createRefundInCommands(options: RefundInCommandsOptions) {
  const { engine, store } = options

  async function applyReturn(cashInId: string, returned: BankReturn): Promise<Result> {
    const { result, cashIn } = await engine.execute(await returnCommand(options, cashInId, returned))
    if (cashIn) await settleDue(options, cashIn)
    return result
  }

  async function apply(id: string, inputs: readonly RefundInInput[]): Promise<RefundInOutcome | undefined> {
    const known = await store.get(id)
    if (!known) return undefined
    const returned = returnByBank(known, inputs)
    if (returned) return { result: await applyReturn(holderIdOf(known), returned), refund: known }
    const outcome = await engine.execute(refundCommand(known, inputs))
    if (outcome) await settleDue(options, outcome.holder)
    return outcome
  }

  return {
    /**
     * Reserves the amount, or returns the refund created under the same `Idempotency-Key`.
     * @throws not_supported_by_bank · idempotency_key_reused (422) · duplicate_external_id (409) · as `decideCreate`
     * @source rules#refund-in.create.2, rules#partner.10, failure-modes#PL-60
     */
    create: (request: RefundInRequest) => create(options, request),
    apply,
    /** `apply` as a command; `undefined` if the refund does not exist. Due steps of returns are found in the database. */
    command: (id: string, inputs: readonly RefundInInput[]) => commandOf(options, id, inputs),
    /**
     * An operator refuses a refund that was never claimed; `undefined` if it does not exist.
     * @throws not_possible_in_state (409)
     * @source rules#refund-in.refusal.2
     */
    refuse: async (id: string, input: OperatorRefusal, live: LiveRequest): Promise<RefundIn | undefined> => {
      const standing = await refuse(options, id, input, live)
      if (standing) await settleDue(options, standing.holder)
      return standing?.refund
    },
    /**
     * Applies a return that names no refund of ours: in doubt while one of ours may explain it, otherwise the bank's own
     * (MED). Each return id is booked once.
     * @source rules#cash-in.returns.1
     */
    applyReturn,
    returnCommand: (cashInId: string, returned: BankReturn) => returnCommand(options, cashInId, returned),
    /** Performs the due steps of a cash-in's returns in doubt. @source rules#cash-in.returns.4 */
    settleReturns: (cashIn: CashIn) => settleReturns(options, cashIn),
    /** Requests a status query for every open refund of a cash-in. @source rules#cash-in.returns.7 */
    askAboutOpen: async (cashInId: string): Promise<Result> => {
      const open = await store.open(cashInId)
      for (const id of open) await apply(id, [{ on: 'work.requested' }])
      return open.length > 0 ? 'APPLIED' : 'UNEXPECTED'
    },
  }
}

/** If lost in a crash, the steps are found in the database: the cash-in is due. */
async function settleDue(options: RefundInCommandsOptions, cashIn: Holder): Promise<void> {
  if (isCashIn(cashIn) && hasReturnStep(cashIn, cashIn.updatedAt)) await settleReturns(options, cashIn)
}

async function commandOf(
  options: RefundInCommandsOptions,
  id: string,
  inputs: readonly RefundInInput[],
): Promise<Command<{ readonly result: Result } | undefined> | undefined> {
  const known = await options.store.get(id)
  const returned = known && returnByBank(known, inputs)
  if (known && returned) return returnCommand(options, holderIdOf(known), returned)
  return known && refundCommand(known, inputs)
}

/** A return made by the bank itself is applied to its cash-in. */
function returnByBank({ detail }: RefundIn, inputs: readonly RefundInInput[]): BankReturn | undefined {
  const reported = detail.origin === 'PARTNER' ? inputs.find(isConfirmation) : undefined
  return reported && { ...reported, ...reported.returned }
}

function refundCommand(known: RefundIn, inputs: readonly RefundInInput[]): Command<Standing | undefined> {
  const { id } = known
  return {
    reads: [id, holderIdOf(known)],
    ...besides(inputs),
    decide: (state, now) => {
      const [refund, holder] = [state.operation(id), holderIn(state, known)]
      if (!isRefundIn(refund) || !holder) return { outcome: undefined }
      return decideRefundIn(refund, holder, inputs, state, now)
    },
  }
}

async function returnCommand(
  { store, ids, canVerify = false }: RefundInCommandsOptions,
  reportedId: string,
  reported: BankReturn,
): Promise<Command<ReturnOutcome>> {
  const held = await store.relistedHold(reported)
  const cashInId = held?.isReversed ? held.id : reportedId
  const returned = { ...reported, isVerified: reported.isVerified !== false || !canVerify }
  const identity = identityOf(ids, cashInId, returned.returnId)
  const holders = await store.holders(cashInId, returned)
  const charges = [cashInId, ...holders]
  const explaining = (await Promise.all(charges.map((id) => store.explaining(id, returned.valueCents)))).flat()
  return {
    reads: [...charges, ...explaining, ...(held ? [held.id] : [])],
    movements: [movementOf(returned), ...lineOf(returned)],
    decide: (state, now) => {
      if (held && isRefundInFlight(state.operation(held.id), returned))
        return { outcome: { result: 'EARLY', cashIn: undefined } }
      const holder = state.operation(cashInId)
      if (isHeld(holder)) return takenFrom(holder, returned, state, now)
      const known = cashInIn(state, cashInId)
      return known
        ? decideReturn(...subjectOf(known, returned, holders, state), identity, state, now, explaining)
        : { outcome: { result: 'UNEXPECTED', cashIn: undefined } }
    },
  }
}

/** The returned payment may be held by an adjustment under its end-to-end id. */
function lineOf({ endToEndId }: BankReturn): MovementId[] {
  return endToEndId == null ? [] : [{ direction: 'in', id: endToEndId }]
}

/** A refund of this amount is confirmed by its own answer. */
function isRefundInFlight(held: ReturnType<State['operation']>, { valueCents }: BankReturn): boolean {
  const open = isHeld(held) ? Object.values(held.facts.openRefunds ?? {}) : []
  return open.some((refund) => BigInt(refund.valueCents) === valueCents)
}

/** Applies the bank's own return of a payment to the bare Pix key. @source rules#adjustment.held.8 */
function takenFrom(held: Held, returned: BankReturn, state: State, now: number): Decision<ReturnOutcome> {
  if (isImplausible(returned, now)) return { outcome: { result: 'IMPLAUSIBLE', cashIn: undefined } }
  // The bank’s answer or statement reports it with its id.
  if (returned.isUnnamed) return { outcome: { result: 'EARLY', cashIn: undefined } }
  const { outcome: isOfIt, ...taken } = takenBack(held, returned, state, now)
  return { ...taken, outcome: { result: isOfIt ? 'APPLIED' : 'UNEXPECTED', cashIn: undefined } }
}

async function create(options: RefundInCommandsOptions, request: RefundInRequest): Promise<Created> {
  const { engine, onLimitExceeded } = options
  try {
    return { refund: await engine.execute(createCommand(options, request)), isReplayed: false }
  } catch (error) {
    if (error instanceof Refusal && error.limit) onLimitExceeded?.(error.limit, request.madeBy)
    return { refund: replayedOf(error, request, isRefundIn, 'externalId'), isReplayed: true }
  }
}

/** Creates a refund that a second person approved, as a command. @source rules#console.14 */
export function requestedCommandOf(
  options: Pick<RefundInCommandsOptions, 'isUnsupported' | 'terms'>,
): WithoutOperation['refunds']['requestedCommand'] {
  return (id, refund, operatorId) =>
    createCommand(options, {
      ...refundContent(refund),
      ...{ id, externalId: refund.externalId ?? id, correlationId: id, idempotencyKey: null },
      ...{ madeBy: { caller: operatorId, address: '' }, valueField: 'valueCents' },
    })
}

function createCommand(
  { isUnsupported, terms }: Pick<RefundInCommandsOptions, 'isUnsupported' | 'terms'>,
  request: RefundInRequest,
): Command<RefundIn> {
  const { cashInId, externalId, idempotencyKey, holdersVersion } = request
  const isOfHolder = holdersVersion !== undefined
  return {
    reads: cashInId === null ? [] : [cashInId],
    controls: ['cash_out_switch', ...(isOfHolder ? (['holders'] as const) : [])],
    ...looksOf(leavingOf(request), terms.limits),
    creates: { kind: 'refund_in', externalId, idempotencyKey },
    request: request.live,
    decide: (state, now) => {
      if (isOfHolder && state.versionOf('holders') !== holdersVersion) throw new HoldersChanged()
      return isUnsupported ? refuseUnsupported() : decideCreate(request, terms, state, now)
    },
  }
}

async function settleReturns({ engine, ids }: RefundInCommandsOptions, charge: CashIn): Promise<void> {
  const { id, facts } = charge
  const returnIds = returnsInDoubt(charge).map(([returnId]) => returnId)
  const identities = new Map(returnIds.map((returnId) => [returnId, identityOf(ids, id, returnId)]))
  await engine.execute<CashIn | undefined>({
    reads: [id, ...Object.keys(facts.openRefunds ?? {})],
    movements: returnIds.map((returnId) => movementOf({ returnId })),
    decide: (state, now) => {
      const cashIn = cashInIn(state, id)
      return cashIn ? decideInDoubt(cashIn, identities, state, now) : { outcome: undefined }
    },
  })
}

async function refuse(
  { engine, store }: RefundInCommandsOptions,
  id: string,
  input: OperatorRefusal,
  live: LiveRequest,
): Promise<Standing | undefined> {
  const known = await store.get(id)
  if (!known) return undefined
  return engine.execute<Standing | undefined>({
    reads: [id, holderIdOf(known)],
    request: live,
    decide: (state, now) => {
      const [refund, holder] = [state.operation(id), holderIn(state, known)]
      return isRefundIn(refund) && holder ? decideRefusal(refund, holder, input, state, now) : { outcome: undefined }
    },
  })
}

/** Movements and controls that a command reads. Only a claim depends on whether refunds are enabled. */
function besides(inputs: readonly RefundInInput[]): Pick<Command<unknown>, 'movements' | 'controls'> {
  return {
    movements: inputs.filter(isConfirmation).map(({ returned }) => movementOf(returned)),
    controls: inputs.some(({ on }) => on === 'send.claimed') ? ['cash_out_switch'] : [],
  }
}

/** Identity of the refund that is created if the return is the bank's own. */
function identityOf(ids: Ids, cashInId: string, returnId: string) {
  return { id: ids.uuid(), bodyHash: sha256(`${cashInId} ${returnId}`) }
}

/** Another confirmation of a return by the bank may concern another part of it, which only its cash-in knows. */
function isConfirmation(input: RefundInInput): input is Extract<RefundInInput, { on: 'partner.confirmed' }> {
  return input.on === 'partner.confirmed'
}

/** A create request after validation of its shape. */
export interface RefundInRequest extends AskedBy {
  readonly id: string
  /** `null` if the path contains no UUID. */
  readonly cashInId: string | null
  readonly valueCents: bigint
  /** The refund's own id if the client gave none. */
  readonly externalId: string
  readonly reason: string | null
  readonly bodyHash: Buffer
  /** Name of the amount for the client; by default that of the API. */
  readonly valueField?: string
  /** Counter of deactivations, read before the operator was seen active. @throws HoldersChanged it is another */
  readonly holdersVersion?: bigint
}

/** Content of a refund with its hash; equal hashes mean equal requests. @source rules#external-id.3 */
export function refundContent<Id extends string | null, Reason extends string | null>({
  cashInId,
  valueCents,
  reason,
  externalId,
}: {
  readonly cashInId: Id
  readonly valueCents: bigint
  readonly reason: Reason
  readonly externalId: string | null
}) {
  const content = { cashInId, valueCents, reason, externalId }
  return { ...content, bodyHash: hashOf(content) }
}

export interface RefundInTerms {
  /** Order ids are derived from it. */
  readonly installation: string
  readonly limits: Limits
}

/**
 * Reserves the whole amount, or stores nothing.
 * @throws cash_in_not_found · cash_in_not_paid · refund_value_not_positive · refund_deadline_exceeded ·
 * refund_exceeds_available · limit_exceeded · insufficient_balance (422) · cash_out_suspended (503)
 * @source rules#refund-in.create.2, rules#refund-in.create.3, rules#limits.4, failure-modes#RF-2, failure-modes#RF-4
 */
export function decideCreate(
  request: RefundInRequest,
  { limits: bounds, installation }: RefundInTerms,
  state: State,
  now: number,
): Decision<RefundIn> {
  if (!isEnabled(state)) throw new Refusal('cash_out_suspended')
  const { valueCents, valueField = 'refundValue' } = request
  const cashIn = cashInIn(state, request.cashInId)
  if (!cashIn) throw new Refusal('cash_in_not_found')
  const whyNot = whyNotRefundable(cashIn, now)
  if (whyNot === 'cash_in_not_paid') throw new Refusal(whyNot)
  if (valueCents <= 0n) throw fieldRefusal('refund_value_not_positive', valueField, 'not_positive')
  if (whyNot) throw new Refusal(whyNot)
  if (valueCents > refundableCents(cashIn)) throw fieldRefusal('refund_exceeds_available', valueField, 'too_large')
  const allowed = taken(leavingOf(request), bounds, state, now)
  if (state.balance('available') < valueCents) throw new Refusal('insufficient_balance')
  const create: Create<RefundIn> = {
    operation: {
      ...operationOf(cashIn),
      id: request.id,
      externalId: request.externalId,
      orderId: orderId(installation, { ...cashIn, kind: 'refund_in', externalId: request.externalId }),
      status: 'PENDING',
      valueCents,
      correlationId: request.correlationId,
      bodyHash: request.bodyHash,
      idempotencyKey: request.idempotencyKey,
      dueAt: now,
      plan: { step: 'send', changesAt: now + limits.unclaimedReleaseMs },
      transactionId: null,
      detail: { cashInId: cashIn.id, reason: request.reason, origin: 'MERCHANT' },
      facts: { madeBy: request.madeBy, ...keyCapsFact(request.caps) },
    },
  }
  return mergeDecisions(cashInDecision(cashIn, { on: 'refund.reserved', refundId: request.id, valueCents }, now), {
    creates: [create],
    ...allowed,
    journals: [{ operationId: request.id, kind: 'refund_in_reserved', reference: '', amounts: { r: valueCents } }],
    outcome: created(create, now),
  })
}

/** Why no amount of a charge can be refunded any more, or not yet. @source rules#refund-in.create.2 */
export function whyNotRefundable(cashIn: CashIn, now: number): 'cash_in_not_paid' | 'refund_deadline_exceeded' | null {
  const deadline = refundDeadline(cashIn)
  if (cashIn.status !== 'PAID' || deadline === null) return 'cash_in_not_paid'
  return now > deadline ? 'refund_deadline_exceeded' : null
}

/** A refund has no new recipient: it returns to the payer. */
function leavingOf({ valueCents, madeBy, caps }: RefundInRequest): Leaving {
  return { valueCents, pixKey: null, caller: madeBy.caller, caps }
}

/** @throws not_supported_by_bank (422) */
function refuseUnsupported(): never {
  throw new Refusal('not_supported_by_bank')
}

/** Operations of other kinds are not found. @source failure-modes#RF-11 */
export function cashInIn(state: State, id: string | null): CashIn | undefined {
  const operation = id === null ? undefined : state.operation(id)
  return isCashIn(operation) ? operation : undefined
}

export function holderIn(state: State, refund: Pick<RefundIn, 'detail'>): Holder | undefined {
  const operation = state.operation(holderIdOf(refund))
  return isCashIn(operation) || isHeld(operation) ? operation : undefined
}

/** Common to all refunds. They bear no fee. */
export function operationOf({ endToEndId }: Pick<CashIn, 'endToEndId'>) {
  return { kind: 'refund_in', feeCents: 0n, exclusiveKey: null, expiresAt: null, endToEndId } as const
}

export type RefundInStore = ReturnType<typeof createRefundInStore>

interface RelistedHold {
  readonly id: string
  readonly isReversed: boolean
}

const selectOpen = statement<[cashInId: string], { id: string }>(
  'refund_in.open',
  `SELECT id FROM refund_in WHERE detail ->> 'cashInId' = $1 AND status = 'PENDING' ORDER BY id`,
)

const selectExplaining = statement<[cashInId: string, valueCents: bigint], { id: string }>(
  'refund_in.explaining',
  `SELECT id FROM refund_in WHERE detail ->> 'cashInId' = $1 AND status = 'PENDING'
   UNION ALL
   (SELECT id FROM refund_in
     WHERE detail ->> 'cashInId' = $1 AND value_cents = $2 AND status = 'FAILED' AND transaction_id IS NULL
       AND coalesce((facts ->> 'attempts')::int, 0) > coalesce((facts ->> 'unsentAttempts')::int, 0)
     ORDER BY created_at DESC LIMIT 100)`,
)

const selectRelistedHold = statement<[endToEndId: string], RelistedHold>(
  'refund_in.relisted_hold',
  `SELECT o.id, EXISTS (SELECT FROM operation c WHERE c.id = x.operation_id AND c.facts -> 'reversed' ? x.id) AS "isReversed"
     FROM movement x
     JOIN operation o ON o.kind = 'adjustment' AND o.detail ? 'about' AND o.status <> 'EXPLAINED'
                     AND o.detail ->> 'about' = 'movement PAYMENT_RECEIVED ' || x.id
    WHERE x.direction = 'in' AND x.id = $1 AND ${isTakenBack('x')}
    ORDER BY o.created_at DESC, o.id DESC LIMIT 1`,
)

export function createRefundInStore(database: Database) {
  const charges = createOperationStore(database, 'cash_in', isCashIn)
  return {
    ...createOrderStore(database, 'refund_in', isRefundIn),
    open: async (cashInId: string): Promise<string[]> =>
      (await database.rows(selectOpen, [cashInId])).map(({ id }) => id),
    /**
     * Ids of the refunds that may explain a return of this amount: those in flight, and the latest hundred that failed,
     * may have been executed, and have no known reference.
     * @source rules#cash-in.returns.1, rules#cash-in.returns.8
     */
    explaining: async (cashInId: string, valueCents: bigint): Promise<string[]> =>
      (await database.rows(selectExplaining, [cashInId, valueCents])).map(({ id }) => id),
    /**
     * Ids of other charges that may have the returned payment by an operator's decision.
     * @source rules#cash-in.refunds.9
     */
    holders: async (cashInId: string, returned: Pick<BankReturn, 'returnId' | 'endToEndId'>): Promise<string[]> => {
      const cashIn = await charges.get(cashInId)
      const endToEndId = cashIn && decidedPaymentOf(cashIn, returned)
      if (endToEndId === undefined) return []
      const [matches = []] = await charges.match([{ transactionId: null, externalId: null, endToEndId }])
      return [...new Set(matches.map(({ id }) => id))].filter((id) => id !== cashInId)
    },
    /**
     * The adjustment that holds a payment which the bank listed after an operator had reversed it, or had written it off
     * as missing: then the charge keeps its credit, and bears the bank's own returns.
     */
    relistedHold: async ({ endToEndId }: Pick<BankReturn, 'endToEndId'>): Promise<RelistedHold | undefined> =>
      endToEndId == null ? undefined : (await database.rows(selectRelistedHold, [endToEndId]))[0],
  }
}
