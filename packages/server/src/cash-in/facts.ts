import type { Changes, Target } from '../engine/follow.ts'
import { openCaseIds } from '../engine/open-cases.ts'
import { reasonAfter, reasonOf } from '../engine/reason.ts'
import {
  type CashIn,
  type CashInEvent,
  type CashInFacts,
  type CashInInput,
  isKnownAtBank,
  unnamedReturn,
} from './cash-in.ts'
import { notFound } from './not-found.ts'
import { factsOfRefunds } from './refunds.ts'
import { returnsDueAt } from './returns.ts'
import { afterQuery, nextDueAt, questionDelayMs, restingDueAt } from './schedule.ts'

/** What becomes known of a cash-in by each input. Pure. */

/** What a move changes besides the status: what the input teaches, and when the next work is due. */
export function changesOf(now: CashIn, input: CashInEvent, row: Target<CashIn>, at: number): Changes {
  const learned = factsAfter(now, input, row, at)
  const asked = row.asks ? queryRequested(now, input, at) : {}
  const changes = withCases(now, row, { ...learned, ...asked, facts: { ...learned.facts, ...asked.facts } })
  const after = { ...now, status: row.to, facts: { ...now.facts, ...changes.facts, ...reasonAfter(now, row) } }
  if (input.on === 'work.done') {
    const { dueAt, facts } = afterQuery(after, input, at)
    return { ...changes, dueAt, facts: { ...changes.facts, ...facts } }
  }
  const planned = changes.dueAt === undefined ? restingDueAt(after, at) : changes.dueAt
  return { ...changes, dueAt: nextDueAt(after.facts, planned, at) }
}

/** Cases that wait for the bank's word close when it has come. @source rules#cash-in.expired.5, rules#cash-in.credits.4 */
function withCases(now: CashIn, row: Target<CashIn>, changes: Changes): Changes {
  const facts: CashInFacts = { ...now.facts, ...changes.facts }
  const isEnded = facts.isEndCaseOpen === true && row.to !== 'PENDING'
  const isConfirmed = facts.isPaymentCaseOpen === true && Object.keys(facts.toldPayments ?? {}).length === 0
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
        now,
        ({ kind }) => (isEnded && kind === 'end_unknown') || (isConfirmed && kind === 'payment_unconfirmed'),
      ),
    ],
  }
}

/**
 * A status query is requested: the first of an event's news; after the bank's own word one that is planned is enough.
 * @source rules#cash-in.work.5
 */
function queryRequested({ dueAt }: CashIn, input: CashInEvent, at: number): Changes {
  const isAnswer = input.on === 'charge.accepted' || (input.on === 'partner.failed' && input.isVerified)
  return isAnswer ? { dueAt: dueAt ?? at } : { dueAt, facts: { isQuestionWanted: true, eventQueries: 0 } }
}

/** What an input teaches. A `dueAt` here is a status query to make soon; otherwise the state says when work is due. */
function factsAfter(now: CashIn, input: CashInEvent, row: Target<CashIn>, at: number): Changes {
  switch (input.on) {
    case 'work.requested':
      return {}
    case 'work.claimed':
      return {
        dueAt: at + input.leaseMs,
        facts: {
          leaseUntil: at + input.leaseMs,
          isQuestionWanted: false,
          ...(isKnownAtBank(now) ? {} : { lastAttemptAt: at, ...claimedUnsent(now.facts) }),
        },
      }
    case 'work.done':
      return {
        facts: {
          ...(reasonOf(now) === 'conflict' && input.isAnswered ? { bankAnswer: input.bankAnswer } : {}),
          ...(row.opens === 'end_unknown' ? { isEndCaseOpen: true } : {}),
          ...(row.opens === 'payment_unconfirmed' ? { isPaymentCaseOpen: true } : {}),
        },
      }
    case 'clock.expired':
      return expired(now.facts, input.isSwept, at)
    case 'charge.accepted':
      if (row.opens === 'charge_contradicted') return {}
      return {
        transactionId: input.transactionId,
        facts: { pixCode: input.pixCode, ...found(now.facts), ...(row.to === 'PENDING' ? ANSWERED : {}) },
      }
    case 'charge.rejected':
      return row.to === 'FAILED' ? { facts: failure(input) } : {}
    case 'charge.not_sent':
    case 'charge.unknown':
      if (row.opens === 'result_missing') return {}
      return {
        dueAt: at + questionDelayMs(now),
        facts: {
          questions: (now.facts.questions ?? 0) + 1,
          ...(input.on === 'charge.not_sent' && input.isUnsent ? { unsent: 'proven' } : {}),
          ...(row.to === 'PROVIDER_RESULT_UNKNOWN' ? { unknownSince: now.facts.unknownSince ?? at } : {}),
        },
      }
    case 'charge.contradicted':
      return {}
    case 'charge.not_found':
      if (row.to === 'EXPIRED') return expired(now.facts, input.isSwept, at)
      return { facts: notFound(now.facts, input.askedAt) }
    case 'partner.confirmed':
      return learnedOfPayment(now, input, row, at)
    case 'refund.reserved':
    case 'refund.confirmed':
    case 'refund.released':
    case 'refund.taken':
    case 'refund.named':
    case 'refund.answered':
    case 'return.told':
    case 'return.unexplained':
      return undisturbed(now, factsOfRefunds(now, input, row), at)
    case 'return.known':
      return { ...undisturbed(now, factsOfRefunds(now, input, row), at), ...casesClosed(now, input.returnId) }
    case 'partner.failed':
      return learnedOfFailure(now, input, row)
  }
}

