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
import type { ChargeDetails, Course, Disclosure, ForeignCodeTerms, Payment, ReturnNature } from './facts.ts'

/** Current state of charges, payouts and refunds, derived from the facts. */

/** Current state of a charge. Expiry is not recorded as a fact; it is derived from the clock. */
export interface Charge {
  readonly id: string
  readonly transactionId: string
  readonly pixCode: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Sequence number in the book; the first charge is 1. */
  readonly number: number
  /** Terms of the last revision. */
  readonly terms: PartnerChargeRequest
  /** The original terms, which are revision 0, and each change of them. */
  readonly revisions: readonly Revision[]
  readonly status: 'ACTIVE' | 'PAID' | 'CANCELLED' | 'FAILED'
  /** In order of booking; more than one if it was paid repeatedly. */
  readonly payments: readonly ReceivedPayment[]
}

/** A version of a charge's terms. */
export interface Revision {
  readonly terms: PartnerChargeRequest
  readonly details: ChargeDetails
}

/** A payment with its returns, in order of booking. */
export interface ReceivedPayment extends Payment {
  readonly returns: PartnerPaymentReturn[]
}

/** A received payment with its refunds and returns. */
export interface Receipt {
  /** Id of the paid charge; `undefined` for a payment without a charge. */
  readonly chargeId: string | undefined
  /** Reference in the statement. */
  readonly reference: string
  readonly pixKey: string
  readonly txid: string | undefined
  readonly payment: Payment
  readonly disclosure: Disclosure
  /** Epoch milliseconds. */
  readonly bookedAt: number
  /** Refunds ordered by the service, in any status. */
  readonly refundIds: readonly string[]
  /** Returns by the bank itself, in order of booking. */
  readonly takenBack: readonly TakenBack[]
}

/** A return by the bank itself, which settles at once. */
export interface TakenBack extends Pick<PartnerPaymentReturn, 'returnId' | 'transactionId' | 'valueCents'> {
  readonly nature: ReturnNature
  /** Epoch milliseconds. */
  readonly at: number
}

/** Current state of a payout. */
export interface Payout {
  /** Response body of a query. */
  readonly answer: PartnerPayout & {
    readonly recipient: AccountHolder & { readonly pixKey?: string }
    readonly returns: PartnerReturn[]
  }
  readonly order: PartnerPayoutRequest
  readonly course: Course
  /** Location of the dynamic code that it pays. */
  readonly location: string | undefined
  /** The recipient's Pix key. */
  readonly pixKey: string | undefined
  /** EndToEndId of the payment, assigned before it is made. */
  readonly endToEndId: string | undefined
  /** Pix key of the debited account, if the request named it. */
  readonly debitedKey: string | undefined
  /** Epoch milliseconds. */
  readonly acceptedAt: number
}

/** Current state of a refund. */
export interface Refund {
  /** Response body of a query. */
  readonly answer: PartnerRefund
  readonly order: PartnerRefundRequest
  readonly course: Course
  /** ReturnId of the return, assigned before it is made. */
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
