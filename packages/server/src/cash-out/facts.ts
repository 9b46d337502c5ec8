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
import { own } from '../platform/own.ts'
import {
  type CashOut,
  type CashOutFacts,
  type CashOutInput,
  isOfAnotherPayment,
  type ReturnedInput,
} from './cash-out.ts'
import { isOpen, restingDueAt } from './schedule.ts'

/** What becomes known of a cash-out by each input. Pure. */

/** What a move changes besides the status: what the input teaches, and when the next work is due. */
export function changesOf(now: CashOut, input: CashOutInput, row: Target, at: number, held: bigint): Changes {
  const known = learned(now, input, row, at, held)
  const changes = { ...known, facts: { ...known.facts, ...callEnded(input, now.facts) } }
  const after = { ...now, status: row.to, facts: { ...now.facts, ...changes.facts } }
  return {
    ...changes,
    dueAt: changes.dueAt === undefined ? nextDueAt(now, after.facts, restingDueAt(after, at), at) : changes.dueAt,
    ...(row.posts === 'cash_out_released' ? { givesUpExclusiveKey: true } : {}),
  }
}

/** What an input teaches. A `dueAt` here is a question to ask soon; otherwise the state says when work is due. */
function learned(now: CashOut, input: CashOutInput, row: Target, at: number, held: bigint): Changes {
  const { facts } = now
  switch (input.on) {
    case 'send.claimed':
      return {
        dueAt: at + input.leaseMs,
        facts: { ...attempted(facts, at, input.leaseMs), dispatchedAt: facts.dispatchedAt ?? at },
      }
    case 'send.accepted':
      return {
        ...(now.transactionId === null ? { transactionId: input.transactionId } : {}),
        ...learnedOfAcceptance(now, row, at),
      }
    case 'send.rejected':
      return row.to === 'FAILED' ? { facts: failure(input) } : learnedOfRefusal(now, input, at)
    case 'send.not_sent':
      return {
        // A late word about an attempt that another one followed does not disturb that one's lease.
        ...(input.attempt === facts.attempts ? { dueAt: at + retryDelayMs(facts) } : { dueAt: now.dueAt }),
        facts: { unsentAttempts: (facts.unsentAttempts ?? 0) + 1 },
      }
    case 'send.contradicted':
      return learnedOfContradiction(now, input, row, at)
    case 'partner.not_found':
      return {
        facts: {
          ...notFound(facts, input.askedAt),
          ...unanswered(facts, at),
          ...(row.to === 'FAILED' ? failure(facts.refusal ?? { errorCode: 'not_found', errorMessage: null }) : {}),
        },
      }
    case 'partner.confirmed':
      return learnedOfMovement(now, input, row, at, held)
    case 'partner.returned':
      return learnedOfReturn(now, input, row, at)
    case 'partner.failed':
      return {
        ...(now.transactionId === null && input.transactionId !== null ? { transactionId: input.transactionId } : {}),
        ...learnedOfFailure(now, input, row, at),
      }
    case 'clock.released':
      return { facts: failure({ errorCode: 'never_sent', errorMessage: null }) }
    default:
      return learnedOfOrder(input, now, restingDueAt(now, at), at)
  }
}

function learnedOfAcceptance(now: CashOut, { to }: Target, at: number): Changes {
  // What was given back may leave all the same: the bank is asked at once.
  if (to === 'RECONCILIATION_REQUIRED') return questionWanted(now, at, { isAccepted: true, doubt: 'contradiction' })
  return { facts: { isAccepted: true, ...(to === 'DISPATCHED' ? NO_DOUBT : {}) } }
}

/** The call is over, whatever else is under way: the bank is asked once more, at once. */
function learnedOfContradiction(
  now: CashOut,
  { transactionId }: Extract<CashOutInput, { on: 'send.contradicted' }>,
  { to }: Target,
  at: number,
): Changes {
  const reference = now.transactionId === null && transactionId !== null ? { transactionId } : {}
  if (to !== 'RECONCILIATION_REQUIRED') return reference
  return { ...reference, ...questionWanted(now, at, { doubt: 'contradiction' }), dueAt: at }
}

