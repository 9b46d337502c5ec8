import type {
  PartnerChargeRequest,
  PartnerPaymentReturn,
  PartnerPayout,
  PartnerPayoutRequest,
  PartnerRefund,
  PartnerRefundRequest,
  PartnerReturn,
} from '@pixgate/spec'
import type { AccountHolder } from './account-holders.ts'
import type { ChargeDetails, Course, ForeignCodeTerms, Payment, ReturnNature } from './facts.ts'

/** What the bank carries out: charges, payouts and refunds as the facts left them. */

/** A charge as the facts left it. That it expired is no fact: it is seen by looking at the clock. */
export interface Charge {
  readonly id: string
  readonly transactionId: string
  readonly pixCode: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The first charge of the book is 1. */
  readonly number: number
  /** As the last of the revisions has them. */
  readonly terms: PartnerChargeRequest
  /** What was asked for, and each change of it; the first is number 0. */
  readonly revisions: readonly Revision[]
  readonly status: 'ACTIVE' | 'PAID' | 'CANCELLED' | 'FAILED'
  /** In the order of booking; more than one where it was paid twice. */
  readonly payments: readonly ReceivedPayment[]
}

/** What a charge asks for from some instant on. */
export interface Revision {
  readonly terms: PartnerChargeRequest
  readonly details: ChargeDetails
}

/** A payment with what went back of it, in the order of booking. */
export interface ReceivedPayment extends Payment {
  readonly returns: PartnerPaymentReturn[]
}

/** A payment that came in, and what went back of it. */
export interface Receipt {
  /** Of the charge it paid; `undefined` where it went to the key itself. */
  readonly chargeId: string | undefined
  /** What it stands under in the statement. */
  readonly reference: string
  readonly pixKey: string
  readonly txid: string | undefined
  readonly payment: Payment
  /** Epoch milliseconds. */
  readonly bookedAt: number
  /** Asked for by the service, whatever became of them. */
  readonly refundIds: readonly string[]
  /** By the bank itself, in the order of booking. */
  readonly takenBack: readonly TakenBack[]
}

/** What the bank itself took back of a payment, at once. */
export interface TakenBack extends Pick<PartnerPaymentReturn, 'returnId' | 'transactionId' | 'valueCents'> {
  readonly nature: ReturnNature
  /** Epoch milliseconds. */
  readonly at: number
}

/** A payout as the facts left it. */
export interface Payout {
  /** What a query is answered. */
  readonly answer: PartnerPayout & {
    readonly recipient: AccountHolder & { readonly pixKey?: string }
    readonly returns: PartnerReturn[]
  }
  readonly order: PartnerPayoutRequest
  readonly course: Course
  /** Of the dynamic code it pays. */
  readonly location: string | undefined
  /** The recipient's. */
  readonly pixKey: string | undefined
  /** Of the payment that was made, or is to be. */
  readonly endToEndId: string | undefined
  /** The key of this account that was named as the payer's. */
  readonly debitedKey: string | undefined
  /** Epoch milliseconds. */
  readonly acceptedAt: number
}

/** A refund as the facts left it. */
export interface Refund {
  /** What a query is answered. */
  readonly answer: PartnerRefund
  readonly order: PartnerRefundRequest
  readonly course: Course
  /** Of the return that was made, or is to be. */
  readonly returnId: string | undefined
  /** Epoch milliseconds. */
  readonly acceptedAt: number
}

/** A dynamic code of another bank. */
export interface ForeignCode {
  readonly transactionId: string
  readonly pixCode: string
  readonly terms: ForeignCodeTerms
}
