import type { PartnerChargeRequest } from '@pixgate/spec'

/**
 * What the book says, one fact a line: things that happened, never taken back. `at` is the instant of booking, epoch
 * milliseconds. Amounts are integer centavos in a JSON number, exact up to 90 trillion reais.
 */
export type Fact = ChargeCreated | ChargePaid | ChargeCancelled | ChargeFailed | EventDelivered

/** A charge was taken on. */
export interface ChargeCreated {
  readonly fact: 'charge created'
  readonly at: number
  readonly chargeId: string
  readonly transactionId: string
  readonly pixCode: string
  /** The request as it came: what a repeated one is compared with. */
  readonly terms: PartnerChargeRequest
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

/** The service took an event, and every copy of it. */
export interface EventDelivered {
  readonly fact: 'event delivered'
  readonly at: number
  readonly eventId: string
}

/** A payment of a charge. */
export interface Payment {
  readonly endToEndId: string
  readonly valueCents: number
  /** When the money moved; a control may have set it to another time than that of the booking. ISO 8601, UTC. */
  readonly occurredAt: string
  readonly payer: { readonly name: string; readonly document: string; readonly ispb: string }
}
