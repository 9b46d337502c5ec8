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
import type { Course, ForeignCodeTerms, Payment } from './facts.ts'

/** What the bank carries out: charges, payouts and refunds as the facts left them. */

/** A charge as the facts left it. That it expired is no fact: it is seen by looking at the clock. */
export interface Charge {
  readonly id: string
  readonly transactionId: string
  readonly pixCode: string
  readonly terms: PartnerChargeRequest
  readonly status: 'ACTIVE' | 'PAID' | 'CANCELLED' | 'FAILED'
  /** In the order of booking; more than one where it was paid twice. */
  readonly payments: readonly ReceivedPayment[]
}

/** A payment with what went back of it, in the order of booking. */
export interface ReceivedPayment extends Payment {
  readonly returns: PartnerPaymentReturn[]
}

/** A payment that came in, and what went back of it. */
export interface Receipt {
  readonly chargeId: string
  readonly payment: Payment
  /** Asked for by the service, whatever became of them. */
  readonly refundIds: readonly string[]
  /** Taken back by the bank itself. */
  readonly takenBackCents: number
}

/** A payout as the facts left it. */
export interface Payout {
  /** What a query is answered. */
  readonly answer: PartnerPayout & { readonly recipient: AccountHolder; readonly returns: PartnerReturn[] }
  readonly order: PartnerPayoutRequest
  readonly course: Course
  /** Of the dynamic code it pays. */
  readonly location: string | undefined
}

/** A refund as the facts left it. */
export interface Refund {
  /** What a query is answered. */
  readonly answer: PartnerRefund
  readonly order: PartnerRefundRequest
  readonly course: Course
}

/** A dynamic code of another bank. */
export interface ForeignCode {
  readonly transactionId: string
  readonly pixCode: string
  readonly terms: ForeignCodeTerms
}
