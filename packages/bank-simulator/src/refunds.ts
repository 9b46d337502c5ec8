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
import type { Receipt, Refund } from './operations.ts'
import { sumCents } from './records.ts'
import { Refused } from './refused.ts'

/** What the rules need. */
export interface RefundsOptions {
  readonly book: Book
  /** `true` by default. */
  readonly hasIdempotentOrders?: boolean | undefined
  readonly clock: Clock
  readonly chance: Chance
}

/** What the bank takes back of a payment by itself. */
export interface ReturnOrder {
  readonly valueCents: number
  /** `MED_FRAUDE` by default. */
  readonly nature?: ReturnNature
}

/** The rules of payments that go back to who made them. Whoever answers waits for {@link Book.durable} first. */
export class Refunds {
  readonly #book: Book
  readonly #hasIdempotentOrders: boolean
  readonly #clock: Clock
  readonly #chance: Chance

  constructor({ book, hasIdempotentOrders = true, clock, chance }: RefundsOptions) {
    this.#book = book
    this.#hasIdempotentOrders = hasIdempotentOrders
    this.#clock = clock
    this.#chance = chance
  }

  /**
   * Takes a refund on, once: the same id with the same order is the same refund. Without idempotent orders it is
   * another one.
   * @param serviceId the service's id, where the book knows the refund by another
   * @throws Refused conflict (the id is known with another order) · payment_not_found · exceeds_payment (with what went
   *   back or is about to)
   * @source rules#partner.1, rules#sandbox.12
   */
  create(id: string, order: PartnerRefundRequest, course: Course, serviceId = id): PartnerRefund {
    const existing = this.#book.refunds.get(id)
    if (existing && this.#hasIdempotentOrders) {
      if (isDeepStrictEqual(existing.order, order)) return existing.answer
      throw new Refused('conflict', 'the bank knows another refund under this id')
    }
    const receipt = this.#book.receipts.get(order.endToEndId)
    if (!receipt) throw new Refused('payment_not_found', 'the bank received no such payment')
    if (order.valueCents > this.#leftCents(receipt, ['PROCESSING', 'CONFIRMED'])) {
      throw new Refused('exceeds_payment', 'more would go back than came in')
    }
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
   * Sends the money back, once, also where the bank took it back meanwhile.
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
   * Gives a refund up.
   * @throws Refused not_found · not_possible (sent or failed already)
   */
  fail(id: string): void {
    assertUnsettled(this.#known(id).answer)
    this.#book.record({
      fact: 'refund failed',
      at: this.#clock.now(),
      refundId: id,
      errorCode: 'AC07',
      errorMessage: 'the account of the payer is closed',
      eventId: this.#chance.uuid(),
    })
  }

  /**
   * Takes a payment of a charge back without being asked, as after a fraud (MED): of its first payment that has so much
   * left. A refund that is only about to be does not count.
   * @throws Refused not_found · not_possible (no payment has so much left)
   */
  returnPayment(chargeId: string, order: ReturnOrder): { endToEndId: string; returnId: string } {
    const charge = this.#book.charges.get(chargeId)
    if (!charge) throw new Refused('not_found', 'there is no such charge')
    const endToEndId = charge.payments
      .map((payment) => payment.endToEndId)
      .find((id) => this.#leftCents(this.#book.receipts.get(id) as Receipt, ['CONFIRMED']) >= order.valueCents)
    if (endToEndId === undefined) throw new Refused('not_possible', 'no payment of the charge has so much left')
    return this.#returnByBank(endToEndId, order)
  }

  /**
   * Takes a payment back without being asked, by its end-to-end id: also one that no charge asked for.
   * @throws Refused not_found · not_possible (it has not so much left)
   */
  returnReceived(endToEndId: string, order: ReturnOrder): { endToEndId: string; returnId: string } {
    const receipt = this.#book.receipts.get(endToEndId)
    if (!receipt) throw new Refused('not_found', 'the bank received no such payment')
    if (this.#leftCents(receipt, ['CONFIRMED']) < order.valueCents) {
      throw new Refused('not_possible', 'the payment has not so much left')
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
    if (!refund) throw new Refused('not_found', 'there is no such refund')
    return refund
  }

  /** What is left of a payment when refunds of these statuses are counted. */
  #leftCents({ payment, refundIds, takenBack }: Receipt, counted: readonly string[]): number {
    const refunds = refundIds.map((id) => this.#known(id).answer).filter(({ status }) => counted.includes(status))
    return payment.valueCents - sumCents(takenBack) - sumCents(refunds)
  }

  #newReturnId(nowMs: number): string {
    return formatReturnId({ ispb: MERCHANT.ispb, at: new Date(nowMs), suffix: this.#chance.endToEndSuffix() })
  }
}
