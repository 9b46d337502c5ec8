import type { PartnerChargeRequest, PartnerPayoutRequest, PartnerRefundRequest } from '@pixgate/spec'
import type { AccountHolder } from './account-holders.ts'

/**
 * What the book says, one fact a line: things that happened, never taken back. `at` is the instant of booking, epoch
 * milliseconds. Amounts are integer centavos in a JSON number, exact up to 90 trillion reais.
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

/** A charge was taken on. */
export interface ChargeCreated {
  readonly fact: 'charge created'
  readonly at: number
  readonly chargeId: string
  readonly transactionId: string
  readonly pixCode: string
  /** The request as it came: what a repeated one is compared with. */
  readonly terms: PartnerChargeRequest
  readonly details?: ChargeDetails
}

/** What only API Pix says of a charge. */
export interface ChargeDetails {
  readonly infoAdicionais?: readonly { readonly nome: string; readonly valor: string }[]
  /** 1: who pays may choose another amount. */
  readonly modalidadeAlteracao?: number
}

/** A charge was changed by who asked for it. */
export interface ChargeRevised {
  readonly fact: 'charge revised'
  readonly at: number
  readonly chargeId: string
  readonly terms: PartnerChargeRequest
  readonly details?: ChargeDetails
}

/** Money came in for a charge. */
export interface ChargePaid {
  readonly fact: 'charge paid'
  readonly at: number
  readonly chargeId: string
  readonly payment: Payment
  /** Of the event that tells of it. */
  readonly eventId: string
}

/** A charge was withdrawn by who asked for it. */
export interface ChargeCancelled {
  readonly fact: 'charge cancelled'
  readonly at: number
  readonly chargeId: string
}

/** A charge was given up by the bank. */
export interface ChargeFailed {
  readonly fact: 'charge failed'
  readonly at: number
  readonly chargeId: string
  readonly errorCode: string
  readonly errorMessage: string
  /** Of the event that tells of it. */
  readonly eventId: string
}

/** Money came in for the key itself: no charge asked for it. */
export interface KeyPaid {
  readonly fact: 'key paid'
  readonly at: number
  readonly pixKey: string
  /** Of a static code. */
  readonly txid?: string
  /** Names nothing of the service. */
  readonly reference: string
  readonly payment: Payment
  /** Of the notice that tells of it, where there is a txid. */
  readonly eventId: string
}

/** Why a bank takes a payment back by itself. @source BCB, API Pix (DevolucaoNatureza) */
export type ReturnNature = 'MED_FRAUDE' | 'MED_OPERACIONAL'

