import { limits } from '@pixgate/spec'
import type { Payment } from '../banks/port.ts'
import type { Document, MovementId, Operation, Ordered } from '../engine/operation.ts'
import type { ReasonFact } from '../engine/reason.ts'
import type { FailureInput } from '../operations/inputs.ts'
import type { MadeByFact } from '../operations/made-by.ts'
import { own } from '../platform/own.ts'
import type { ReportedFacts } from './reported.ts'
import type { AwaitedReturn, OpenRefund } from './return-facts.ts'

/** A cash-in as the engine keeps it, and everything that can happen to it. */

/** What the client asked for, and what we asked the partner for: never changes, so that every attempt is the same. */
export interface CashInDetail extends Document {
  readonly description: string | null
  readonly generateQrCode: boolean
  readonly payer: { readonly fullName: string; readonly document: string } | null
  readonly merchant: { readonly pixKey: string; readonly name: string; readonly city: string }
}

/** What became known since. */
export interface CashInFacts extends MadeByFact, ReasonFact, ReportedFacts {
  readonly pixCode?: string
  /** How far the bank's stamps were from true time when it made the charge, milliseconds; absent: not at all, or not measured. */
  readonly stampOffsetMs?: number
  /** Every payment that was booked: end-to-end id → centavos. */
  readonly payments?: Readonly<Record<string, number>>
  /** Epoch milliseconds, the partner's word. */
  readonly paidAt?: number
  readonly payerName?: string | null
  readonly payerDocument?: string | null
  readonly payerIspb?: string | null
  readonly failureCode?: string
  readonly failureReason?: string | null
  /** Since when the partner's answer is missing, and how often it was asked. */
  readonly unknownSince?: number | null
  readonly questions?: number
  /** While the bank is being asked: when the lease of that status query ends. */
  readonly leaseUntil?: number | null
  /** An event asks for a status query that is claimed from now on. */
  readonly isQuestionWanted?: boolean
  /** How many status queries about the last event's news told no outcome; `null`: it is settled, or given up. */
  readonly eventQueries?: number | null
  /** Status queries in a row that left something open. */
  readonly inconclusive?: number
  /** No byte of any attempt to make the charge left: `proven`, or `claimed` while one may be made. */
  readonly unsent?: 'proven' | 'claimed' | null
  /** The last claim after which the bank may have been asked to make the charge. */
  readonly lastAttemptAt?: number
  /** When the bank was first and last asked about the charge, and said that it does not know it. */
  readonly notFoundSince?: number | null
  readonly notFoundAt?: number | null
  /** When it expired, where nobody sweeps the bank's statement for late money, and when the bank last answered since. */
  readonly expiredAt?: number
  readonly answeredAt?: number
  /** Cases of these kinds are open until what they wait for comes. */
  readonly isEndCaseOpen?: boolean
  readonly isPaymentCaseOpen?: boolean
  /** What the bank said when it was asked about a contradiction: for the operator who decides. */
  readonly bankAnswer?: Document
  /** What refunds under way have set aside, centavos. */
  readonly refundsOpenCents?: number
  /**
   * Refunds that a return may be, by their ids: those under way, and while one is awaited some that failed.
   */
  readonly openRefunds?: Readonly<Record<string, OpenRefund>>
  /** Returns of which it is not known yet whose they are: return id → what was told. */
  readonly awaitedReturns?: Readonly<Record<string, AwaitedReturn>>
  /** Returns that were held on an event's word and let go, as nothing of ours was it: by return id. */
  readonly releasedReturns?: readonly string[]
  /** Everything that went back, by our refunds or by the bank itself: return id → centavos. */
  readonly returns?: Readonly<Record<string, number>>
  /** What went back and is in suspense, by return id. */
  readonly suspendedReturns?: Readonly<Record<string, SuspendedReturn>>
  /** What operators took from suspense, centavos: of payments by end-to-end id, of returns by return id. */
  readonly decidedPayments?: Readonly<Record<string, number>>
  readonly decidedReturns?: Readonly<Record<string, number>>
  /** The charge at the bank by which its payment came, where an operator attributed that: the bank tells of it there. */
  readonly receivedFrom?: string
  /** Of those payments what the merchant was credited with, none of them as the charge’s own: end-to-end id → centavos. */
  readonly creditedPayments?: Readonly<Record<string, number>>
  /**
   * Returns that were booked without their id, centavos: by the id that an operator named, or, where the bank told its id later,
   * by the one that was made for it.
   */
  readonly namedReturns?: Readonly<Record<string, number>>
}

