import { cashOut, type GuardOf, limits, smaller } from '@pixgate/spec'
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
} from '../operations/index.ts'
import { own } from '../platform/own.ts'
import {
  bookedMovement,
  bookedReturn,
  type CashOut,
  type CashOutInput,
  type CashOutOutcome,
  type ConfirmedInput,
  isOfAnotherPayment,
  mayBeBooked,
  movementsOf,
  paidElsewhere,
  type ReturnedInput,
  reversedCents,
} from './cash-out.ts'
import { type CashOutTerms, isEnabled } from './create.ts'
import { accountingDay, dayAfterRelease, type SentDay } from './day.ts'
import { changesOf } from './facts.ts'
import { evidenceOf, notificationOf } from './notification.ts'
import { isOpen, nextStep, restingDueAt } from './schedule.ts'

/**
 * What a cash-out does with each input. Pure: the table in the spec says where to go, this file says what its conditions
 * mean.
 */

/**
 * Decides inputs one after the other, as one change: a confirmation and the returns that came with it.
 * @source failure-modes#EV-22
 */
export function decideCashOut(
  cashOutNow: CashOut,
  inputs: readonly CashOutInput[],
  { cashOutDailyMaxCents }: Pick<CashOutTerms, 'cashOutDailyMaxCents'>,
  state: State,
  now: number,
): Decision<CashOutOutcome> {
  const keepsDay = cashOutDailyMaxCents !== null
  let decision: Decision<CashOutOutcome> = { outcome: { result: 'IGNORED', cashOut: cashOutNow } }
  for (const input of inputs) {
    const next = decideOne(decision.outcome.cashOut, input, keepsDay, state, now)
    const result = next.outcome.result === 'IGNORED' ? decision.outcome.result : next.outcome.result
    decision = together(decision, { ...next, outcome: { ...next.outcome, result } })
  }
  return decision
}

/**
 * Decides one input by the machine's table.
 * @source rules#cash-out.states
 */
function decideOne(
  cashOutNow: CashOut,
  given: CashOutInput,
  keepsDay: boolean,
  state: State,
  now: number,
): Decision<CashOutOutcome> {
  // Nothing is sent from the commit of the switch on, whatever a worker has read before.
  const input = given.on === 'send.claimed' && !isEnabled(state) ? 'IGNORED' : judged(cashOutNow, given, now)
  if (typeof input === 'string') return { outcome: { result: input, cashOut: cashOutNow } }
  const isAnothers = movementsOf([input]).some((told) => isBookedElsewhere(cashOutNow, state.movement(told)))
  const held = smaller(state.balance('available'), cashOutNow.valueCents + cashOutNow.feeCents)
  const decision = follow(
    cashOut,
    cashOutNow,
    {
      on: input.on,
      holds: (guard) => GUARDS[guard](cashOutNow, input, { at: now, isAnothers }),
      changes: (row) => changesOf(cashOutNow, input, row, now, held),
      amounts: {
        v: cashOutNow.valueCents,
        f: cashOutNow.feeCents,
        h: held,
        p: moneyOf(input),
        w: moneyOf(input),
      },
      reference: referenceOf(input),
      notification: (to) => notificationOf(cashOutNow, input, to),
      evidence: evidenceOf(input),
      outcome: (after, isApplied) => ({
        result: isApplied ? applied(cashOutNow, input) : unmatched(cashOutNow, input),
        cashOut: after as CashOut,
      }),
    },
    now,
  )
  const closed = closesOverdue(cashOutNow, decision)
  return { ...closed, ...sideEffects(cashOutNow, closed, keepsDay, state) }
}

/** The outcome has come that a person was told to wait for. @source rules#cash-out.states.15 */
function closesOverdue(before: CashOut, decision: Decision<CashOutOutcome>): Decision<CashOutOutcome> {
  const { status } = decision.outcome.cashOut
  return endsOverdue(before.facts, isOpen(before) && (status === 'CONFIRMED' || status === 'FAILED'), decision)
}

/** What a row took: a return that an event tells of another payment only makes us ask. */
function applied(now: CashOut, input: CashOutInput): CashOutOutcome['result'] {
  return isOfAnotherPayment(now, input) ? 'DISPUTED' : 'APPLIED'
}

