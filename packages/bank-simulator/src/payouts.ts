import { isDeepStrictEqual } from 'node:util'
import { formatEndToEndId, formatReturnId } from '@pixgate/brcode'
import type { PartnerPayout, PartnerPayoutRequest, PartnerReturn } from '@pixgate/spec'
import { type AccountHolder, documentOfKey, MERCHANT, RECIPIENT } from './account-holders.ts'
import type { Book } from './book.ts'
import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'
import { assertUnsettled, type ConfirmationOrder } from './confirmation.ts'
import { instant } from './events.ts'
import { nextExecution } from './executions.ts'
import type { ChargePaid, Course } from './facts.ts'
import { failureOf, markersIn } from './markers.ts'
import type { Payout } from './operations.ts'
import type { QrCodes } from './qr-codes.ts'
import { sumCents } from './records.ts'
import { Refused } from './refused.ts'
import { assertCovered } from './statement.ts'

/** Confirmation of a payout, with an optional fee of the bank. */
export interface PayoutConfirmationOrder extends ConfirmationOrder {
  readonly feeCents?: number
}

/** Dependencies of {@link Payouts}. */
export interface PayoutsOptions {
  readonly book: Book
  readonly qrCodes: Pick<QrCodes, 'payable'>
  /** `true` by default. */
  readonly hasIdempotentOrders?: boolean | undefined
  /** Whether the account can be overdrawn; `true` by default. */
  readonly hasOverdraft?: boolean | undefined
  readonly clock: Clock
  readonly chance: Chance
}

/** Rules for payouts. Callers must await {@link Book.durable} before they respond. */
export class Payouts {
  readonly #book: Book
  readonly #qrCodes: Pick<QrCodes, 'payable'>
  readonly #hasIdempotentOrders: boolean
  readonly #hasOverdraft: boolean
  readonly #clock: Clock
  readonly #chance: Chance

  constructor({ book, qrCodes, hasIdempotentOrders = true, hasOverdraft = true, clock, chance }: PayoutsOptions) {
    this.#book = book
    this.#qrCodes = qrCodes
    this.#hasIdempotentOrders = hasIdempotentOrders
    this.#hasOverdraft = hasOverdraft
    this.#clock = clock
    this.#chance = chance
  }

  /**
   * Accepts a payout. Idempotent: the same id with the same order returns the existing payout. Without idempotent orders
   * it is a new payout.
   * @throws Refused conflict (the id is known with another order) · insufficient_balance · as {@link QrCodes.payable}
   * @source rules#partner.1, rules#sandbox.12
   */
  create(
    id: string,
    order: PartnerPayoutRequest,
    course: Course,
    named: { readonly debitedKey?: string } = {},
  ): PartnerPayout {
    const existing = this.#book.payouts.get(id)
    if (existing && this.#hasIdempotentOrders) {
      if (isDeepStrictEqual(existing.order, order)) return existing.answer
      throw new Refused('conflict', 'a payout with this id and another order exists')
    }
    const transactionId = this.#chance.transactionId()
    const destination = this.#destinationOf(order)
    if (!this.#hasOverdraft) assertCovered(this.#book, order.valueCents)
    const payoutId = nextExecution(id, this.#book.payouts)
    const at = this.#clock.now()
    this.#book.record({
      fact: 'payout accepted',
      at,
      payoutId,
      ...(existing && { againFor: id }),
      transactionId,
      order,
      ...destination,
      endToEndId: this.#newEndToEndId(at),
      ...named,
      course,
    })
    return this.#known(payoutId).answer
  }

  /** @throws Refused not_found */
  get(id: string): PartnerPayout {
    return this.#known(id).answer
  }

