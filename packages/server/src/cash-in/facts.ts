import { openCaseIds } from '../engine/cases.ts'
import { type Changes, reasonAfter, reasonOf, type Target } from '../engine/follow.ts'
import { type CashIn, type CashInEvent, type CashInFacts, type CashInInput, isKnownAtBank } from './cash-in.ts'
import { notFound } from './not-found.ts'
import {
  reportedAgain,
  reportedFailure,
  reportedFailureFact,
  reportedPayments,
  reportedPaymentsFact,
} from './reported.ts'
import {
  factsOfRefunds,
  type RefundEvent,
  returnedPayment,
  returningCents,
  returnsDueAt,
  returnsInDoubt,
  suspendedCents,
  UNNAMED,
  unnamedReturn,
} from './returns.ts'
import { afterQuery, nextDueAt, questionDelayMs, restingDueAt } from './schedule.ts'

/** What becomes known of a cash-in by each input. Pure. */

/** What a move changes besides the status: what the input teaches, and when the next work is due. */
export function changesOf(cashIn: CashIn, input: CashInEvent, row: Target<CashIn>, nowMs: number): Changes {
  const changes = knownAfter(cashIn, input, factsAfter(cashIn, input, row, nowMs), row, nowMs)
  if (input.on !== 'work.done') return withDueAt(cashIn, changes, row, nowMs)
  const { dueAt, facts } = afterQuery(standingAfter(cashIn, changes, row), input, nowMs)
  return { ...changes, dueAt, facts: { ...changes.facts, ...facts } }
}

/** What a decision of an operator changes: what is learned of it, and when the next work is due. */
export function withWork(cashIn: CashIn, learned: Changes, row: Target<CashIn>, nowMs: number): Changes {
  return withDueAt(cashIn, knownAfter(cashIn, { on: 'work.requested' }, learned, row, nowMs), row, nowMs)
}

function knownAfter(cashIn: CashIn, input: CashInEvent, learned: Changes, row: Target<CashIn>, nowMs: number): Changes {
  const asked = row.asks ? queryRequested(cashIn, input, nowMs) : {}
  return withCases(cashIn, row, { ...learned, ...asked, facts: { ...learned.facts, ...asked.facts } })
}

function standingAfter(cashIn: CashIn, { facts, expiresAt }: Changes, row: Target<CashIn>): CashIn {
  const end = expiresAt === undefined ? {} : { expiresAt }
  return { ...cashIn, ...end, status: row.to, facts: { ...cashIn.facts, ...facts, ...reasonAfter(cashIn, row) } }
}

function withDueAt(cashIn: CashIn, changes: Changes, row: Target<CashIn>, nowMs: number): Changes {
  const after = standingAfter(cashIn, changes, row)
  const planned = changes.dueAt === undefined ? restingDueAt(after, nowMs) : changes.dueAt
  return { ...changes, dueAt: nextDueAt(after.facts, planned, nowMs) }
}

/** Cases that wait for the bank's word close when it has come. @source rules#cash-in.expired.5, rules#cash-in.credits.4 */
function withCases(cashIn: CashIn, row: Target<CashIn>, changes: Changes): Changes {
  const facts: CashInFacts = { ...cashIn.facts, ...changes.facts }
  const isEnded = facts.isEndCaseOpen === true && row.to !== 'PENDING'
  const isConfirmed = facts.isPaymentCaseOpen === true && Object.keys(reportedPayments(facts)).length === 0
  if (!isEnded && !isConfirmed) return changes
  return {
    ...changes,
    facts: {
      ...changes.facts,
      ...(isEnded ? { isEndCaseOpen: false } : {}),
      ...(isConfirmed ? { isPaymentCaseOpen: false } : {}),
    },
    closes: [
      ...(changes.closes ?? []),
      ...openCaseIds(
        cashIn,
        ({ kind }) => (isEnded && kind === 'charge_unclear') || (isConfirmed && kind === 'payment_unconfirmed'),
      ),
    ],
  }
}

/**
 * A status query is requested: the first of an event's news; after the bank's own word one that is planned is enough.
 * @source rules#cash-in.work.5
 */
function queryRequested({ dueAt }: CashIn, input: CashInEvent, nowMs: number): Changes {
  const isAnswer = input.on === 'charge.accepted' || (input.on === 'partner.failed' && input.isVerified)
  return isAnswer ? { dueAt: dueAt ?? nowMs } : { dueAt, facts: { isQuestionWanted: true, eventQueries: 0 } }
}

