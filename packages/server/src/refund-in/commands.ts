import { fieldRefusal, limits, Refusal } from '@pixgate/spec'
import { type Held, isHeld, takenBack } from '../cases/unexplained.ts'
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
import { keyCapsFact, type Leaving, type Limits, looksOf, type OnLimitExceeded, taken } from '../operations/limits.ts'
import type { OrderResult } from '../operations/module.ts'
import type { Result } from '../operations/orders.ts'
import { type AskedBy, type OperatorRefusal, replayedOf } from '../operations/requests.ts'
import { createOrderStore, isEnabled, type OrderStore } from '../operations/store.ts'
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

/** One function per intention; each goes through the engine. */
export interface RefundInCommands {
  /**
   * Sets the amount aside, or finds the refund that the same `Idempotency-Key` made.
   * @throws not_supported_by_bank · idempotency_key_reused (422) · duplicate_external_id (409), and what `decideCreate` refuses
   * @source rules#refund-in.create.2, rules#partner.10, failure-modes#PL-60
   */
  create(request: RefundInRequest): Promise<Created>
  /** Lets a refund take inputs, as one change; `undefined` where it does not exist. */
  apply(id: string, inputs: readonly RefundInInput[]): Promise<RefundInOutcome | undefined>
  /**
   * The same as a command, to be carried out with another one; `undefined` where it does not exist.
   * What is due of returns afterwards is taken up from the database.
   */
  command(id: string, inputs: readonly RefundInInput[]): Promise<Command<OrderResult> | undefined>
  /**
   * Lets an operator refuse a refund that nobody tried to send; `undefined` where it does not exist.
   * @throws not_possible_in_state (409)
   * @source rules#refund-in.refusal.2
   */
  refuse(id: string, input: OperatorRefusal, live: LiveRequest): Promise<RefundIn | undefined>
  /**
   * Takes a return that names no refund of ours: it is in doubt while one of ours may be it, else it is the bank's own.
   * @source rules#cash-in.returns.1
   */
  applyReturn(cashInId: string, returned: BankReturn): Promise<Result>
  /** The same as a command. */
  returnCommand(cashInId: string, returned: BankReturn): Promise<Command<ReturnOutcome>>
  /** Does what is due about the returns in doubt of a cash-in. @source rules#cash-in.returns.4 */
  settleReturns(cashIn: CashIn): Promise<void>
  /** Wants the bank asked about every refund of a cash-in that is open. @source rules#cash-in.returns.7 */
  askAboutOpen(cashInId: string): Promise<Result>
}

/** A refund that a request made, now or when it came before. */
export interface Created {
  readonly refund: RefundIn
  readonly isReplayed: boolean
}

/** What the commands need. */
export interface RefundInCommandsOptions {
  readonly engine: Engine
  readonly store: Pick<RefundInStore, 'get' | 'open' | 'explaining' | 'holders'>
  readonly ids: Ids
  readonly terms: RefundInTerms
  readonly onLimitExceeded?: OnLimitExceeded
  /** The bank can be asked about a charge: what only an event tells of its returns is verified. */
  readonly canVerify?: boolean
  /** The bank gives no payment back. */
  readonly isUnsupported?: boolean
}

/** Makes the commands of an engine. */
export function createRefundInCommands(options: RefundInCommandsOptions): RefundInCommands {
  const { engine, store } = options
  async function applyReturn(cashInId: string, told: BankReturn): Promise<Result> {
    const { result, cashIn } = await engine.execute(await returnCommand(options, cashInId, told))
    if (cashIn) await settleDue(cashIn)
    return result
  }

  /** What is lost of this is taken up again from the database: the cash-in is due. */
  async function settleDue(cashIn: Holder): Promise<void> {
    if (isCashIn(cashIn) && hasReturnStep(cashIn, cashIn.updatedAt)) await settleReturns(options, cashIn)
  }

  async function apply(id: string, inputs: readonly RefundInInput[]): Promise<RefundInOutcome | undefined> {
    const known = await store.get(id)
    if (!known) return undefined
    const told = returnByBank(known, inputs)
    if (told) return { result: await applyReturn(holderIdOf(known), told), refund: known }
    const outcome = await engine.execute(refundCommand(known, inputs))
    if (outcome) await settleDue(outcome.holder)
    return outcome
  }

  return {
    create: (request) => create(options, request),
    apply,
    command: async (id, inputs) => {
      const known = await store.get(id)
      const told = known && returnByBank(known, inputs)
      if (known && told) return returnCommand(options, holderIdOf(known), told)
      return known && refundCommand(known, inputs)
    },
    refuse: async (...refusal) => {
      const standing = await refuse(options, ...refusal)
      if (standing) await settleDue(standing.holder)
      return standing?.refund
    },
    applyReturn,
    returnCommand: (...told) => returnCommand(options, ...told),
    settleReturns: (cashIn) => settleReturns(options, cashIn),
    askAboutOpen: async (cashInId) => {
      const open = await store.open(cashInId)
      for (const id of open) await apply(id, [{ on: 'work.requested' }])
      return open.length > 0 ? 'APPLIED' : 'UNEXPECTED'
    },
  }
}