  /**
   * Confirms a payout: sends its money, once.
   * @throws Refused not_found · not_possible (sent already; failed, unless the order overrides that)
   */
  confirm(id: string, { valueCents, feeCents, despiteFailure = false }: PayoutConfirmationOrder = {}): PartnerPayout {
    const { answer, order, location, endToEndId } = this.#known(id)
    assertUnsettled(answer, despiteFailure)
    const at = this.#clock.now()
    const changedToCents =
      location === undefined ? undefined : this.#book.foreignCodes.get(location)?.terms.changesToCents
    const moved = {
      endToEndId: endToEndId ?? this.#newEndToEndId(at),
      valueCents: valueCents ?? changedToCents ?? order.valueCents,
    }
    const pays = location === undefined ? undefined : this.#chargePaidBy(location, moved, at)
    this.#book.record({
      fact: 'payout confirmed',
      at,
      payoutId: id,
      ...moved,
      ...(feeCents !== undefined && { feeCents }),
      ...(pays && { pays }),
      eventId: this.#chance.uuid(),
    })
    return this.#known(id).answer
  }

  /**
   * Fails a payout.
   * @throws Refused not_found · not_possible (sent or failed already)
   */
  fail(id: string): void {
    const { answer, order } = this.#known(id)
    assertUnsettled(answer)
    const { errorCode } = markersIn(order.description)
    this.#book.record({
      fact: 'payout failed',
      at: this.#clock.now(),
      payoutId: id,
      ...failureOf(errorCode, 'the account of the recipient is closed'),
      eventId: this.#chance.uuid(),
    })
  }

  /** Whether the bank settles a payout by itself. */
  isDue(id: string): boolean {
    const payout = this.#book.payouts.get(id)
    return payout?.answer.status === 'PROCESSING' && payout.course !== 'manual'
  }

  /** Settles a payout as its course and its markers say. */
  settle(id: string): void {
    const { course, order } = this.#known(id)
    if (course === 'fail') this.fail(id)
    else this.confirm(id)
    if (course !== 'fail' && markersIn(order.description).isReversed) this.reverse(id, {})
  }

  /**
   * Returns a payout from the recipient; by default the full remaining amount.
   * @throws Refused not_found · not_possible (not sent, or not so much is left)
   */
  reverse(id: string, order: { readonly valueCents?: number }): PartnerReturn {
    const { answer } = this.#known(id)
    const leftCents = answer.status === 'CONFIRMED' ? answer.valueCents - sumCents(answer.returns) : 0
    const { valueCents = leftCents } = order
    if (leftCents === 0 || valueCents > leftCents) {
      throw new Refused('not_possible', `the payout is ${answer.status} and ${leftCents} centavos can be returned`)
    }
    const at = this.#clock.now()
    const { ispb } = answer.recipient
    const returnId = formatReturnId({ ispb, at: new Date(at), suffix: this.#chance.endToEndSuffix() })
    this.#book.record({ fact: 'payout returned', at, payoutId: id, returnId, valueCents, eventId: this.#chance.uuid() })
    return { returnId, valueCents, occurredAt: instant(at) }
  }

  #known(id: string): Payout {
    const payout = this.#book.payouts.get(id)
    if (!payout) throw new Refused('not_found', 'payout not found')
    return payout
  }

  #newEndToEndId(nowMs: number): string {
    return formatEndToEndId({ ispb: MERCHANT.ispb, at: new Date(nowMs), suffix: this.#chance.endToEndSuffix() })
  }

  #destinationOf(order: PartnerPayoutRequest): { recipient: AccountHolder; pixKey: string; location?: string } {
    if ('recipient' in order) {
      const { pixKey, name = RECIPIENT.name, document = documentOfKey(pixKey) } = order.recipient
      return { recipient: { name, document, ispb: RECIPIENT.ispb }, pixKey }
    }
    const { recipient, location } = this.#qrCodes.payable(order)
    const { name, document, ispb, pixKey } = recipient
    return { recipient: { name, document, ispb }, pixKey, ...(location !== undefined && { location }) }
  }

  /** Receiving side of a payment whose code belongs to a charge of this bank. */
  #chargePaidBy(
    location: string,
    paid: Pick<ChargePaid['payment'], 'endToEndId' | 'valueCents'>,
    paidAt: number,
  ): ChargePaid | undefined {
    const charge = this.#book.chargeAt(location)
    const payment = { ...paid, occurredAt: instant(paidAt), payer: MERCHANT }
    return charge && { fact: 'charge paid', at: paidAt, chargeId: charge.id, payment, eventId: this.#chance.uuid() }
  }
}
