import { limits } from '@pixgate/spec'
import type { Payment } from '../banks/port.ts'
import type { ReasonFact } from '../engine/follow.ts'
import type { Document, MovementId, Operation, Ordered } from '../engine/operation.ts'
import type { FailureInput } from '../operations/inputs.ts'
import type { MadeByFact } from '../operations/made-by.ts'
import { own } from '../platform/own.ts'
import type { ReportedFacts } from './reported.ts'
import type { RefundEvent, ReturnFacts } from './returns.ts'

/** A cash-in as the engine keeps it, and everything that can happen to it. */

/** What the client asked for, and what we asked the partner for: never changes, so that every attempt is the same. */
export interface CashInDetail extends Document {
  readonly description: string | null
  readonly generateQrCode: boolean
  readonly payer: { readonly fullName: string; readonly document: string } | null
  readonly merchant: { readonly pixKey: string; readonly name: string; readonly city: string }
}

/** What became known since. */
export interface CashInFacts extends MadeByFact, ReasonFact, ReportedFacts, ReturnFacts {
  readonly pixCode?: string
  /** How far the bank's stamps were from true time when it made the charge, milliseconds; absent: not at all, or not measured. */
  readonly stampOffsetMs?: number
  /** Every payment that was booked: end-to-end id → centavos. */
  readonly payments?: Readonly<Record<string, number>>
  /** Payments that the bank tells of this charge and another operation has: end-to-end id → centavos. */
  readonly elsewhere?: Readonly<Record<string, number>>
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
  /** Payments that operators took from suspense: end-to-end id → centavos. */
  readonly decidedPayments?: Readonly<Record<string, number>>
  /** What an operator accepted as the payment of the charge, centavos; absent: its value was paid. */
  readonly acceptedCents?: number
  /** A credit that an operator took back, as the bank does not have it: end-to-end id → centavos. */
  readonly reversed?: Readonly<Record<string, number>>
  /** The charge at the bank by which its payment came, where an operator attributed that: the bank tells of it there. */
  readonly receivedFrom?: string
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