/** Refused, and yet another attempt may arrive: nothing more is sent, and the bank is asked until it is proven. */
function learnedOfRefusal(
  now: CashOut,
  { errorCode, errorMessage }: Extract<CashOutInput, { on: 'send.rejected' }>,
  at: number,
): Changes {
  return isOpen(now) ? { ...questionWanted(now, at, { refusal: { errorCode, errorMessage } }), dueAt: at } : {}
}

function failure({ errorCode, errorMessage }: { readonly errorCode: string; readonly errorMessage: string | null }) {
  return { failureCode: errorCode, failureReason: errorMessage, isReleased: true, ...NO_DOUBT }
}

function learnedOfFailure(
  now: CashOut,
  input: Extract<CashOutInput, { on: 'partner.failed' }>,
  row: Target,
  at: number,
): Changes {
  if (row.to === 'FAILED') return { facts: failure(input) }
  // Only an event says so yet: the bank is asked.
  return questionWanted(now, at, row.to === now.status ? {} : { doubt: 'contradiction' })
}

function learnedOfMovement(
  now: CashOut,
  { movement, transactionId, isVerified }: Extract<CashOutInput, { on: 'partner.confirmed' }>,
  row: Target,
  at: number,
  held: bigint,
): Changes {
  const ids = now.transactionId === null && transactionId !== null ? { transactionId } : {}
  if (row.posts === undefined) {
    const isUnrecorded = now.status === 'RESERVED'
    const doubt = isUnrecorded && !isVerified ? 'unrecorded' : 'contradiction'
    return { ...ids, ...(isUnrecorded ? questionWanted(now, at, { doubt }) : { facts: { doubt } }) }
  }
  const movements = { ...now.facts.movements, [movement.endToEndId]: Number(movement.valueCents) }
  if (row.posts !== 'cash_out_confirmed') {
    const again = row.posts === 'left_after_release' ? { heldAgainCents: Number(held), isReleased: false } : {}
    return { ...ids, facts: { movements, doubt: 'contradiction', ...again } }
  }
  return {
    ...ids,
    endToEndId: movement.endToEndId,
    facts: {
      movements,
      confirmedAt: movement.occurredAt,
      partnerFeeCents: movement.feeCents === undefined ? null : Number(movement.feeCents),
      recipientName: movement.recipient?.name ?? null,
      recipientDocument: movement.recipient?.document ?? null,
      recipientIspb: movement.recipient?.ispb ?? null,
      ...NO_DOUBT,
    },
  }
}

function learnedOfReturn(now: CashOut, input: ReturnedInput, row: Target, at: number): Changes {
  const { facts } = now
  const { returnId, valueCents } = input.returned
  if (isOfAnotherPayment(now, input)) return questionWanted(now, at)
  const returned = { [returnId]: Number(valueCents) }
  if (row.posts === 'cash_out_returned') return { facts: { returns: { ...facts.returns, ...returned } } }
  if (row.when === 'return may be known') return input.isUnnamed ? {} : { facts: toldAgain(facts, input) }
  if (row.posts === undefined) return row.to === now.status ? {} : questionWanted(now, at, { doubt: 'contradiction' })
  const unnamed = input.isUnnamed ? { unnamedReturns: { ...facts.unnamedReturns, ...returned } } : {}
  return { facts: { suspendedReturns: { ...facts.suspendedReturns, ...returned }, ...unnamed, doubt: 'contradiction' } }
}

/** It may be one that was told without its id; the next one of this amount is another. */
function toldAgain({ unnamedReturns = {}, returnsToldAgain }: CashOutFacts, { returned }: ReturnedInput): CashOutFacts {
  const cents = Number(returned.valueCents)
  const likely = Object.keys(unnamedReturns).find((name) => own(unnamedReturns, name) === cents)
  return {
    unnamedReturns: Object.fromEntries(Object.entries(unnamedReturns).filter(([name]) => name !== likely)),
    returnsToldAgain: { ...returnsToldAgain, [returned.returnId]: cents },
  }
}
