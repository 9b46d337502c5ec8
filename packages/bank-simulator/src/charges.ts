import { isDeepStrictEqual } from 'node:util'
import { BrCodeError, buildDynamicBrCode, formatEndToEndId } from '@pixgate/brcode'
import type { PartnerCharge, PartnerChargeRequest } from '@pixgate/spec'
import { PAYER } from './account-holders.ts'
import type { Book } from './book.ts'
import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'
import type { ChargeDetails, Payment } from './facts.ts'
import { locationOfCharge } from './locations.ts'
import type { Charge } from './operations.ts'
import { Refused } from './refused.ts'

/** What is left out pays exactly the charge's value, now, by the payer it names or one the bank makes up. */
export interface PaymentOrder {
  readonly valueCents?: number
  readonly payerName?: string
  /** ISO 8601, any offset. */
  readonly occurredAt?: string
}

/** What whoever asks for a charge may choose besides its terms. */
export interface ChargeOptions {
  /** Its txid; the bank makes one up by default. */
  readonly transactionId?: string
  /** The instant from which its end was counted, epoch milliseconds; now by default. */
  readonly at?: number
  readonly details?: ChargeDetails
}

/** A payment to a key that no charge asked for. */
export interface KeyPaymentOrder extends PaymentOrder {
  readonly pixKey: string
  readonly valueCents: number
  /** Of a static code. */
  readonly txid?: string
}

/** What the rules need. */
export interface ChargesOptions {
  readonly book: Book
  readonly clock: Clock
  readonly chance: Chance
}

/**
 * The rules of charges. They decide on the book as it stands and book what follows, in one go; whoever answers waits
 * for {@link Book.durable} first.
 */
export class Charges {
  readonly #book: Book
  readonly #clock: Clock
  readonly #chance: Chance

  constructor({ book, clock, chance }: ChargesOptions) {
    this.#book = book
    this.#clock = clock
    this.#chance = chance
  }

