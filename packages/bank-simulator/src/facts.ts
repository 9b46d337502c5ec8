import type { PartnerChargeRequest, PartnerPayoutRequest, PartnerRefundRequest } from '@pixgate/spec'
import type { AccountHolder } from './account-holders.ts'

/**
 * A fact in the book, one per line, never changed or removed. `at` is the time of booking in epoch milliseconds.
 * Amounts are integer centavos in a JSON number, exact up to 90 trillion reais.
 */
export type Fact =
  | ChargeCreated
  | ChargeRevised
  | ChargePaid
  | ChargeCancelled
  | ChargeFailed
  | KeyPaid
  | PaymentTakenBack
  | CodeIssued
  | CodeDecoded
  | PayoutAccepted
  | PayoutConfirmed
  | PayoutFailed
  | PayoutReturned
  | RefundAccepted
  | RefundConfirmed
  | RefundFailed
  | EventDelivered
  | WebhookSet
  | WebhookRemoved
  | NoticeDelivered
  | AccountDebited

/** A charge was created. */
export interface ChargeCreated {
  readonly fact: 'charge created'
  readonly at: number
  readonly chargeId: string
  readonly transactionId: string
  readonly pixCode: string
  /** The original request, with which repeated requests are compared. */
  readonly terms: PartnerChargeRequest
  readonly details?: ChargeDetails
}

/** Fields of a charge that only API Pix has. */
export interface ChargeDetails {
  readonly infoAdicionais?: readonly { readonly nome: string; readonly valor: string }[]
  /** 1: the payer may change the amount. */
  readonly modalidadeAlteracao?: number
}

/** The service revised a charge. */
export interface ChargeRevised {
  readonly fact: 'charge revised'
  readonly at: number
  readonly chargeId: string
  readonly terms: PartnerChargeRequest
  readonly details?: ChargeDetails
}

/** A charge was paid. */
export interface ChargePaid {
  readonly fact: 'charge paid'
  readonly at: number
  readonly chargeId: string
  readonly payment: Payment
  readonly disclosure?: Disclosure
  /** Id of the event that reports it. */
  readonly eventId: string
}

/** The service cancelled a charge. */
export interface ChargeCancelled {
  readonly fact: 'charge cancelled'
  readonly at: number
  readonly chargeId: string
}

/** The bank failed a charge. */
export interface ChargeFailed {
  readonly fact: 'charge failed'
  readonly at: number
  readonly chargeId: string
  readonly errorCode: string
  readonly errorMessage: string
  /** Id of the event that reports it. */
  readonly eventId: string
}

/** A payment to a Pix key was received, without a charge. */
export interface KeyPaid {
  readonly fact: 'key paid'
  readonly at: number
  readonly pixKey: string
  /** The txid of a static code. */
  readonly txid?: string
  /** Reference in the statement; not an id of the service. */
  readonly reference: string
  readonly payment: Payment
  readonly disclosure?: Disclosure
  /** Id of the notice that reports it, if there is a txid. */
  readonly eventId: string
}

/** Reason for a return by the bank itself. @source BCB, API Pix (DevolucaoNatureza) */
export type ReturnNature = 'MED_FRAUDE' | 'MED_OPERACIONAL'

/** The bank itself returned a payment, in full or in part. */
export interface PaymentTakenBack {
  readonly fact: 'payment taken back'
  readonly at: number
  /** The payment's EndToEndId. */
  readonly endToEndId: string
  /** The return's own transaction id. */
  readonly transactionId: string
  readonly returnId: string
  readonly valueCents: number
  /** `MED_FRAUDE` if missing. */
  readonly nature?: ReturnNature
  /** Id of the event that reports it. */
  readonly eventId: string
}

/** Another bank issued a dynamic code. */
export interface CodeIssued {
  readonly fact: 'code issued'
  readonly at: number
  readonly transactionId: string
  readonly pixCode: string
  readonly terms: ForeignCodeTerms
}

/** Terms of a dynamic code of another bank. */
export interface ForeignCodeTerms {
  readonly valueCents: number
  /** ISO 8601, any offset. Without it the code never expires. */
  readonly expiresAt?: string
  /** Amount that is paid, for example after interest was added since decoding; `valueCents` by default. */
  readonly changesToCents?: number
}

/** The service decoded a code. */
export interface CodeDecoded {
  readonly fact: 'code decoded'
  readonly at: number
  readonly decodeId: string
  readonly pixCode: string
}

/** How an accepted order settles, fixed by the bank's behaviour at acceptance. `manual` orders wait for a control. */
export type Course = 'auto' | 'manual' | 'fail'