/** What the bank took by itself is its cash-in's to tell. */
function returnByBank({ detail }: RefundIn, inputs: readonly RefundInInput[]): BankReturn | undefined {
  const told = detail.origin === 'PARTNER' ? inputs.find(isConfirmation) : undefined
  return told && { ...told, ...told.returned }
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
  cashInId: string,
  told: BankReturn,
): Promise<Command<ReturnOutcome>> {
  const returned = { ...told, isVerified: told.isVerified !== false || !canVerify }
  const identity = identityOf(ids, cashInId, returned.returnId)
  const holders = await store.holders(cashInId, returned)
  const charges = [cashInId, ...holders]
  const explaining = (await Promise.all(charges.map((id) => store.explaining(id, returned.valueCents)))).flat()
  return {
    reads: [...charges, ...explaining],
    movements: [movementOf(returned), ...lineOf(returned)],
    decide: (state, now) => {
      const held = state.operation(cashInId)
      if (isHeld(held)) return takenFrom(held, returned, state, now)
      const known = cashInIn(state, cashInId)
      return known
        ? decideReturn(...subjectOf(known, returned, holders, state), identity, state, now, explaining)
        : { outcome: { result: 'UNEXPECTED', cashIn: undefined } }
    },
  }
}

/** The payment that went back: an adjustment that holds it makes that its own. */
function lineOf({ endToEndId }: BankReturn): MovementId[] {
  return endToEndId == null ? [] : [{ direction: 'in', id: endToEndId }]
}

/** What the bank gave back by itself of a payment to the bare Pix key. @source rules#adjustment.held.8 */
function takenFrom(held: Held, returned: BankReturn, state: State, now: number): Decision<ReturnOutcome> {
  if (isImplausible(returned, now)) return { outcome: { result: 'IMPLAUSIBLE', cashIn: undefined } }
  const { outcome: isOfIt, ...taken } = takenBack(held, returned, state, now)
  return { ...taken, outcome: { result: isOfIt ? 'APPLIED' : 'UNEXPECTED', cashIn: undefined } }
}

