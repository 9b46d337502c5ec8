import { type GuardOf, refundIn, smaller } from '@pixgate/spec'
import { bookedReturn, type CashIn, ownReference } from '../cash-in/index.ts'
import { follow } from '../engine/follow.ts'
import { type Decision, type State, together } from '../engine/operation.ts'
import {
  endsOverdue,
  hasOtherOpenAttempts,
  isBookedElsewhere,
  isProvenNotFound,
  isRepeatable,
  isRepeatableAgain,
  isStillToDo,
  isUnansweredTooLong,
  isUnsent,
  notFound,
  type Result,
} from '../operations/index.ts'
import { own } from '../platform/own.ts'
import { changesOf } from './facts.ts'
import { evidenceOf, toldOf } from './notification.ts'
import {
  isImplausible,
  isOfAnotherPayment,
  movementOf,
  type RefundIn,
  type RefundInInput,
  type ReturnConfirmed,
  type Standing,
} from './refund-in.ts'
import { isNeverClaimed, nextStep, restingDueAt, waitsForPerson } from './schedule.ts'
import { withAnswer, withCashIn } from './with-cash-in.ts'

/**
 * What a refund does with each input. Pure: the table in the spec says where to go, this file says what its conditions
 * mean.
 */

/** Decides inputs one after the other, as one change. */
export function decideRefundIn(
  refund: RefundIn,
  cashIn: CashIn,
  inputs: readonly RefundInInput[],
  state: State,
  now: number,
): Decision<Standing> {
  let decision: Decision<Standing> = { outcome: { result: 'IGNORED', refund, cashIn } }
  for (const input of inputs) {
    const { outcome } = decision
    const next = decideOne(outcome.refund, outcome.cashIn, input, state, now)
    const result = next.outcome.result === 'IGNORED' ? outcome.result : next.outcome.result
    decision = together(decision, { ...next, outcome: { ...next.outcome, result } })
  }
  return decision
}

/**
 * Decides one input by the machine's table.
 * @source rules#refund-in.states
 */
function decideOne(
  refundNow: RefundIn,
  cashIn: CashIn,
  given: RefundInInput,
  state: State,
  now: number,
): Decision<Standing> {
  const input = judged(refundNow, cashIn, given, now)
  if (typeof input === 'string') {
    return withAnswer({ outcome: { result: input, refund: refundNow, cashIn } }, given, now)
  }
  const isAnothers =
    input.on === 'partner.confirmed' && isBookedElsewhere(refundNow, state.movement(movementOf(input.returned)))
  const left = input.on === 'partner.confirmed' ? input.returned.valueCents : 0n
  const held = smaller(state.balance('available'), smaller(left, refundNow.valueCents))
  const decision = follow(
    refundIn,
    refundNow,
    {
      on: input.on,
      holds: (guard) => GUARDS[guard](refundNow, cashIn, input, { at: now, isAnothers }),
      changes: (row) => changesOf(refundNow, cashIn, input, row, now, held),
      amounts: { r: refundNow.valueCents, v: left, p: left, h: held },
      reference: input.on === 'partner.confirmed' ? input.returned.returnId : '',
      notification: (to) => toldOf(refundNow, cashIn, input, to),
      evidence: evidenceOf(input),
      outcome: (after, isApplied): Standing => ({
        result: isApplied ? applied(refundNow, input) : 'IGNORED',
        refund: after as RefundIn,
        cashIn,
      }),
    },
    now,
  )
  const isOutcome = refundNow.status === 'PENDING' && decision.outcome.refund.status !== 'PENDING'
  const closed = endsOverdue(refundNow.facts, isOutcome, closingCases(refundNow, decision))
  return withAnswer(withCashIn(refundNow, closed, input, now), given, now)
}

/** What a row took: a confirmation that an event tells of another payment only makes us ask. */
function applied(now: RefundIn, input: RefundInInput): Result {
  return isOfAnotherPayment(now, input) ? 'DISPUTED' : 'APPLIED'
}

