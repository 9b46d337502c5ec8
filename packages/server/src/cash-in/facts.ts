import { openCaseIds } from '../engine/cases.ts'
import { type Changes, reasonAfter, reasonOf, type Target } from '../engine/follow.ts'
import { notFoundFacts, OUTCOME_KNOWN } from '../operations/attempts.ts'
import { failureFacts } from '../operations/orders.ts'
import {
  type CashIn,
  type CashInEvent,
  type CashInFacts,
  type CashInInput,
  isCancelRequested,
  isKnownAtBank,
} from './cash-in.ts'
import {
  reportedFailure,
  reportedFailureFact,
  reportedPaymentAfter,
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
import { afterQuery, nextDueAt, queryDelayMs, restingDueAt } from './schedule.ts'

/** Facts after an input, and the time of the next work. */
export function changesOf(cashIn: CashIn, input: CashInEvent, row: Target<CashIn>, nowMs: number): Changes {
  const changes = withQueryAndCases(cashIn, input, changesByInput(cashIn, input, row, nowMs), row, nowMs)
  if (input.on !== 'work.done') return withDueAt(cashIn, changes, row, nowMs)
  const { dueAt, facts } = afterQuery(cashInAfter(cashIn, changes, row), input, nowMs)
  return { ...changes, dueAt, facts: { ...changes.facts, ...facts } }
}

/** Changes of an operator's decision, with the time of the next work. */
export function changesOfDecision(cashIn: CashIn, decided: Changes, row: Target<CashIn>, nowMs: number): Changes {
  return withDueAt(cashIn, withQueryAndCases(cashIn, { on: 'work.requested' }, decided, row, nowMs), row, nowMs)
}

function withQueryAndCases(
  cashIn: CashIn,
  input: CashInEvent,
  changes: Changes,
  row: Target<CashIn>,
  nowMs: number,
): Changes {
  const query = row.asks ? queryRequested(cashIn, input, nowMs) : {}
  return withCases(cashIn, row, { ...changes, ...query, facts: { ...changes.facts, ...query.facts } })
}

function cashInAfter(cashIn: CashIn, { facts, expiresAt }: Changes, row: Target<CashIn>): CashIn {
  const end = expiresAt === undefined ? {} : { expiresAt }
  return { ...cashIn, ...end, status: row.to, facts: { ...cashIn.facts, ...facts, ...reasonAfter(cashIn, row) } }
}

function withDueAt(cashIn: CashIn, changes: Changes, row: Target<CashIn>, nowMs: number): Changes {
  const after = cashInAfter(cashIn, changes, row)
  const planned = changes.dueAt === undefined ? restingDueAt(after, nowMs) : changes.dueAt
  return { ...changes, dueAt: nextDueAt(after.facts, planned, nowMs) }
}

/** Closes the cases that the bank's answer resolves. @source rules#cash-in.expired.5, rules#cash-in.credits.4 */
function withCases(cashIn: CashIn, row: Target<CashIn>, changes: Changes): Changes {
  if (row.opens === 'payment_unconfirmed') return { ...changes, facts: { ...changes.facts, isPaymentCaseOpen: true } }
  const facts: CashInFacts = { ...cashIn.facts, ...changes.facts }
  const isEndKnown = facts.isEndCaseOpen === true && row.to !== 'PENDING'
  const isPaymentResolved = facts.isPaymentCaseOpen === true && Object.keys(reportedPayments(facts)).length === 0
  if (!isEndKnown && !isPaymentResolved) return changes
  return {
    ...changes,
    facts: {
      ...changes.facts,
      ...(isEndKnown ? { isEndCaseOpen: false } : {}),
      ...(isPaymentResolved ? { isPaymentCaseOpen: false } : {}),
    },
    closes: [
      ...(changes.closes ?? []),
      ...openCaseIds(
        cashIn,
        ({ kind }) =>
          (isEndKnown && kind === 'charge_unclear') || (isPaymentResolved && kind === 'payment_unconfirmed'),
      ),
    ],
  }
}

/**
 * Requests a status query. After the bank's own answer an already planned query is enough.
 * @source rules#cash-in.work.5
 */
function queryRequested({ dueAt }: CashIn, input: CashInEvent, nowMs: number): Changes {
  const isAnswer = input.on === 'charge.accepted' || (input.on === 'partner.failed' && input.isVerified)
  return isAnswer ? { dueAt: dueAt ?? nowMs } : { dueAt, facts: { isQuestionWanted: true, eventQueries: 0 } }
}

/** Changes that the input itself makes. A `dueAt` here replaces the one that the state implies. */
function changesByInput(cashIn: CashIn, input: CashInEvent, row: Target<CashIn>, nowMs: number): Changes {
  switch (input.on) {
    case 'cancel.requested':
      return { facts: { cancelRequested: { ...input.by, at: nowMs }, ...cancelledFacts(row) } }
    case 'work.requested':
      return {}
    case 'work.claimed':
      return {
        dueAt: nowMs + input.leaseMs,
        facts: {
          leaseUntil: nowMs + input.leaseMs,
          isQuestionWanted: false,
          ...(isKnownAtBank(cashIn) ? {} : unsentAfterClaim(cashIn.facts)),
          // A charge to be cancelled is not created again.
          ...(isKnownAtBank(cashIn) || isCancelRequested(cashIn) ? {} : { lastAttemptAt: nowMs }),
        },
      }
    case 'work.done':
      return {
        facts: {
          ...(reasonOf(cashIn) === 'conflict' && input.isAnswered ? { bankAnswer: input.bankAnswer } : {}),
          ...(row.opens === 'charge_unclear' ? { isEndCaseOpen: true } : {}),
        },
      }
    case 'clock.expired':
      return expiryChanges(cashIn.facts, input.isSwept, nowMs)
    case 'charge.accepted':
      return row.reason === 'conflict' ? {} : factsAfterAcceptance(cashIn, input, row)
    case 'charge.rejected':
      return row.to === 'FAILED' ? { facts: failureFacts(input) } : {}
    case 'charge.not_sent':
    case 'charge.unknown':
      if (row.opens === 'charge_unclear') return {}
      return {
        dueAt: nowMs + queryDelayMs(cashIn),
        facts: {
          questions: (cashIn.facts.questions ?? 0) + 1,
          ...(input.on === 'charge.not_sent' && input.isUnsent ? { unsent: 'proven' } : {}),
          ...(row.to === 'PROVIDER_RESULT_UNKNOWN' ? { unknownSince: cashIn.facts.unknownSince ?? nowMs } : {}),
        },
      }
    case 'charge.contradicted':
      return {}
    case 'charge.not_found':
      if (row.to === 'EXPIRED') return expiryChanges(cashIn.facts, input.isSwept, nowMs)
      return { facts: { ...notFoundFacts(cashIn.facts, input.askedAt), ...cancelledFacts(row) } }
    case 'partner.confirmed':
      return factsAfterPayment(cashIn, input, row, nowMs)
    case 'partner.failed':
      return factsAfterFailure(cashIn, input, row)
    default:
      // All events of refunds and returns.
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
      ...(stampOffsetMs === undefined ? {} : { stampOffsetMs }),
      ...clearedNotFound(facts),
      ...(to === 'PENDING' ? OUTCOME_KNOWN : {}),
    },
  }
}