/** What an input teaches. A `dueAt` here is a status query to make soon; otherwise the state says when work is due. */
function factsAfter(cashIn: CashIn, input: CashInEvent, row: Target<CashIn>, nowMs: number): Changes {
  switch (input.on) {
    case 'work.requested':
      return {}
    case 'work.claimed':
      return {
        dueAt: nowMs + input.leaseMs,
        facts: {
          leaseUntil: nowMs + input.leaseMs,
          isQuestionWanted: false,
          ...(isKnownAtBank(cashIn) ? {} : { lastAttemptAt: nowMs, ...claimedUnsent(cashIn.facts) }),
        },
      }
    case 'work.done':
      return {
        facts: {
          ...(reasonOf(cashIn) === 'conflict' && input.isAnswered ? { bankAnswer: input.bankAnswer } : {}),
          ...(row.opens === 'charge_unclear' ? { isEndCaseOpen: true } : {}),
          ...(row.opens === 'payment_unconfirmed' ? { isPaymentCaseOpen: true } : {}),
        },
      }
    case 'clock.expired':
      return expired(cashIn.facts, input.isSwept, nowMs)
    case 'charge.accepted':
      return row.reason === 'conflict' ? {} : factsAfterAcceptance(cashIn, input, row)
    case 'charge.rejected':
      return row.to === 'FAILED' ? { facts: failure(input) } : {}
    case 'charge.not_sent':
    case 'charge.unknown':
      if (row.opens === 'charge_unclear') return {}
      return {
        dueAt: nowMs + questionDelayMs(cashIn),
        facts: {
          questions: (cashIn.facts.questions ?? 0) + 1,
          ...(input.on === 'charge.not_sent' && input.isUnsent ? { unsent: 'proven' } : {}),
          ...(row.to === 'PROVIDER_RESULT_UNKNOWN' ? { unknownSince: cashIn.facts.unknownSince ?? nowMs } : {}),
        },
      }
    case 'charge.contradicted':
      return {}
    case 'charge.not_found':
      if (row.to === 'EXPIRED') return expired(cashIn.facts, input.isSwept, nowMs)
      return { facts: notFound(cashIn.facts, input.askedAt) }
    case 'partner.confirmed':
      return factsAfterPayment(cashIn, input, row, nowMs)
    case 'partner.failed':
      return factsAfterFailure(cashIn, input, row)
    default:
      return factsAfterRefund(cashIn, input, row, nowMs)
  }
}

function factsAfterAcceptance(
  { facts }: CashIn,
  { transactionId, pixCode, stampOffsetMs, expiresAt }: Extract<CashInInput, { on: 'charge.accepted' }>,
  { to }: Target<CashIn>,
): Changes {
  return {
    transactionId,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    facts: {
      ...(pixCode === undefined ? {} : { pixCode }),
      ...(stampOffsetMs ? { stampOffsetMs } : {}),
      ...found(facts),
      ...(to === 'PENDING' ? ANSWERED : {}),
    },
  }
}

/** An event's word of a failure is kept for the day on which the bank agrees: it tells more than the bank's answer. */
function factsAfterFailure(
  cashIn: CashIn,
  input: Extract<CashInInput, { on: 'partner.failed' }>,
  row: Target<CashIn>,
): Changes {
  const { errorCode, errorMessage, occurredAt, transactionId } = input
  if (!input.isVerified) {
    return { facts: reportedFailureFact({ errorCode, errorMessage, occurredAt }) }
  }
  return {
    ...(cashIn.transactionId === null && transactionId !== null ? { transactionId } : {}),
    ...(row.to === 'FAILED'
      ? {
          facts: {
            ...failure(reportedFailure(cashIn.facts) ?? input),
            ...(reportedFailure(cashIn.facts) ? reportedFailureFact(null) : {}),
          },
        }
      : {}),
  }
}

/** From the claim on an attempt may leave; should its process die, the next claim finds no proof any more. */
function claimedUnsent({ unsent }: CashInFacts): CashInFacts {
  if (unsent == null) return {}
  return { unsent: unsent === 'proven' ? 'claimed' : null }
}

/** The status query that told it has ended with it. */
function expired({ leaseUntil }: CashInFacts, isSwept: boolean, nowMs: number): Changes {
  return {
    facts: {
      ...ANSWERED,
      ...(leaseUntil == null ? {} : { leaseUntil: null }),
      ...(isSwept ? {} : { expiredAt: nowMs }),
    },
  }
}

/** The bank has the charge: what it said before proves nothing any more. */
function found({ notFoundSince }: CashInFacts): CashInFacts {
  return notFoundSince == null ? {} : { notFoundSince: null, notFoundAt: null }
}

/** Facts after the bank's answer came. */
const ANSWERED = { unknownSince: null } as const