/** A doubt that ends takes its case with it, although no state shows it. @source rules#refund-in.unknown.4 */
function closingCases(before: RefundIn, decision: Decision<Standing>): Decision<Standing> {
  const isOver = before.facts.doubt != null && decision.outcome.refund.facts.doubt == null
  if (!isOver) return decision
  return { ...decision, moves: (decision.moves ?? []).map((move) => ({ ...move, closesCases: true })) }
}

/** An input that the table may see: known facts are taken out, unverified ones lead to a question where that is due. */
function judged(
  now: RefundIn,
  cashIn: CashIn,
  input: RefundInInput,
  at: number,
): RefundInInput | Exclude<Result, 'APPLIED'> {
  if (input.on === 'partner.confirmed') return judgedConfirmation(now, cashIn, input, at)
  if (waitsForPerson(now) && !ALWAYS_TAKEN.has(input.on)) return 'IGNORED'
  switch (input.on) {
    case 'partner.failed':
      // The statement shows that it left: that is booked first, and a failure frees nothing meanwhile.
      if (now.status === 'PENDING' && now.facts.isShown && input.isVerified) return 'IGNORED'
      return now.status === 'PENDING' && isNeverClaimed(now) ? 'UNEXPECTED' : input
    case 'send.accepted':
      return isAcceptanceKnown(now, cashIn, input.transactionId) ? 'IGNORED' : input
    case 'send.rejected':
      // A refusal of an attempt that another one followed, or of what the bank has, proves nothing.
      return now.status === 'PENDING' && (now.facts.isAccepted || input.attempt !== now.facts.attempts)
        ? { on: 'work.requested' }
        : input
    case 'partner.not_found':
      return isUnansweredSilently(now, at) &&
        !GUARDS['never arrived and must not be sent again'](now, cashIn, input, { at })
        ? { on: 'clock.escalated' }
        : input
    case 'send.unknown':
      // A question that failed says nothing about an order that the bank is known to have.
      if (now.facts.isAccepted) return 'IGNORED'
      return isUnansweredSilently(now, at) ? { on: 'clock.escalated' } : input
    case 'work.requested':
      if (now.detail.origin === 'PARTNER') return 'IGNORED'
      return input.isShown && now.status !== 'PENDING' ? { on: 'work.requested' } : input
    case 'work.claimed':
    case 'send.claimed':
    case 'work.done':
    case 'clock.released':
    case 'clock.overdue':
      return isStillToDo(input, now, { nextStep, restingDueAt }, at) ? input : 'IGNORED'
    default:
      return input
  }
}

const ALWAYS_TAKEN = new Set<RefundInInput['on']>(['work.requested', 'work.claimed', 'work.done', 'send.not_sent'])

/** Whether an answer has been missing for too long, and no person knows of it. */
function isUnansweredSilently({ status, facts }: RefundIn, at: number): boolean {
  return status === 'PENDING' && facts.doubt == null && isUnansweredTooLong(facts, at)
}

function isAcceptanceKnown({ transactionId, facts }: RefundIn, cashIn: CashIn, told: string): boolean {
  return facts.isAccepted === true && facts.unknownSince == null && transactionId === ownReference(told, cashIn)
}

function judgedConfirmation(
  now: RefundIn,
  cashIn: CashIn,
  input: Extract<RefundInInput, { on: 'partner.confirmed' }>,
  at: number,
): RefundInInput | 'IGNORED' | 'IMPLAUSIBLE' {
  const { returnId, valueCents } = input.returned
  if (isImplausible(input.returned, at)) return 'IMPLAUSIBLE'
  const booked = own(now.facts.returns, returnId)
  if (booked !== undefined && (BigInt(booked) === valueCents || now.status !== 'CONFIRMED')) return 'IGNORED'
  const isToldBefore = now.facts.doubt === 'contradiction' && bookedReturn(cashIn, returnId) !== undefined
  if (isToldBefore && (now.status !== 'CONFIRMED' || booked === undefined)) return 'IGNORED'
  const isUnproven = now.facts.doubt === 'unrecorded' && !input.isVerified
  return isUnproven ? { on: 'work.requested' } : input
}