/**
 * Keeps a failure reported by an event until the bank confirms it: the event has more details than the query's answer.
 */
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
    ...firstTransactionId(cashIn, transactionId),
    ...(row.to === 'FAILED'
      ? {
          facts: {
            ...failureFacts(failureOf(cashIn, input)),
            ...(reportedFailure(cashIn.facts) ? reportedFailureFact(null) : {}),
          },
        }
      : {}),
  }
}

/** The bank's id of a charge that had none yet. */
function firstTransactionId(cashIn: CashIn, transactionId: string | null): Pick<Changes, 'transactionId'> {
  return cashIn.transactionId === null && transactionId !== null ? { transactionId } : {}
}

const CANCELLED_BY_MERCHANT = { errorCode: 'cancelled_by_merchant', errorMessage: null } as const

function cancelledFacts({ to }: Target<CashIn>): CashInFacts {
  return to === 'FAILED' ? failureFacts(CANCELLED_BY_MERCHANT) : {}
}

/** @source rules#cash-in.cancel.4 */
function failureOf(cashIn: CashIn, input: Extract<CashInInput, { on: 'partner.failed' }>) {
  if (isCancelRequested(cashIn) && input.errorCode === 'charge_cancelled') return CANCELLED_BY_MERCHANT
  return reportedFailure(cashIn.facts) ?? input
}

/**
 * The proof that nothing was sent survives one claim only: after a crash, the claimed attempt may have been sent.
 */
function unsentAfterClaim({ unsent }: CashInFacts): CashInFacts {
  if (unsent == null) return {}
  return { unsent: unsent === 'proven' ? 'claimed' : null }
}

