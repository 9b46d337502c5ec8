import { isDeepStrictEqual } from 'node:util'
import { formatReturnId } from '@pixgate/brcode'
import type { PartnerRefund, PartnerRefundRequest } from '@pixgate/spec'
import { MERCHANT } from './account-holders.ts'
import type { Book } from './book.ts'
import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'
import { assertUnsettled, type ConfirmationOrder } from './confirmation.ts'
import { nextExecution } from './executions.ts'
import type { Course, ReturnNature } from './facts.ts'
import { failureOf, markersIn } from './markers.ts'
import type { Receipt, Refund } from './operations.ts'
import { sumCents } from './records.ts'
import { Refused } from './refused.ts'
import { assertCovered } from './statement.ts'

/** Dependencies of {@link Refunds}. */
export interface RefundsOptions {
  readonly book: Book
  /** `true` by default. */
  readonly hasIdempotentOrders?: boolean | undefined
  /** Whether the account can be overdrawn; `true` by default. */
  readonly hasOverdraft?: boolean | undefined
  readonly clock: Clock
  readonly chance: Chance
}

/** A return by the bank itself. */
export interface ReturnOrder {
  readonly valueCents: number
  /** `MED_FRAUDE` by default. */
  readonly nature?: ReturnNature
}

/** Rules for returns of received payments. Callers must await {@link Book.durable} before they respond. */
export class Refunds {
  readonly #book: Book
  readonly #hasIdempotentOrders: boolean
  readonly #hasOverdraft: boolean
  readonly #clock: Clock
  readonly #chance: Chance

  constructor({ book, hasIdempotentOrders = true, hasOverdraft = true, clock, chance }: RefundsOptions) {
    this.#book = book
    this.#hasIdempotentOrders = hasIdempotentOrders
    this.#hasOverdraft = hasOverdraft
    this.#clock = clock
    this.#chance = chance
  }