function failure({ errorCode, errorMessage }: { readonly errorCode: string; readonly errorMessage: string | null }) {
  return { failureCode: errorCode, failureReason: errorMessage, ...ANSWERED }
}

function factsAfterPayment(
  cashIn: CashIn,
  { payment, transactionId }: Extract<CashInInput, { on: 'partner.confirmed' }>,
  row: Target<CashIn>,
  nowMs: number,
): Changes {
  const { [payment.endToEndId]: told, ...othersReported } = reportedPayments(cashIn.facts)
  if (row.asks) {
    const reported = reportedAgain(told, payment, nowMs)
    return { facts: reportedPaymentsFact({ ...othersReported, [payment.endToEndId]: reported }) }
  }
  const settled = told === undefined ? {} : reportedPaymentsFact(othersReported)
  const payments = { ...cashIn.facts.payments, [payment.endToEndId]: Number(payment.valueCents) }
  const ids = cashIn.transactionId === null && transactionId !== null ? { transactionId } : {}
  if (row.posts === 'cash_in_paid') {
    const { name, document, ispb } = payment.payer
    return {
      ...ids,
      endToEndId: payment.endToEndId,
      facts: {
        payments,
        paidAt: payment.occurredAt,
        payerName: name ?? null,
        payerDocument: document ?? null,
        payerIspb: ispb ?? null,
        ...settled,
        ...ANSWERED,
      },
    }
  }
  if (row.opens === 'movement_elsewhere') {
    const elsewhere = { ...cashIn.facts.elsewhere, [payment.endToEndId]: Number(payment.valueCents) }
    return { ...ids, facts: { elsewhere, ...settled } }
  }
  return { ...ids, facts: { ...(row.posts ? { payments } : {}), ...settled } }
}

/**
 * A return that was in suspense for want of its id closes its own case, the last one of which money was held the one of all.
 * @source rules#cash-in.returns.5, rules#cash-in.refunds.10
 */
function casesClosed(cashIn: CashIn, returnId: string): Pick<Changes, 'closes'> {
  if (unnamedReturn(cashIn, returnId)) {
    return { closes: openCaseIds(cashIn, (open) => open.rule === UNNAMED && open.reference === returnId) }
  }
  const held = returnsInDoubt(cashIn).filter(([, { heldCents, isInCase }]) => heldCents !== undefined || isInCase)
  const isLast = held.length === 1 && held[0]?.[0] === returnId
  return isLast ? { closes: openCaseIds(cashIn, ({ kind }) => kind === 'return_unexplained') } : {}
}

/** Facts after an event of a refund or a return. */
function factsAfterRefund(cashIn: CashIn, event: RefundEvent, row: Target<CashIn>, nowMs: number): Changes {
  const changes = undisturbed(cashIn, factsOfRefunds(cashIn, event, row), nowMs)
  if (event.on === 'return.known') return { ...changes, ...casesClosed(cashIn, event.returnId) }
  const payment = takenFromSuspense(cashIn, event, row)
  return payment === undefined ? changes : { ...changes, ...emptyCaseOf(cashIn, changes, payment) }
}

/** The payment that an event takes from suspense, by its end-to-end id. */
function takenFromSuspense(cashIn: CashIn, event: RefundEvent, { posts }: Target<CashIn>): string | undefined {
  if (event.on === 'refund.confirmed' || event.on === 'refund.released') return event.payment
  if (event.on !== 'return.told' || posts !== 'arrival_returned') return undefined
  return returnedPayment(cashIn, event.endToEndId ?? null) ?? undefined
}

/** The case of a payment closes when nothing of it is in suspense any more. @source rules#cash-in.refunds.12 */
function emptyCaseOf(cashIn: CashIn, { facts }: Changes, payment: string): Pick<Changes, 'closes'> {
  const after = { ...cashIn, facts: { ...cashIn.facts, ...facts } }
  if (suspendedCents(after, payment) !== 0n || returningCents(after, payment) > 0n) return {}
  return {
    closes: openCaseIds(cashIn, ({ kind, reference }) => kind === 'payment_in_suspense' && reference === payment),
  }
}

/** Events of refunds and returns delay no other work that is due; a return in doubt is looked at in time. */
function undisturbed(cashIn: CashIn, facts: CashInFacts, nowMs: number): Changes {
  const returnsAt = returnsDueAt({ ...cashIn, facts: { ...cashIn.facts, ...facts } }, nowMs)
  return { facts, dueAt: returnsAt === null ? cashIn.dueAt : Math.min(cashIn.dueAt ?? returnsAt, returnsAt) }
}