/** What no row takes: a failure or a return of what was never sent or has not been confirmed yet. */
function unmatched({ status }: CashOut, { on }: CashOutInput): CashOutOutcome['result'] {
  if (on === 'partner.returned') return status === 'REVERSED' ? 'IGNORED' : 'EARLY'
  return on === 'partner.failed' && status === 'RESERVED' ? 'UNEXPECTED' : 'IGNORED'
}

/** What depends on more than the operation: a held balance, and the day's total. */
function sideEffects(
  { valueCents, createdAt }: CashOut,
  { journals = [] }: Decision<unknown>,
  keepsDay: boolean,
  state: State,
): Pick<Decision<unknown>, 'exact' | 'controls'> {
  const posts = (kind: string) => journals.some((journal) => journal.kind === kind)
  return {
    ...(posts('left_after_release') ? { exact: ['available'] as const } : {}),
    ...(keepsDay && posts('cash_out_released')
      ? {
          controls: {
            cash_out_day: dayAfterRelease(
              state.control('cash_out_day') as SentDay,
              accountingDay(createdAt),
              valueCents,
            ),
          },
        }
      : {}),
  }
}

/** An input that the table may see: known facts are taken out, unverified ones lead to a question where that is due. */
function judged(
  now: CashOut,
  input: CashOutInput,
  at: number,
): CashOutInput | Exclude<CashOutOutcome['result'], 'APPLIED'> {
  switch (input.on) {
    case 'partner.confirmed':
      return judgedConfirmation(now, paidElsewhere(now, input.movement) ? toSomebodyElse(input) : input, at)
    case 'partner.returned':
      return judgedReturn(now, input, at)
    case 'work.requested':
      return input.isShown && !isOpen(now) ? { on: 'work.requested' } : input
    case 'partner.failed':
      // The statement shows that it left: that is booked first, and a failure frees nothing meanwhile.
      if (isOpen(now) && now.facts.isShown && input.isVerified) return 'IGNORED'
      return now.status === 'RECONCILIATION_REQUIRED' && !input.isVerified ? { on: 'work.requested' } : input
    case 'send.accepted':
      return now.facts.isAccepted &&
        now.transactionId === input.transactionId &&
        now.status !== 'PROVIDER_RESULT_UNKNOWN'
        ? 'IGNORED'
        : input
    case 'send.rejected':
      // A refusal of an attempt that another one followed, or of what the bank has, proves nothing.
      return isOpen(now) && (now.facts.isAccepted || input.attempt !== now.facts.attempts)
        ? { on: 'work.requested' }
        : input
    case 'partner.not_found':
      return isUnansweredSilently(now, at) && !GUARDS['never arrived and must not be sent again'](now, input, { at })
        ? { on: 'clock.escalated' }
        : input
    case 'send.unknown':
      if (isUnansweredSilently(now, at)) return { on: 'clock.escalated' }
      // A question that failed says nothing about an order that the bank is known to have.
      return now.facts.isAccepted ? 'IGNORED' : input
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

/** Whether an answer has been missing for too long, and no person knows of it. @source failure-modes#P8 */
function isUnansweredSilently(now: CashOut, at: number): boolean {
  return isOpen(now) && now.facts.doubt == null && !now.facts.isAccepted && isUnansweredTooLong(now.facts, at)
}

function toSomebodyElse(input: ConfirmedInput): ConfirmedInput {
  return { ...input, movement: { ...input.movement, isElsewhere: true } }
}

function judgedConfirmation(now: CashOut, input: ConfirmedInput, at: number): CashOutInput | 'IGNORED' | 'IMPLAUSIBLE' {
  const { endToEndId, valueCents, occurredAt, isElsewhere = false } = input.movement
  if (occurredAt > at + limits.occurredAtFutureMs) return 'IMPLAUSIBLE'
  const booked = bookedMovement(now, endToEndId)
  const isRestated = booked !== undefined && (booked !== valueCents || isElsewhere)
  const hasLeft = now.status === 'CONFIRMED' || now.status === 'REVERSED'
  if (booked !== undefined && !(isRestated && hasLeft)) return 'IGNORED'
  const isUnproven = now.facts.doubt === 'unrecorded' && !input.isVerified
  return isUnproven ? { on: 'work.requested' } : input
}

function judgedReturn(
  now: CashOut,
  input: ReturnedInput,
  at: number,
): CashOutInput | 'IGNORED' | 'IMPLAUSIBLE' | 'EARLY' {
  const { returnId, valueCents, occurredAt } = input.returned
  if (occurredAt > at + limits.occurredAtFutureMs) return 'IMPLAUSIBLE'
  const known = bookedReturn(now, returnId) ?? own(now.facts.returnsToldAgain, returnId)
  if (known !== undefined && BigInt(known) === valueCents) return 'IGNORED'
  return now.status === 'RECONCILIATION_REQUIRED' && !input.isVerified ? 'EARLY' : input
}

/** What conditions look at besides the cash-out and the input. */
interface Given {
  readonly at: number
  /** The movement that is told was booked on another operation. */
  readonly isAnothers?: boolean
}

/** What the conditions of the table mean. @source rules#cash-out.states */
const GUARDS: Readonly<Record<GuardOf<typeof cashOut>, (now: CashOut, input: CashOutInput, given: Given) => boolean>> =
  {
    'movement belongs to another operation': (_now, _input, { isAnothers }) => isAnothers === true,
    'partner agrees when asked': (_, input) => 'isVerified' in input && input.isVerified,
    'amount differs': ({ valueCents }, input) =>
      input.on === 'partner.confirmed' &&
      (input.movement.valueCents !== valueCents || input.movement.isElsewhere === true),
    'movement restated': (now, input) =>
      input.on === 'partner.confirmed' && bookedMovement(now, input.movement.endToEndId) !== undefined,
    'movement is a second one': (now, input) =>
      input.on === 'partner.confirmed' && bookedMovement(now, input.movement.endToEndId) === undefined,
    'reference differs': ({ transactionId }, input) =>
      input.on === 'send.accepted' && transactionId !== null && transactionId !== input.transactionId,
    'return was booked otherwise': (now, input) =>
      input.on === 'partner.returned' && bookedReturn(now, input.returned.returnId) !== undefined,
    'return is of another payment': isOfAnotherPayment,
    'return may be known': (now, input, { isAnothers }) =>
      input.on === 'partner.returned' &&
      isAnothers !== true &&
      !isOfAnotherPayment(now, input) &&
      mayBeBooked(now, input),
    'return has no id': (_, input) => input.on === 'partner.returned' && input.isUnnamed === true,
    'returns exceed the payout': (now, input) =>
      input.on === 'partner.returned' && reversedCents(now.facts) + input.returned.valueCents > now.valueCents,
    'nothing of it left': (now) => isOpen(now) && isUnsent(now.facts),
    'asked in vain and safe to repeat': (now, input, { at }) =>
      input.on === 'send.claimed' &&
      input.again !== undefined &&
      isOpen(now) &&
      input.again.askedAt >= (now.facts.lastAttemptAt ?? at) &&
      isRepeatableAgain(now.facts, input.again, at),
    'another attempt may arrive': (now) => isOpen(now) && hasOtherOpenAttempts(now.facts),
    'never arrived and must not be sent again': (now, input, { at }) =>
      input.on === 'partner.not_found' &&
      isOpen(now) &&
      !isRepeatable(now.facts, input.windowMs, at) &&
      isProvenNotFound({ ...now.facts, ...notFound(now.facts, input.askedAt) }, input.steadySince),
    'evidence was missing': ({ facts }) => facts.doubt === 'missing',
    'sending was not recorded': ({ facts }) => facts.doubt === 'unrecorded',
    'hold is gone': ({ facts }) => facts.isReleased === true,
  }

function moneyOf(input: CashOutInput): bigint {
  if (input.on === 'partner.confirmed') return input.movement.valueCents
  return input.on === 'partner.returned' ? input.returned.valueCents : 0n
}

function referenceOf(input: CashOutInput): string {
  if (input.on === 'partner.confirmed') return input.movement.endToEndId
  return input.on === 'partner.returned' ? input.returned.returnId : ''
}
