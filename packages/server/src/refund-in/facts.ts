import { type CashIn, ownReference } from '../cash-in/index.ts'
import type { Changes, Target } from '../engine/follow.ts'
import {
  attempted,
  callEnded,
  learnedOfOrder,
  NO_DOUBT,
  nextDueAt,
  notFound,
  questionWanted,
  retryDelayMs,
  unanswered,
} from '../operations/index.ts'
import { isOfAnotherPayment, type RefundIn, type RefundInInput, type ReturnConfirmed } from './refund-in.ts'
import { restingDueAt, waitsForPerson } from './schedule.ts'

/** What becomes known of a refund by each input. Pure. */

/** What a move changes besides the status: what the input teaches, and when the next work is due. */
export function changesOf(
  now: RefundIn,
  cashIn: CashIn,
  input: RefundInInput,
  row: Target,
  at: number,
  held: bigint,
): Changes {
  const known = learned(now, input, row, at, held)
  const facts = { ...known.facts, ...callEnded(input, now.facts) }
  const changes = { ...referenceLearned(now, cashIn, input), ...known, facts }
  const after = { ...now, status: row.to, facts: { ...now.facts, ...changes.facts } }
  return {
    ...changes,
    dueAt: changes.dueAt === undefined ? nextDueAt(now, after.facts, restingDueAt(after, at), at) : changes.dueAt,
  }
}

/** The bank's reference of the refund, where the input is the first to tell it. */
export function referenceLearned(now: RefundIn, cashIn: CashIn, input: RefundInInput): Changes {
  // What goes by another payment's name teaches nothing of this refund.
  if (isOfAnotherPayment(now, input)) return {}
  const told = 'transactionId' in input && input.transactionId !== null ? input.transactionId : undefined
  const reference = told === undefined ? null : ownReference(told, cashIn)
  return now.transactionId === null && reference !== null ? { transactionId: reference } : {}
}

/** What an input teaches. A `dueAt` here is a question to ask soon; otherwise the state says when work is due. */
function learned(now: RefundIn, input: RefundInInput, row: Target, at: number, held: bigint): Changes {
  const { facts } = now
  switch (input.on) {
    case 'send.claimed':
      return { dueAt: at + input.leaseMs, facts: attempted(facts, at, input.leaseMs) }
    case 'send.accepted':
      return { facts: { isAccepted: true, ...(row.to === 'PENDING' ? NO_DOUBT : {}) } }
    case 'send.rejected':
      if (row.to === 'FAILED') return { facts: failure(input) }
      return row.to === 'PENDING' ? { ...questionWanted(now, at, { refusal: refusalOf(input) }), dueAt: at } : {}
    case 'send.not_sent':
      return {
        // A late word about an attempt that another one followed does not disturb that one's lease.
        dueAt: input.attempt === facts.attempts && !waitsForPerson(now) ? at + retryDelayMs(facts) : now.dueAt,
        facts: { unsentAttempts: (facts.unsentAttempts ?? 0) + 1 },
      }
    case 'send.contradicted':
      // The call is over, whatever else is under way: the bank is asked once more, at once.
      return row.to === 'PENDING' ? { ...questionWanted(now, at, { doubt: 'contradiction' }), dueAt: at } : {}
    case 'partner.not_found':
      return {
        facts: {
          ...notFound(facts, input.askedAt),
          ...(row.to === 'PENDING' ? unanswered(facts, at) : {}),
          ...(row.to === 'FAILED' ? failure(facts.refusal ?? { errorCode: 'not_found', errorMessage: null }) : {}),
        },
      }
    case 'partner.confirmed':
      return learnedOfReturn(now, input, row, at, held)
    case 'partner.failed':
      if (row.to === 'FAILED') return { facts: failure(input) }
      // Only an event says so yet: the bank is asked.
      return row.to === 'PENDING' ? questionWanted(now, at) : { facts: { doubt: 'contradiction' } }
    case 'clock.released':
      return { facts: failure({ errorCode: 'never_sent', errorMessage: null }) }
    default:
      return learnedOfOrder(input, now, restingDueAt(now, at), at)
  }
}

function refusalOf({ errorCode, errorMessage }: Extract<RefundInInput, { on: 'send.rejected' }>) {
  return { errorCode, errorMessage }
}

function failure({ errorCode, errorMessage }: { readonly errorCode: string; readonly errorMessage: string | null }) {
  return { failureCode: errorCode, failureReason: errorMessage, ...NO_DOUBT }
}

function learnedOfReturn(now: RefundIn, input: ReturnConfirmed, { posts }: Target, at: number, held: bigint): Changes {
  if (isOfAnotherPayment(now, input)) return questionWanted(now, at)
  const { status, facts } = now
  const { returned, isVerified } = input
  const { returnId, valueCents, occurredAt } = returned
  if (posts === undefined) {
    const isUnrecorded = status === 'PENDING' && !isVerified && (facts.attempts ?? 0) === 0
    return isUnrecorded ? questionWanted(now, at, { doubt: 'unrecorded' }) : { facts: { doubt: 'contradiction' } }
  }
  const unnamed = input.isUnnamed ? { unnamedReturnId: returnId } : {}
  const returns = { ...facts.returns, [returnId]: Number(valueCents) }
  if (posts === 'refund_in_confirmed') {
    return { facts: { returns, returnId, confirmedAt: occurredAt, ...NO_DOUBT } }
  }
  const again = posts === 'left_after_release' ? { heldAgainCents: Number(held) } : {}
  return { facts: { returns, ...unnamed, doubt: 'contradiction', ...again } }
}
