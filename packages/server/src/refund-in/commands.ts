import { Refusal } from '@pixgate/spec'
import { type Held, isHeld, takenBack } from '../cases/unexplained.ts'
import { type CashIn, hasReturnStep, isCashIn, returnsInDoubt } from '../cash-in/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Command, Decision, MovementId, State } from '../engine/operation.ts'
import type { Result } from '../operations/inputs.ts'
import { looksOf } from '../operations/limits/limits.ts'
import type { OnLimitExceeded } from '../operations/limits/report.ts'
import type { OrderResult } from '../operations/module.ts'
import type { OperatorRefusal } from '../operations/refusal.ts'
import { replayedOf } from '../operations/replay.ts'
import { sha256 } from '../platform/crypto.ts'
import type { Ids } from '../platform/ids.ts'
import type { LiveRequest } from '../platform/live-request.ts'
import {
  cashInIn,
  decideCreate,
  holderIn,
  leavingOf,
  type RefundInRequest,
  type RefundInTerms,
  refuseUnsupported,
} from './create.ts'
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
import { decideRefundIn, decideRefusal } from './rules.ts'
import type { RefundInStore } from './store.ts'

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