async function create(options: RefundInCommandsOptions, request: RefundInRequest): Promise<Created> {
  const { engine, isUnsupported, terms, onLimitExceeded } = options
  const { cashInId, externalId, idempotencyKey } = request
  try {
    const refund = await engine.execute({
      reads: cashInId === null ? [] : [cashInId],
      controls: ['cash_out_switch'],
      ...looksOf(leavingOf(request), terms.limits),
      creates: { kind: 'refund_in', externalId, idempotencyKey },
      request: request.live,
      decide: isUnsupported ? refuseUnsupported : (state, now) => decideCreate(request, terms, state, now),
    })
    return { refund, isReplayed: false }
  } catch (error) {
    if (error instanceof Refusal && error.limit) onLimitExceeded?.(error.limit, request.madeBy)
    return { refund: replayedOf(error, request, isRefundIn, 'externalId'), isReplayed: true }
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

/** What inputs make a command look at besides operations: whether refunds are enabled matters to who sends one. */
function besides(inputs: readonly RefundInInput[]): Pick<Command<unknown>, 'movements' | 'controls'> {
  return {
    movements: inputs.filter(isConfirmation).map(({ returned }) => movementOf(returned)),
    controls: inputs.some(({ on }) => on === 'send.claimed') ? ['cash_out_switch'] : [],
  }
}

/** A refund for a return that names none, should it be the bank's own. */
function identityOf(ids: Ids, cashInId: string, returnId: string) {
  return { id: ids.uuid(), bodyHash: sha256(`${cashInId} ${returnId}`) }
}

/** Another word about what the bank took by itself may be about another part of it: its cash-in knows. */
function isConfirmation(input: RefundInInput): input is Extract<RefundInInput, { on: 'partner.confirmed' }> {
  return input.on === 'partner.confirmed'
}

/** Whether a refund is accepted. Pure. */

/** A create as the edge hands it over: shapes judged, money exact, nothing else decided. */
export interface RefundInRequest extends AskedBy {
  readonly id: string
  /** `null` where the path names nothing that could be a cash-in. */
  readonly cashInId: string | null
  readonly valueCents: bigint
  /** The refund's own id where the client gave none. */
  readonly externalId: string
  readonly reason: string | null
  readonly bodyHash: Buffer
}

/** The merchant's part of a create: configuration. */
export interface RefundInTerms {
  /** The id of this installation, from which order ids are derived. */
  readonly installation: string
  readonly limits: Limits
}

/**
 * Decides a create. The whole amount is set aside, or nothing is stored.
 * @throws cash_in_not_found · cash_in_not_paid · refund_value_not_positive · refund_deadline_exceeded ·
 *   refund_exceeds_available · limit_exceeded · insufficient_balance (422) · cash_out_suspended (503)
 * @source rules#refund-in.create.2, rules#refund-in.create.3, rules#limits.4, failure-modes#RF-2, failure-modes#RF-4
 */
export function decideCreate(
  request: RefundInRequest,
  { limits: bounds, installation }: RefundInTerms,
  state: State,
  now: number,
): Decision<RefundIn> {
  if (!isEnabled(state)) throw new Refusal('cash_out_suspended')
  const { valueCents } = request
  const cashIn = cashInIn(state, request.cashInId)
  if (!cashIn) throw new Refusal('cash_in_not_found')
  const deadline = refundDeadline(cashIn)
  if (cashIn.status !== 'PAID' || deadline === null) throw new Refusal('cash_in_not_paid')
  if (valueCents <= 0n) throw fieldRefusal('refund_value_not_positive', 'refundValue', 'not_positive')
  if (now > deadline) throw new Refusal('refund_deadline_exceeded')
  if (valueCents > refundableCents(cashIn)) throw fieldRefusal('refund_exceeds_available', 'refundValue', 'too_large')
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

/** What a create is to the limits. A refund goes back to who paid. */
function leavingOf({ valueCents, madeBy, caps }: RefundInRequest): Leaving {
  return { valueCents, pixKey: null, caller: madeBy.caller, caps }
}

/** Decides a create at a bank that gives no payment back. @throws not_supported_by_bank (422) */
function refuseUnsupported(): never {
  throw new Refusal('not_supported_by_bank')
}

/** The cash-in that an id names: an operation of any other kind is none. @source failure-modes#RF-11 */
export function cashInIn(state: State, id: string | null): CashIn | undefined {
  const operation = id === null ? undefined : state.operation(id)
  return isCashIn(operation) ? operation : undefined
}

/** What has the payment that a refund gives back. */
export function holderIn(state: State, refund: Pick<RefundIn, 'detail'>): Holder | undefined {
  const operation = state.operation(holderIdOf(refund))
  return isCashIn(operation) || isHeld(operation) ? operation : undefined
}

/** What every refund of a cash-in has. A refund bears no fee. */
export function operationOf({ endToEndId }: Pick<CashIn, 'endToEndId'>) {
  return { kind: 'refund_in', feeCents: 0n, exclusiveKey: null, expiresAt: null, endToEndId } as const
}

/** All SQL of refunds. */
export interface RefundInStore extends OrderStore<RefundIn> {
  /** The ids of the refunds of a cash-in that are under way. */
  open(cashInId: string): Promise<string[]>
  /**
   * The ids of the refunds of a cash-in that a return of this amount may be: those that are under way, and the hundred
   * latest of those that failed although they may have arrived, and whose reference at the bank nobody knows.
   * @source rules#cash-in.returns.1, rules#cash-in.returns.8
   */
  explaining(cashInId: string, valueCents: bigint): Promise<string[]>
  /**
   * The ids of the other charges that may have the payment which a return is of, as an operator decided so.
   * @source rules#cash-in.refunds.9
   */
  holders(cashInId: string, returned: Pick<BankReturn, 'returnId' | 'endToEndId'>): Promise<string[]>
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

/** Makes the store of a database. */
export function createRefundInStore(database: Database): RefundInStore {
  const charges = createOperationStore(database, 'cash_in', isCashIn)
  return {
    ...createOrderStore(database, 'refund_in', isRefundIn),
    explaining: async (cashInId, valueCents) =>
      (await database.rows(selectExplaining, [cashInId, valueCents])).map(({ id }) => id),
    holders: async (cashInId, returned) => {
      const cashIn = await charges.get(cashInId)
      const endToEndId = cashIn && decidedPaymentOf(cashIn, returned)
      if (endToEndId === undefined) return []
      const [matches = []] = await charges.match([{ transactionId: null, externalId: null, endToEndId }])
      return [...new Set(matches.map(({ id }) => id))].filter((id) => id !== cashInId)
    },
    open: async (cashInId) => (await database.rows(selectOpen, [cashInId])).map(({ id }) => id),
  }
}