/** A return that was not debited from the merchant. */
export type SuspendedReturn = {
  /** Of the payment that went back; `null` where that is unclear. */
  readonly endToEndId: string | null
  readonly cents: number
  /** Where it was told without an id: the payment that it is of, as far as that was told. */
  readonly unnamedOf?: string | null
}

/** A cash-in as the engine keeps it. */
export type CashIn = Operation<'cash_in', CashInDetail, CashInFacts> & Ordered

/** Whether an operation is a cash-in. */
export function isCashIn(operation: Operation | undefined): operation is CashIn {
  return operation?.kind === 'cash_in'
}

/** What can happen to a cash-in after its creation. */
export type CashInInput =
  | { readonly on: 'work.requested' }
  | { readonly on: 'work.claimed'; readonly leaseMs: number }
  | {
      readonly on: 'work.done'
      readonly bankAnswer: Document
      /** The bank answered at all. */
      readonly isAnswered: boolean
      /** It told where the charge ended. */
      readonly hasOutcome: boolean
    }
  | {
      readonly on: 'clock.expired'
      /** Late money is found in the bank's statement. */
      readonly isSwept: boolean
    }
  | {
      readonly on: 'charge.not_found'
      /** When the status query was claimed. */
      readonly askedAt: number
      readonly isSwept: boolean
    }
  | {
      readonly on: 'charge.accepted'
      readonly transactionId: string
      /** Absent where it has ended, and the bank tells no code that could be shown. */
      readonly pixCode?: string
      /** As measured in the answer that made the charge. */
      readonly stampOffsetMs?: number
      /** Its end at the bank, where the bank had it before it was ordered here. */
      readonly expiresAt?: number
    }
  | { readonly on: 'charge.rejected'; readonly errorCode: string; readonly errorMessage: string | null }
  | { readonly on: 'charge.unknown' | 'charge.contradicted'; readonly reason: string }
  | {
      readonly on: 'charge.not_sent'
      readonly reason: string
      /** No byte of any attempt left, ever. */
      readonly isUnsent?: boolean
    }
  | {
      readonly on: 'partner.confirmed'
      readonly payment: Payment
      /** `null` where the statement tells it. */
      readonly transactionId: string | null
      /** The answer that tells it contradicts what was asked for. */
      readonly isContradicted?: true
      /** It was booked on another operation. */
      readonly isBookedElsewhere?: boolean
      /** Only an event tells it: the bank is queried before it is booked, or, in the sandbox, it is booked at once. */
      readonly unverified?: 'query' | 'book'
    }
  | FailureInput

/**
 * What becomes of a refund, or of a return that names none. `refund.taken`: money went back that no refund under way had
 * set aside. `refund.answered`: the bank was asked about a refund and told of none of these returns.
 */