/** A payout was accepted; no money has moved. */
export interface PayoutAccepted {
  readonly fact: 'payout accepted'
  readonly at: number
  readonly payoutId: string
  /** The service's id, if an earlier payout already has it as its key. */
  readonly againFor?: string
  readonly transactionId: string
  /** The original request, with which repeated requests are compared. */
  readonly order: PartnerPayoutRequest
  readonly recipient: AccountHolder
  /** Location of the dynamic code that it pays. */
  readonly location?: string
  /** The recipient's Pix key. */
  readonly pixKey?: string
  /** EndToEndId of the later payment, assigned at acceptance because Efí's response contains it. */
  readonly endToEndId?: string
  /** Pix key of the debited account; only Efí's requests name it. */
  readonly debitedKey?: string
  readonly course: Course
}

/** A payout was sent. */
export interface PayoutConfirmed {
  readonly fact: 'payout confirmed'
  readonly at: number
  readonly payoutId: string
  readonly endToEndId: string
  readonly valueCents: number
  /** Fee that the bank charged in addition. */
  readonly feeCents?: number
  /** Receiving side of the same payment, if it pays a charge of this bank. */
  readonly pays?: ChargePaid
  /** Id of the event that reports it. */
  readonly eventId: string
}

/** A payout failed. */
export interface PayoutFailed {
  readonly fact: 'payout failed'
  readonly at: number
  readonly payoutId: string
  readonly errorCode: string
  readonly errorMessage: string
  /** Id of the event that reports it. */
  readonly eventId: string
}

/** A payout was returned, in full or in part. */
export interface PayoutReturned {
  readonly fact: 'payout returned'
  readonly at: number
  readonly payoutId: string
  readonly returnId: string
  readonly valueCents: number
  /** Id of the event that reports it. */
  readonly eventId: string
}

/** A refund was accepted; no money has moved. */
export interface RefundAccepted {
  readonly fact: 'refund accepted'
  readonly at: number
  readonly refundId: string
  /** The service's id, if the refund has another key in the book. */
  readonly againFor?: string
  readonly transactionId: string
  /** The original request, with which repeated requests are compared. */
  readonly order: PartnerRefundRequest
  /** ReturnId of the later return, assigned at acceptance because API Pix's response contains it. */
  readonly returnId?: string
  readonly course: Course
}

/** A refund was sent. */
export interface RefundConfirmed {
  readonly fact: 'refund confirmed'
  readonly at: number
  readonly refundId: string
  readonly returnId: string
  readonly valueCents: number
  /** Id of the event that reports it. */
  readonly eventId: string
}

/** A refund failed. */
export interface RefundFailed {
  readonly fact: 'refund failed'
  readonly at: number
  readonly refundId: string
  readonly errorCode: string
  readonly errorMessage: string
  /** Id of the event that reports it. */
  readonly eventId: string
}

/** The account was debited without an order of the service, by another user of the account or a thief. */
export interface AccountDebited {
  readonly fact: 'account debited'
  readonly at: number
  readonly endToEndId: string
  /** Reference in the statement; not an id of the service. */
  readonly reference: string
  readonly valueCents: number
}

/** The service accepted an event and all its copies. */
export interface EventDelivered {
  readonly fact: 'event delivered'
  readonly at: number
  readonly eventId: string
}

/** A webhook URL was registered for a Pix key, replacing any earlier one. */
export interface WebhookSet {
  readonly fact: 'webhook set'
  readonly at: number
  readonly pixKey: string
  readonly url: string
}

/** The webhook of a Pix key was removed. */
export interface WebhookRemoved {
  readonly fact: 'webhook removed'
  readonly at: number
  readonly pixKey: string
}

/** A webhook accepted a notice and all its copies, or the webhook no longer exists. */
export interface NoticeDelivered {
  readonly fact: 'notice delivered'
  readonly at: number
  readonly noticeId: string
}

/** Data of the payer that API Pix returns with a payment. */
export interface Disclosure {
  /** Text that the payer wrote. */
  readonly infoPagador?: string
  /** Payer of the payment, which only some banks return. */
  readonly pagador?: { readonly name: string; readonly document: string }
}

/** A received payment, of a charge or to a Pix key. */
export interface Payment {
  readonly endToEndId: string
  readonly valueCents: number
  /** Time of the payment, ISO 8601 in UTC. A control can set it to a time other than that of booking. */
  readonly occurredAt: string
  readonly payer: AccountHolder
}