/** The bank took a payment back by itself, all of it or a part. */
export interface PaymentTakenBack {
  readonly fact: 'payment taken back'
  readonly at: number
  /** Of the payment. */
  readonly endToEndId: string
  /** Of this return. */
  readonly transactionId: string
  readonly returnId: string
  readonly valueCents: number
  /** `MED_FRAUDE` where it is missing. */
  readonly nature?: ReturnNature
  /** Of the event that tells of it. */
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

/** What a dynamic code of another bank asks for. */
export interface ForeignCodeTerms {
  readonly valueCents: number
  /** ISO 8601, any offset; without it the code is payable for ever. */
  readonly expiresAt?: string
  /** What is paid in the end, as where interest is added after the decoding; `valueCents` by default. */
  readonly changesToCents?: number
}

/** The service was told what a code asks for. */
export interface CodeDecoded {
  readonly fact: 'code decoded'
  readonly at: number
  readonly decodeId: string
  readonly pixCode: string
}

/** What becomes by itself of what the bank accepted, as the bank behaved when it accepted it. */
export type Course = 'auto' | 'manual' | 'fail'

/** A payout was taken on; no money has moved. */
export interface PayoutAccepted {
  readonly fact: 'payout accepted'
  readonly at: number
  readonly payoutId: string
  /** The service's id, where it was given for an earlier payout already. */
  readonly againFor?: string
  readonly transactionId: string
  /** The request as it came: what a repeated one is compared with. */
  readonly order: PartnerPayoutRequest
  readonly recipient: AccountHolder
  /** Of the dynamic code it pays. */
  readonly location?: string
  /** The recipient's. */
  readonly pixKey?: string
  /** The payment's, when it is made; given at once, because Efí's answer has it. */
  readonly endToEndId?: string
  /** The key of this account that was named as the payer's, by Efí's calls alone. */
  readonly debitedKey?: string
  readonly course: Course
}

/** The money of a payout went out. */
export interface PayoutConfirmed {
  readonly fact: 'payout confirmed'
  readonly at: number
  readonly payoutId: string
  readonly endToEndId: string
  readonly valueCents: number
  /** What the bank took for it besides. */
  readonly feeCents?: number
  /** The other end of the same payment, where that is a charge of this bank. */
  readonly pays?: ChargePaid
  /** Of the event that tells of it. */
  readonly eventId: string
}

/** A payout came to nothing. */
export interface PayoutFailed {
  readonly fact: 'payout failed'
  readonly at: number
  readonly payoutId: string
  readonly errorCode: string
  readonly errorMessage: string
  /** Of the event that tells of it. */
  readonly eventId: string
}

/** Money of a payout came back, all of it or a part. */
export interface PayoutReturned {
  readonly fact: 'payout returned'
  readonly at: number
  readonly payoutId: string
  readonly returnId: string
  readonly valueCents: number
  /** Of the event that tells of it. */
  readonly eventId: string
}

/** A refund was taken on; no money has moved. */
export interface RefundAccepted {
  readonly fact: 'refund accepted'
  readonly at: number
  readonly refundId: string
  /** The service's id, where it was given for an earlier refund already. */
  readonly againFor?: string
  readonly transactionId: string
  /** The request as it came: what a repeated one is compared with. */
  readonly order: PartnerRefundRequest
  /** The return's, when it is made; given at once, because API Pix's answer has it. */
  readonly returnId?: string
  readonly course: Course
}

/** The money of a refund went out. */
export interface RefundConfirmed {
  readonly fact: 'refund confirmed'
  readonly at: number
  readonly refundId: string
  readonly returnId: string
  readonly valueCents: number
  /** Of the event that tells of it. */
  readonly eventId: string
}

/** A refund came to nothing. */
export interface RefundFailed {
  readonly fact: 'refund failed'
  readonly at: number
  readonly refundId: string
  readonly errorCode: string
  readonly errorMessage: string
  /** Of the event that tells of it. */
  readonly eventId: string
}

/** Money went out that the service never asked for: somebody else uses the account, or robs it. */
export interface AccountDebited {
  readonly fact: 'account debited'
  readonly at: number
  readonly endToEndId: string
  /** Names nothing of the service. */
  readonly reference: string
  readonly valueCents: number
}

/** The service took an event, and every copy of it. */
export interface EventDelivered {
  readonly fact: 'event delivered'
  readonly at: number
  readonly eventId: string
}

/** An address is to be told of the payments of a key, in place of any other. */
export interface WebhookSet {
  readonly fact: 'webhook set'
  readonly at: number
  readonly pixKey: string
  readonly url: string
}

/** Nobody is told of the payments of a key any more. */
export interface WebhookRemoved {
  readonly fact: 'webhook removed'
  readonly at: number
  readonly pixKey: string
}

/** The address of a webhook took a notice, and every copy of it; or there is no such address any more. */
export interface NoticeDelivered {
  readonly fact: 'notice delivered'
  readonly at: number
  readonly noticeId: string
}

/** A payment of a charge, or to a key. */
export interface Payment {
  readonly endToEndId: string
  readonly valueCents: number
  /** When the money moved; a control may have set it to another time than that of the booking. ISO 8601, UTC. */
  readonly occurredAt: string
  readonly payer: AccountHolder
}