/** Ends the status query that found the expiry, too. */
function expiryChanges({ leaseUntil }: CashInFacts, isSwept: boolean, nowMs: number): Changes {
  return {
    facts: {
      ...OUTCOME_KNOWN,
      ...(leaseUntil == null ? {} : { leaseUntil: null }),
      ...(isSwept ? {} : { expiredAt: nowMs }),
    },
  }
}

/** The bank has the charge, so earlier «not found» answers prove nothing. */
function clearedNotFound({ notFoundSince }: CashInFacts): CashInFacts {
  return notFoundSince == null ? {} : { notFoundSince: null, notFoundAt: null }
}

function factsAfterPayment(
  cashIn: CashIn,
  { payment, transactionId }: Extract<CashInInput, { on: 'partner.confirmed' }>,
  row: Target<CashIn>,
  nowMs: number,
): Changes {
  const { [payment.endToEndId]: known, ...othersReported } = reportedPayments(cashIn.facts)
  if (row.asks) {
    const reported = reportedPaymentAfter(known, payment, nowMs)
    return { facts: reportedPaymentsFact({ ...othersReported, [payment.endToEndId]: reported }) }
  }
  const noLongerReported = known === undefined ? {} : reportedPaymentsFact(othersReported)
  const payments = { ...cashIn.facts.payments, [payment.endToEndId]: Number(payment.valueCents) }
  const ids = firstTransactionId(cashIn, transactionId)
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
        ...noLongerReported,
        ...OUTCOME_KNOWN,
      },
    }
  }
  if (row.opens === 'movement_elsewhere') {
    const elsewhere = { ...cashIn.facts.elsewhere, [payment.endToEndId]: Number(payment.valueCents) }
    return { ...ids, facts: { elsewhere, ...noLongerReported } }
  }
  return { ...ids, facts: { ...(row.posts ? { payments } : {}), ...noLongerReported } }
}

/**
 * Cases that end with a known return: of one reported without an id its own case, of the last held one the common case.
 * @source rules#cash-in.returns.5, rules#cash-in.refunds.10
 */
function caseIdsOfReturn(cashIn: CashIn, returnId: string): readonly string[] {
  if (unnamedReturn(cashIn, returnId)) {
    return openCaseIds(cashIn, (open) => open.rule === UNNAMED && open.reference === returnId)
  }
  const held = returnsInDoubt(cashIn).filter(([, { heldCents, isInCase }]) => heldCents !== undefined || isInCase)
  const isLast = held.length === 1 && held[0]?.[0] === returnId
  return isLast ? openCaseIds(cashIn, ({ kind }) => kind === 'return_unexplained') : []
}

function factsAfterRefund(cashIn: CashIn, event: RefundEvent, row: Target<CashIn>, nowMs: number): Changes {
  const changes = withReturnsDueAt(cashIn, factsOfRefunds(cashIn, event, row), nowMs)
  if (event.on === 'return.known') return { ...changes, closes: caseIdsOfReturn(cashIn, event.returnId) }
  const payment = paymentLeavingSuspense(cashIn, event, row)
  return payment === undefined ? changes : { ...changes, closes: emptiedCaseIds(cashIn, changes, payment) }
}

/** End-to-end id of the payment whose suspense an event reduces. */
function paymentLeavingSuspense(cashIn: CashIn, event: RefundEvent, { posts }: Target<CashIn>): string | undefined {
  if (event.on === 'refund.confirmed' || event.on === 'refund.released') return event.payment
  if (event.on !== 'return.told' || posts !== 'arrival_returned') return undefined
  return returnedPayment(cashIn, event.endToEndId ?? null) ?? undefined
}

/** The case of a payment of which nothing is left in suspense after the changes. @source rules#cash-in.refunds.12 */
export function emptiedCaseIds(cashIn: CashIn, { facts }: Changes, payment: string): readonly string[] {
  const after = { ...cashIn, facts: { ...cashIn.facts, ...facts } }
  if (suspendedCents(after, payment) !== 0n || returningCents(after, payment) > 0n) return []
  return openCaseIds(cashIn, ({ kind, reference }) => kind === 'payment_in_suspense' && reference === payment)
}

/** Events of refunds and returns never postpone work that is due. */
function withReturnsDueAt(cashIn: CashIn, facts: CashInFacts, nowMs: number): Changes {
  const returnsAt = returnsDueAt({ ...cashIn, facts: { ...cashIn.facts, ...facts } }, nowMs)
  return { facts, dueAt: returnsAt === null ? cashIn.dueAt : Math.min(cashIn.dueAt ?? returnsAt, returnsAt) }
}