export type RefundEvent =
  | { readonly on: 'refund.reserved' | 'refund.released'; readonly refundId: string; readonly valueCents: bigint }
  | {
      readonly on: 'refund.confirmed' | 'refund.taken'
      readonly refundId: string
      readonly returnId: string
      readonly valueCents: bigint
    }
  | { readonly on: 'refund.undone'; readonly refundId: string; readonly returnId: string }
  | {
      readonly on: 'refund.named'
      readonly refundId: string
      readonly transactionId: string
      readonly valueCents: bigint
    }
  | {
      readonly on: 'refund.answered'
      readonly refundId: string
      readonly returnIds: readonly string[]
      /** No later word can make it one of them. */
      readonly hasEnded: boolean
    }
  | {
      readonly on: 'return.told'
      readonly returnId: string
      readonly valueCents: bigint
      readonly occurredAt: number
      readonly transactionId: string | null
      /** When it was told, epoch milliseconds. */
      readonly at: number
      /** Where the bank told no return id, the one here was made of what it told. */
      readonly isUnnamed?: boolean
      /** Of the payment that the bank says it gave back, `null` where it names none; absent: of the credited one. */
      readonly endToEndId?: string | null
      /** It was booked on another operation. */
      readonly isBookedElsewhere?: boolean
      /** Only an event tells it, and the bank can be asked about the charge. */
      readonly isUnverified?: boolean
      /** Open refunds that the cash-in does not know of. */
      readonly alsoOpen: Readonly<Record<string, OpenRefund>>
    }
  | {
      readonly on: 'return.unexplained'
      readonly returnId: string
      /** What is there of it. */
      readonly heldCents: bigint
      /** The refunds that it may be. */
      readonly refundIds: readonly string[]
    }
  | {
      readonly on: 'return.known'
      readonly returnId: string
      /** The refund that it is, of ours or of the bank's. */
      readonly refundId: string
    }

/**
 * What became of an input. `IGNORED`: nothing to change, known already or too late. `IMPLAUSIBLE`: the partner's time
 * lies in the future, so it is not believed.
 */
export interface CashInOutcome {
  readonly result: 'APPLIED' | 'IGNORED' | 'IMPLAUSIBLE'
  /** The cash-in as it is now. */
  readonly cashIn: CashIn
}