/** Whether it may be what was booked here already, as one of both was told without an id. @source rules#refund-in.doubt.8 */
function isToldWithoutId({ facts }: RefundIn, { returned, isUnnamed }: ReturnConfirmed): boolean {
  const { returns = {}, unnamedReturnId } = facts
  const told = isUnnamed ? Object.values(returns) : [own(returns, unnamedReturnId ?? '')]
  return told.includes(Number(returned.valueCents))
}

/** What conditions look at besides the refund, its cash-in and the input. */
interface Given {
  readonly at: number
  /** The movement that is told was booked on another operation. */
  readonly isAnothers?: boolean
}

/** What the conditions of the table mean. @source rules#refund-in.states */
const GUARDS: Readonly<
  Record<GuardOf<typeof refundIn>, (now: RefundIn, cashIn: CashIn, input: RefundInInput, given: Given) => boolean>
> = {
  // What another return of the same payment took is counted there already, or in suspense there.
  'movement belongs to another operation': (_now, cashIn, input, { isAnothers }) =>
    input.on === 'partner.confirmed' &&
    isAnothers === true &&
    bookedReturn(cashIn, input.returned.returnId) === undefined,
  'partner agrees when asked': (_now, _cashIn, input) => 'isVerified' in input && input.isVerified,
  'sending was not recorded': (now, _cashIn, input) =>
    input.on === 'partner.confirmed' && !input.isVerified && isNeverClaimed(now),
  'another payment went back': (now, _cashIn, input) => isOfAnotherPayment(now, input),
  'return has no id': (_now, _cashIn, input) => input.on === 'partner.confirmed' && input.isUnnamed === true,
  'return was booked before': (now, cashIn, input) =>
    input.on === 'partner.confirmed' &&
    (bookedReturn(cashIn, input.returned.returnId) !== undefined || isToldWithoutId(now, input)),
  'amount differs': ({ valueCents }, _cashIn, input) =>
    input.on === 'partner.confirmed' && input.returned.valueCents !== valueCents,
  'waits for a person': ({ facts }) => facts.doubt === 'contradiction',
  'return restated': ({ facts }, _cashIn, input) =>
    input.on === 'partner.confirmed' && own(facts.returns, input.returned.returnId) !== undefined,
  'return is a second one': ({ facts }, _cashIn, input) =>
    input.on === 'partner.confirmed' && own(facts.returns, input.returned.returnId) === undefined,
  'reference differs': ({ transactionId }, cashIn, input) => {
    const told = input.on === 'send.accepted' ? ownReference(input.transactionId, cashIn) : null
    return transactionId !== null && told !== null && told !== transactionId
  },
  'money is held again': ({ facts }) => facts.heldAgainCents !== undefined,
  'nothing of it left': (now) => isNeverClaimed(now) || isUnsent(now.facts),
  'asked in vain and safe to repeat': ({ facts }, _cashIn, input, { at }) =>
    input.on === 'send.claimed' &&
    input.again !== undefined &&
    input.again.askedAt >= (facts.lastAttemptAt ?? at) &&
    isRepeatableAgain(facts, input.again, at),
  'another attempt may arrive': ({ facts }) => hasOtherOpenAttempts(facts),
  'never arrived and must not be sent again': ({ facts }, _cashIn, input, { at }) =>
    input.on === 'partner.not_found' &&
    !isRepeatable(facts, input.windowMs, at) &&
    isProvenNotFound({ ...facts, ...notFound(facts, input.askedAt) }, input.steadySince),
}
