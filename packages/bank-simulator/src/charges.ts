import { isDeepStrictEqual } from 'node:util'
import { BrCodeError, buildDynamicBrCode, formatEndToEndId } from '@pixgate/brcode'
import type { PartnerCharge, PartnerChargeRequest } from '@pixgate/spec'
import { PAYER } from './account-holders.ts'
import type { Book } from './book.ts'
import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'
import type { Payment } from './facts.ts'
import { locationOfCharge } from './locations.ts'
import type { Charge } from './operations.ts'
import { Refused } from './refused.ts'

/**
 * The rules of charges. They decide on the book as it stands and book what follows, in one go; whoever answers waits
 * for {@link Book.durable} first.
 */
export interface Charges {
  /**
   * Takes a charge on, once: the same id with the same terms is the same charge.
   * @throws Refused conflict (the id is known with other terms) · invalid_request (no BR Code can name the merchant)
   * @source rules#partner.1
   */
  create(id: string, terms: PartnerChargeRequest): { readonly isNew: boolean; readonly charge: PartnerCharge }
  /** @throws Refused not_found */
  get(id: string): PartnerCharge
  /**
   * Withdraws a charge, also one that expired; doing it again does nothing.
   * @throws Refused not_found · already_paid (with the charge and its payments) · not_possible (it failed)
   */
  cancel(id: string): void
  /**
   * Pays a charge: also after it expired, after it was cancelled, and again. The payer's bank may have sent the money
   * before any of that was known to it.
   * @throws Refused not_found · not_possible (it failed)
   * @source rules#sandbox.2
   */
  pay(id: string, order: PaymentOrder): Payment
  /**
   * Gives a charge up.
   * @throws Refused not_found · not_possible (paid, cancelled or failed already)
   * @source rules#sandbox.3
   */
  fail(id: string): void
}

/** What is left out pays exactly the charge's value, now, by the payer it names or one the bank makes up. */
export interface PaymentOrder {
  readonly valueCents?: number
  readonly payerName?: string
  /** ISO 8601, any offset. */
  readonly occurredAt?: string
}

/** What the rules need. */
export interface ChargesOptions {
  readonly book: Book
  readonly clock: Clock
  readonly chance: Chance
}

/** Makes the rules over a book. */
export function createCharges({ book, clock, chance }: ChargesOptions): Charges {
  function known(id: string): Charge {
    const charge = book.charges.get(id)
    if (!charge) throw new Refused('not_found', 'there is no such charge')
    return charge
  }

  return {
    create(id, terms) {
      const existing = book.charges.get(id)
      if (existing) {
        if (isDeepStrictEqual(existing.terms, terms)) return { isNew: false, charge: chargeBody(existing, clock.now()) }
        throw new Refused('conflict', 'the bank knows another charge under this id')
      }
      const transactionId = chance.transactionId()
      const pixCode = pixCodeOf(transactionId, terms)
      book.record({ fact: 'charge created', at: clock.now(), chargeId: id, transactionId, pixCode, terms })
      return { isNew: true, charge: chargeBody(known(id), clock.now()) }
    },

    get(id) {
      return chargeWithPayments(known(id), clock.now())
    },

    cancel(id) {
      const charge = known(id)
      if (charge.status === 'CANCELLED') return
      if (charge.status === 'PAID') {
        const paid = chargeWithPayments(charge, clock.now())
        throw new Refused('already_paid', 'the charge was paid', paid)
      }
      if (charge.status === 'FAILED') throw notPossible(charge)
      book.record({ fact: 'charge cancelled', at: clock.now(), chargeId: id })
    },

    pay(id, order) {
      const charge = known(id)
      if (charge.status === 'FAILED') throw notPossible(charge)
      const now = clock.now()
      const at = order.occurredAt === undefined ? now : Date.parse(order.occurredAt)
      const payer = charge.terms.payer ?? PAYER
      const payment: Payment = {
        endToEndId: formatEndToEndId({ ispb: PAYER.ispb, at: new Date(at), suffix: chance.endToEndSuffix() }),
        valueCents: order.valueCents ?? charge.terms.valueCents,
        occurredAt: new Date(at).toISOString(),
        payer: { name: order.payerName ?? payer.name, document: payer.document, ispb: PAYER.ispb },
      }
      book.record({ fact: 'charge paid', at: now, chargeId: id, payment, eventId: chance.uuid() })
      return payment
    },

    fail(id) {
      const charge = known(id)
      if (charge.status !== 'ACTIVE') throw notPossible(charge)
      book.record({
        fact: 'charge failed',
        at: clock.now(),
        chargeId: id,
        errorCode: 'removed_by_bank',
        errorMessage: 'the bank removed the charge',
        eventId: chance.uuid(),
      })
    },
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
  return { id, transactionId, status: chargeStatus(charge, now), valueCents, pixCode, expiresAt }
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