/** All payments that were received for a charge, credited or in suspense, centavos. @source rules#cash-in.detail.1 */
export function receivedCents({ facts }: CashIn): bigint {
  return Object.values(facts.payments ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

/** What went back of a cash-in so far, centavos. @source rules#cash-in.refunds.7 */
export function refundedCents({ facts }: CashIn): bigint {
  return Object.values(facts.returns ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

/**
 * What a refund may be of at most now, centavos: what refunds under way have set aside counts as gone, and so does what
 * went back and is not known yet whose it is.
 * @source rules#refund-in.create.4
 */
export function refundableCents(cashIn: CashIn): bigint {
  const left =
    cashIn.valueCents - refundedCents(cashIn) - BigInt(cashIn.facts.refundsOpenCents ?? 0) - awaitedCents(cashIn)
  return cashIn.status === 'PAID' && left > 0n ? left : 0n
}

/** What went back and is not known yet whose it is, centavos. */
export function awaitedCents({ facts }: CashIn): bigint {
  return Object.values(facts.awaitedReturns ?? {}).reduce((sum, { valueCents }) => sum + BigInt(valueCents), 0n)
}

const REFUND_WINDOW_MS = limits.refundDeadlineDays * 24 * 60 * 60 * 1_000

/**
 * The last instant, epoch milliseconds, at which a cash-in that was paid may be refunded; `null` where it was not.
 * @source rules#cash-in.detail.5
 */
export function refundDeadline({ facts }: CashIn): number | null {
  return facts.paidAt === undefined ? null : facts.paidAt + REFUND_WINDOW_MS
}

/** The movement that a payment is. */
export function movementOf({ endToEndId }: Payment): MovementId {
  return { direction: 'in', id: endToEndId }
}

/**
 * Which of its payments a return is of: the end-to-end id, `null` where it could be one of several, `undefined` where it is
 * none that is known here.
 * @param named the end-to-end id that the bank tells with the return
 * @source rules#cash-in.refunds.12, rules#cash-in.refunds.9
 */
export function returnedPayment({ facts }: CashIn, named: string | null): string | null | undefined {
  const payments = Object.keys(facts.payments ?? {})
  if (named !== null) return payments.includes(named) ? named : undefined
  return payments.length > 1 ? null : payments[0]
}

/**
 * The payment that a return is of, by its end-to-end id, where an operator took that from suspense and the return is not booked
 * here: it may be another charge's by now. `undefined` where it is none such.
 * @source rules#cash-in.refunds.9
 */
export function decidedPaymentOf(
  cashIn: CashIn,
  { returnId, endToEndId }: { readonly returnId: string; readonly endToEndId?: string | null },
): string | undefined {
  const payment = returnedPayment(cashIn, endToEndId ?? null)
  const isDecided = payment != null && own(cashIn.facts.decidedPayments, payment) !== undefined
  return isDecided && bookedReturn(cashIn, returnId) === undefined ? payment : undefined
}

/** What of a payment that was not credited is still in suspense, centavos. */
export function suspendedCents({ facts }: CashIn, endToEndId: string): bigint {
  const returned = Object.values(facts.suspendedReturns ?? {}).filter((it) => it.endToEndId === endToEndId)
  const gone = returned.reduce((sum, { cents }) => sum + cents, own(facts.decidedPayments, endToEndId) ?? 0)
  return BigInt((own(facts.payments, endToEndId) ?? 0) - gone)
}

/** What was booked before under a return's id, centavos: debited, or in suspense. */
export function bookedReturn({ facts }: Pick<CashIn, 'facts'>, returnId: string): bigint | undefined {
  const cents =
    own(facts.returns, returnId) ?? own(facts.suspendedReturns, returnId)?.cents ?? own(facts.namedReturns, returnId)
  return cents === undefined ? undefined : BigInt(cents)
}

/**
 * The return in suspense that was told without its id and that one told with its id now may be: of the same amount, and not
 * known to be of another payment.
 * @source rules#cash-in.refunds.10
 */
export function unnamedLike(cashIn: CashIn, named: string | null, valueCents: bigint): string | undefined {
  const payment = returnedPayment(cashIn, named) ?? null
  return Object.entries(cashIn.facts.suspendedReturns ?? {}).find(
    ([, { cents, unnamedOf }]) =>
      unnamedOf !== undefined &&
      BigInt(cents) === valueCents &&
      (unnamedOf === null || payment === null || unnamedOf === payment),
  )?.[0]
}

/** A return in suspense that was told without its id. */
export function unnamedReturn({ facts }: CashIn, returnId: string): SuspendedReturn | undefined {
  const suspended = own(facts.suspendedReturns, returnId)
  return suspended?.unnamedOf === undefined ? undefined : suspended
}

/** Whether the bank is known to have taken the charge: somebody may have its code and pay it. */
export function isKnownAtBank({ transactionId, facts }: CashIn): boolean {
  return facts.pixCode !== undefined || transactionId !== null
}

/** Whether the time of a charge is over. */
export function isOver({ expiresAt }: Pick<CashIn, 'expiresAt'>, nowMs: number): boolean {
  return expiresAt !== null && nowMs > expiresAt
}

/** What was booked under a payment's end-to-end id, centavos. */
export function bookedAmount({ facts }: CashIn, { endToEndId }: Pick<Payment, 'endToEndId'>): bigint | undefined {
  const cents = own(facts.payments, endToEndId)
  return cents === undefined ? undefined : BigInt(cents)
}

/** Anything that can happen to a cash-in after its creation. */
export type CashInEvent = CashInInput | RefundEvent

/**
 * The status a client sees: a charge expires the moment its time is over, whoever has noticed.
 * @source rules#cash-in.detail.3
 */
export function statusAt(cashIn: Pick<CashIn, 'status' | 'expiresAt'>, nowMs: number): string {
  return isOverdue(cashIn, nowMs) ? 'EXPIRED' : cashIn.status
}

/** Whether it reads as `EXPIRED` before that was written. */
function isOverdue(cashIn: Pick<CashIn, 'status' | 'expiresAt'>, nowMs: number): boolean {
  return cashIn.status === 'PENDING' && isOver(cashIn, nowMs)
}