  /**
   * Takes a charge on, once: the same id with the same terms is the same charge.
   * @throws Refused conflict (the id is known with other terms) · invalid_request (no BR Code can name the merchant)
   * @source rules#partner.1
   */
  create(
    id: string,
    terms: PartnerChargeRequest,
    { transactionId = this.#chance.transactionId(), at = this.#clock.now(), details }: ChargeOptions = {},
  ): { readonly isNew: boolean; readonly charge: PartnerCharge } {
    const existing = this.#book.charges.get(id)
    if (existing) {
      if (isDeepStrictEqual(existing.terms, terms))
        return { isNew: false, charge: chargeBody(existing, this.#clock.now()) }
      throw new Refused('conflict', 'the bank knows another charge under this id')
    }
    const pixCode = pixCodeOf(transactionId, terms)
    const asked = { terms, ...(details && { details }) }
    this.#book.record({ fact: 'charge created', at, chargeId: id, transactionId, pixCode, ...asked })
    return { isNew: true, charge: chargeBody(this.#known(id), this.#clock.now()) }
  }

  /**
   * Changes what a charge asks for, also of one that expired; what it asks for already is no change.
   * @throws Refused not_found · not_possible (paid, cancelled or failed)
   * @source rules#sandbox.14
   */
  revise(id: string, terms: PartnerChargeRequest, details: ChargeDetails): void {
    const charge = this.#known(id)
    if (charge.status !== 'ACTIVE') throw notPossible(charge)
    if (isDeepStrictEqual(charge.revisions.at(-1), { terms, details })) return
    this.#book.record({ fact: 'charge revised', at: this.#clock.now(), chargeId: id, terms, details })
  }

  /** @throws Refused not_found */
  get(id: string): PartnerCharge {
    return chargeWithPayments(this.#known(id), this.#clock.now())
  }

  /**
   * Withdraws a charge, also one that expired; doing it again does nothing.
   * @throws Refused not_found · already_paid (with the charge and its payments) · not_possible (it failed)
   */
  cancel(id: string): void {
    const charge = this.#known(id)
    if (charge.status === 'CANCELLED') return
    if (charge.status === 'PAID') {
      const paid = chargeWithPayments(charge, this.#clock.now())
      throw new Refused('already_paid', 'the charge was paid', paid)
    }
    if (charge.status === 'FAILED') throw notPossible(charge)
    this.#book.record({ fact: 'charge cancelled', at: this.#clock.now(), chargeId: id })
  }

  /**
   * Pays a charge: also after it expired, after it was cancelled, and again. The payer's bank may have sent the money
   * before any of that was known to it.
   * @throws Refused not_found · not_possible (it failed)
   * @source rules#sandbox.2
   */
  pay(id: string, order: PaymentOrder): Payment {
    const charge = this.#known(id)
    if (charge.status === 'FAILED') throw notPossible(charge)
    const now = this.#clock.now()
    const { valueCents, payer } = charge.terms
    const payment = this.#payment({ valueCents, ...order }, payer ?? PAYER, now)
    this.#book.record({ fact: 'charge paid', at: now, chargeId: id, payment, eventId: this.#chance.uuid() })
    return payment
  }

  /** Pays to a key what no charge asked for. @source rules#sandbox.17 */
  payKey({ pixKey, txid, ...order }: KeyPaymentOrder): Payment {
    const now = this.#clock.now()
    const payment = this.#payment(order, PAYER, now)
    const named = { pixKey, ...(txid !== undefined && { txid }), reference: this.#chance.uuid() }
    this.#book.record({ fact: 'key paid', at: now, ...named, payment, eventId: this.#chance.uuid() })
    return payment
  }

  /**
   * Gives a charge up.
   * @throws Refused not_found · not_possible (paid, cancelled or failed already)
   * @source rules#sandbox.3
   */
  fail(id: string): void {
    const charge = this.#known(id)
    if (charge.status !== 'ACTIVE') throw notPossible(charge)
    this.#book.record({
      fact: 'charge failed',
      at: this.#clock.now(),
      chargeId: id,
      errorCode: 'removed_by_bank',
      errorMessage: 'the bank removed the charge',
      eventId: this.#chance.uuid(),
    })
  }

  #payment(
    order: PaymentOrder & { readonly valueCents: number },
    payer: { readonly name: string; readonly document: string },
    nowMs: number,
  ): Payment {
    const at = order.occurredAt === undefined ? nowMs : Date.parse(order.occurredAt)
    return {
      endToEndId: formatEndToEndId({ ispb: PAYER.ispb, at: new Date(at), suffix: this.#chance.endToEndSuffix() }),
      valueCents: order.valueCents,
      occurredAt: new Date(at).toISOString(),
      payer: { name: order.payerName ?? payer.name, document: payer.document, ispb: PAYER.ispb },
    }
  }

  #known(id: string): Charge {
    const charge = this.#book.charges.get(id)
    if (!charge) throw new Refused('not_found', 'there is no such charge')
    return charge
  }
}

/** A charge as `GET /charges/{id}` tells it. */
export function chargeWithPayments(charge: Charge, now: number): PartnerCharge {
  return { ...chargeBody(charge, now), payments: [...charge.payments] }
}

/** The status of a charge, as the clock stands. */
export function chargeStatus({ status, terms }: Charge, now: number): PartnerCharge['status'] {
  return status === 'ACTIVE' && Date.parse(terms.expiresAt) <= now ? 'EXPIRED' : status
}

function chargeBody(charge: Charge, now: number): PartnerCharge {
  const { id, transactionId, pixCode, terms } = charge
  const { valueCents, expiresAt } = terms
  const createdAt = new Date(charge.createdAt).toISOString()
  return { id, transactionId, status: chargeStatus(charge, now), valueCents, pixCode, createdAt, expiresAt }
}

function pixCodeOf(transactionId: string, { merchant }: PartnerChargeRequest): string {
  try {
    return buildDynamicBrCode({
      url: locationOfCharge(transactionId),
      merchantName: merchant.name,
      merchantCity: merchant.city,
    })
  } catch (error) {
    if (error instanceof BrCodeError) throw new Refused('invalid_request', error.message)
    throw error
  }
}

function notPossible({ status }: Charge): Refused {
  return new Refused('not_possible', `the charge is ${status}`)
}
