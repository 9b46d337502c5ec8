import type { Changes, Target } from '../../engine/follow.ts'
import type { CashIn, CashInFacts, CashInInput, Judged } from './cash-in.ts'
import { factsOfRefunds } from './refunds.ts'
import { returnsDueAt } from './returns.ts'
import { nextDueAt, questionDelayMs, restingDueAt } from './schedule.ts'

/** What becomes known of a cash-in by each input. Pure. */

/** What a move changes besides the status: what the input teaches, and when the next work is due. */
export function changesOf(now: CashIn, input: Judged, row: Target, at: number): Changes {
  const changes = { ...learned(now, input, row, at) }
  const after = { ...now, status: row.to, facts: { ...now.facts, ...changes.facts } }
  const planned = changes.dueAt === undefined ? restingDueAt(after, at) : changes.dueAt
  return { ...changes, dueAt: nextDueAt(after.facts, planned, at) }
}

/** What an input teaches. A `dueAt` here is a question to ask soon; otherwise the state says when work is due. */
function learned(now: CashIn, input: Judged, row: Target, at: number): Changes {
  switch (input.on) {
    case 'work.requested':
      return { dueAt: now.dueAt, facts: { isQuestionWanted: true } }
    case 'work.claimed':
      return { dueAt: at + input.leaseMs, facts: { leaseUntil: at + input.leaseMs, isQuestionWanted: false } }
    case 'work.done':
      return now.facts.doubt === 'contradiction' ? { facts: { bankAnswer: input.bankAnswer } } : {}
    case 'clock.expired':
      return { facts: NO_DOUBT }
    case 'clock.escalated':
      return { facts: { doubt: 'missing' } }
    case 'charge.accepted':
      return {
        transactionId: input.transactionId,
        facts: { pixCode: input.pixCode, ...(row.to === 'PENDING' ? NO_DOUBT : {}) },
        ...(row.to === 'FAILED' ? askedAtOnce(now, at) : {}),
      }
    case 'charge.rejected':
      return row.to === 'FAILED' ? { facts: failure(input) } : {}
    case 'charge.not_sent':
    case 'charge.unknown':
      return {
        dueAt: at + questionDelayMs(now),
        facts: {
          questions: (now.facts.questions ?? 0) + 1,
          ...(row.to === 'PROVIDER_RESULT_UNKNOWN' ? { unknownSince: now.facts.unknownSince ?? at } : {}),
        },
      }
    case 'charge.contradicted':
      return { facts: { doubt: 'contradiction' } }
    case 'partner.confirmed':
      return learnedOfPayment(now, input, row)
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
      return {
        ...(now.transactionId === null && input.transactionId !== null ? { transactionId: input.transactionId } : {}),
        ...(row.to === 'FAILED'
          ? { facts: failure(input) }
          : { facts: { doubt: 'contradiction' }, ...askedAtOnce(now, at) }),
      }
  }
}

/** Asks the bank about a charge that would otherwise rest; a question under way is question enough. */
function askedAtOnce({ dueAt }: CashIn, at: number): Changes {
  return { dueAt: dueAt ?? at }
}

const NO_DOUBT = { doubt: null, unknownSince: null } as const

function failure({ errorCode, errorMessage }: { readonly errorCode: string; readonly errorMessage: string | null }) {
  return { failureCode: errorCode, failureReason: errorMessage, ...NO_DOUBT }
}

function learnedOfPayment(
  now: CashIn,
  { payment, transactionId }: Extract<CashInInput, { on: 'partner.confirmed' }>,
  row: Target,
): Changes {
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
        ...NO_DOUBT,
      },
    }
  }
  const doubt = row.to === 'RECONCILIATION_REQUIRED' ? ({ doubt: 'contradiction' } as const) : {}
  return { ...ids, facts: { ...(row.posts ? { payments } : {}), ...doubt } }
}

/** The last return of which money was held takes the case with it. @source rules#cash-in.returns.5 */
function casesClosed({ facts }: CashIn, returnId: string): Pick<Changes, 'closes'> {
  const held = Object.entries(facts.awaitedReturns ?? {}).filter(([, { heldCents }]) => heldCents !== undefined)
  return held.length === 1 && held[0]?.[0] === returnId ? { closes: ['return_unexplained'] } : {}
}

/** What refunds and returns teach disturbs no other work that is due; what is awaited is looked at in time. */
function undisturbed(now: CashIn, facts: CashInFacts, at: number): Changes {
  const returnsAt = returnsDueAt({ ...now, facts: { ...now.facts, ...facts } }, at)
  return { facts, dueAt: returnsAt === null ? now.dueAt : Math.min(now.dueAt ?? returnsAt, returnsAt) }
}