  /**
   * Accepts a refund. Idempotent: the same id with the same order returns the existing refund. Without idempotent orders
   * it is a new refund.
   * @param serviceId the service's id, if the refund has another key in the book
   * @throws Refused conflict (the id is known with another order) · payment_not_found · exceeds_payment · insufficient_balance
   * @source rules#partner.1, rules#sandbox.12
   */
  create(id: string, order: PartnerRefundRequest, course: Course, serviceId = id): PartnerRefund {
    const existing = this.#book.refunds.get(id)
    if (existing && this.#hasIdempotentOrders) {
      if (isDeepStrictEqual(existing.order, order)) return existing.answer
      throw new Refused('conflict', 'a refund with this id and another order exists')
    }
    const receipt = this.#book.receipts.get(order.endToEndId)
    if (!receipt) throw new Refused('payment_not_found', 'payment not found')
    if (order.valueCents > this.#leftCents(receipt, ['PROCESSING', 'CONFIRMED'])) {
      throw new Refused('exceeds_payment', 'the refunds exceed the payment')
    }
    if (!this.#hasOverdraft) assertCovered(this.#book, order.valueCents)
    const transactionId = this.#chance.transactionId()
    const refundId = nextExecution(id, this.#book.refunds)
    const again = (existing || serviceId !== id) && { againFor: serviceId }
    const at = this.#clock.now()
    const returnId = this.#newReturnId(at)
    this.#book.record({ fact: 'refund accepted', at, refundId, ...again, transactionId, order, returnId, course })
    return this.#known(refundId).answer
  }

  /** @throws Refused not_found */
  get(id: string): PartnerRefund {
    return this.#known(id).answer
  }

  /**
   * Confirms a refund: sends its money, once, even if the bank itself returned the payment in the meantime.
   * @throws Refused not_found · not_possible (sent already; failed, unless the order overrides that)
   */
  confirm(id: string, { valueCents, despiteFailure = false }: ConfirmationOrder = {}): PartnerRefund {
    const { answer, order, returnId } = this.#known(id)
    assertUnsettled(answer, despiteFailure)
    const at = this.#clock.now()
    const moved = { returnId: returnId ?? this.#newReturnId(at), valueCents: valueCents ?? order.valueCents }
    this.#book.record({ fact: 'refund confirmed', at, refundId: id, ...moved, eventId: this.#chance.uuid() })
    return this.#known(id).answer
  }

  /**
   * Fails a refund.
   * @throws Refused not_found · not_possible (sent or failed already)
   */
  fail(id: string): void {
    const { answer, order } = this.#known(id)
    assertUnsettled(answer)
    const { errorCode } = markersIn(order.reason)
    this.#book.record({
      fact: 'refund failed',
      at: this.#clock.now(),
      refundId: id,
      ...failureOf(errorCode, 'the account of the payer is closed'),
      eventId: this.#chance.uuid(),
    })
  }

  /** Whether the bank settles a refund by itself. */
  isDue(id: string): boolean {
    const refund = this.#book.refunds.get(id)
    return refund?.answer.status === 'PROCESSING' && refund.course !== 'manual'
  }

  /** Settles a refund as its course says. */
  settle(id: string): void {
    if (this.#known(id).course === 'fail') this.fail(id)
    else this.confirm(id)
  }

  /**
   * Returns a payment of a charge without an order of the service, as after a fraud (MED). Chooses the first payment with
   * enough left; refunds in progress do not count.
   * @throws Refused not_found · not_possible (no payment has so much left)
   */
  returnPayment(chargeId: string, order: ReturnOrder): { endToEndId: string; returnId: string } {
    const charge = this.#book.charges.get(chargeId)
    if (!charge) throw new Refused('not_found', 'charge not found')
    const endToEndId = charge.payments
      .map((payment) => payment.endToEndId)
      .find((id) => this.#leftCents(this.#book.receipts.get(id) as Receipt, ['CONFIRMED']) >= order.valueCents)
    if (endToEndId === undefined) throw new Refused('not_possible', 'no payment of the charge has enough left')
    return this.#returnByBank(endToEndId, order)
  }

  /**
   * Returns a payment without an order of the service, by its EndToEndId, even if it has no charge.
   * @throws Refused not_found · not_possible (it has not so much left)
   */
  returnReceived(endToEndId: string, order: ReturnOrder): { endToEndId: string; returnId: string } {
    const receipt = this.#book.receipts.get(endToEndId)
    if (!receipt) throw new Refused('not_found', 'payment not found')
    if (this.#leftCents(receipt, ['CONFIRMED']) < order.valueCents) {
      throw new Refused('not_possible', 'the payment does not have enough left')
    }
    return this.#returnByBank(endToEndId, order)
  }

  #returnByBank(endToEndId: string, order: ReturnOrder): { endToEndId: string; returnId: string } {
    const at = this.#clock.now()
    const named = { endToEndId, transactionId: this.#chance.transactionId(), returnId: this.#newReturnId(at) }
    this.#book.record({ fact: 'payment taken back', at, ...named, ...order, eventId: this.#chance.uuid() })
    return { endToEndId, returnId: named.returnId }
  }

  #known(id: string): Refund {
    const refund = this.#book.refunds.get(id)
    if (!refund) throw new Refused('not_found', 'refund not found')
    return refund
  }

  /** Remaining centavos of a payment after returns by the bank and refunds in these statuses. */
  #leftCents({ payment, refundIds, takenBack }: Receipt, counted: readonly string[]): number {
    const refunds = refundIds.map((id) => this.#known(id).answer).filter(({ status }) => counted.includes(status))
    return payment.valueCents - sumCents(takenBack) - sumCents(refunds)
  }

  #newReturnId(nowMs: number): string {
    return formatReturnId({ ispb: MERCHANT.ispb, at: new Date(nowMs), suffix: this.#chance.endToEndSuffix() })
  }
}