/** An event's word of a failure is kept for the day on which the bank agrees: it tells more than the bank's answer. */
function learnedOfFailure(
  now: CashIn,
  input: Extract<CashInInput, { on: 'partner.failed' }>,
  row: Target<CashIn>,
): Changes {
  const { errorCode, errorMessage, occurredAt, transactionId } = input
  if (!input.isVerified) {
    return { facts: { toldFailure: { errorCode, errorMessage, occurredAt } } }
  }
  return {
    ...(now.transactionId === null && transactionId !== null ? { transactionId } : {}),
    ...(row.to === 'FAILED'
      ? {
          facts: {
            ...failure(now.facts.toldFailure ?? input),
            ...(now.facts.toldFailure ? { toldFailure: null } : {}),
          },
        }
      : {}),
  }
}

/** From the claim on an attempt may leave; should its process die, the next claim finds no proof any more. */
function claimedUnsent({ unsent }: CashInFacts): CashInFacts {
  return unsent == null ? {} : { unsent: unsent === 'proven' ? 'claimed' : null }
}

/** The status query that told it has ended with it. */
function expired({ leaseUntil }: CashInFacts, isSwept: boolean, at: number): Changes {
  return {
    facts: { ...ANSWERED, ...(leaseUntil == null ? {} : { leaseUntil: null }), ...(isSwept ? {} : { expiredAt: at }) },
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

function learnedOfPayment(
  now: CashIn,
  { payment, transactionId, unverified }: Extract<CashInInput, { on: 'partner.confirmed' }>,
  row: Target<CashIn>,
  at: number,
): Changes {
  const { [payment.endToEndId]: told, ...othersTold } = now.facts.toldPayments ?? {}
  if (row.asks) {
    const { valueCents, occurredAt } = payment
    const toldPayment = told ?? { valueCents: Number(valueCents), occurredAt, since: at }
    return { facts: { toldPayments: { ...othersTold, [payment.endToEndId]: toldPayment } } }
  }
  const settled = told === undefined ? {} : { toldPayments: othersTold }
  const payments = { ...now.facts.payments, [payment.endToEndId]: Number(payment.valueCents) }
  const ids = now.transactionId === null && transactionId !== null ? { transactionId } : {}
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
        ...(unverified ? { isUnverified: true } : {}),
        ...settled,
        ...ANSWERED,
      },
    }
  }
  return { ...ids, facts: { ...(row.posts ? { payments } : {}), ...settled } }
}

/**
 * What was in suspense for want of its id takes its own case with it, the last return of which money was held the one of all.
 * @source rules#cash-in.returns.5, rules#cash-in.refunds.10
 */
function casesClosed(now: CashIn, returnId: string): Pick<Changes, 'closes'> {
  const { facts } = now
  if (unnamedReturn(now, returnId)) {
    return { closes: openCaseIds(now, (open) => open.kind === 'return_unnamed' && open.reference === returnId) }
  }
  const held = Object.entries(facts.awaitedReturns ?? {}).filter(([, { heldCents }]) => heldCents !== undefined)
  const isLast = held.length === 1 && held[0]?.[0] === returnId
  return isLast ? { closes: openCaseIds(now, ({ kind }) => kind === 'return_unexplained') } : {}
}

/** What refunds and returns teach disturbs no other work that is due; what is awaited is looked at in time. */
function undisturbed(now: CashIn, facts: CashInFacts, at: number): Changes {
  const returnsAt = returnsDueAt({ ...now, facts: { ...now.facts, ...facts } }, at)
  return { facts, dueAt: returnsAt === null ? now.dueAt : Math.min(now.dueAt ?? returnsAt, returnsAt) }
}
