import { isDeepStrictEqual } from 'node:util'
import { formatReturnId } from '@pixgate/brcode'
import type { PartnerRefund, PartnerRefundRequest } from '@pixgate/spec'
import { MERCHANT } from './account-holders.ts'
import type { Book } from './book.ts'
import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'
import { assertUnsettled, type ConfirmationOrder } from './confirmation.ts'
import { nextExecution } from './executions.ts'
import type { Course } from './facts.ts'
import type { Receipt, Refund } from './operations.ts'
import { sumCents } from './records.ts'
import { Refused } from './refused.ts'

/** The rules of payments that go back to who made them. Whoever answers waits for {@link Book.durable} first. */
export interface Refunds {
  /**
   * Takes a refund on, once: the same id with the same order is the same refund. Without idempotent orders it is
   * another one.
   * @throws Refused conflict (the id is known with another order) · payment_not_found · exceeds_payment (with what went
   *   back or is about to)
   * @source rules#partner.1, rules#sandbox.12
   */
  create(id: string, order: PartnerRefundRequest, course: Course): PartnerRefund
  /** @throws Refused not_found */
  get(id: string): PartnerRefund
  /**
   * Sends the money back, once, also where the bank took it back meanwhile.
   * @throws Refused not_found · not_possible (sent already; failed, unless the order overrides that)
   */
  confirm(id: string, order?: ConfirmationOrder): PartnerRefund
  /**
   * Gives a refund up.
   * @throws Refused not_found · not_possible (sent or failed already)
   */
  fail(id: string): void
  /**
   * Takes a payment of a charge back without being asked, as after a fraud (MED): of its first payment that has so much
   * left. A refund that is only about to be does not count.
   * @throws Refused not_found · not_possible (no payment has so much left)
   */
  returnPayment(chargeId: string, order: { readonly valueCents: number }): { endToEndId: string; returnId: string }
}

/** What the rules need. */
export interface RefundsOptions {
  readonly book: Book
  /** `true` by default. */
  readonly hasIdempotentOrders?: boolean | undefined
  readonly clock: Clock
  readonly chance: Chance
}

/** Makes the rules over a book. */
export function createRefunds({ book, hasIdempotentOrders = true, clock, chance }: RefundsOptions): Refunds {
  function known(id: string): Refund {
    const refund = book.refunds.get(id)
    if (!refund) throw new Refused('not_found', 'there is no such refund')
    return refund
  }

  /** What is left of a payment when refunds of these statuses are counted. */
  function leftCents({ payment, refundIds, takenBackCents }: Receipt, counted: readonly string[]): number {
    const refunds = refundIds.map((id) => known(id).answer).filter(({ status }) => counted.includes(status))
    return payment.valueCents - takenBackCents - sumCents(refunds)
  }

  function newReturnId(nowMs: number): string {
    return formatReturnId({ ispb: MERCHANT.ispb, at: new Date(nowMs), suffix: chance.endToEndSuffix() })
  }

  return {
    create(id, order, course) {
      const existing = book.refunds.get(id)
      if (existing && hasIdempotentOrders) {
        if (isDeepStrictEqual(existing.order, order)) return existing.answer
        throw new Refused('conflict', 'the bank knows another refund under this id')
      }
      const receipt = book.receipts.get(order.endToEndId)
      if (!receipt) throw new Refused('payment_not_found', 'the bank received no such payment')
      if (order.valueCents > leftCents(receipt, ['PROCESSING', 'CONFIRMED'])) {
        throw new Refused('exceeds_payment', 'more would go back than came in')
      }
      const transactionId = chance.transactionId()
      const refundId = nextExecution(id, book.refunds)
      const again = existing && { againFor: id }
      book.record({ fact: 'refund accepted', at: clock.now(), refundId, ...again, transactionId, order, course })
      return known(refundId).answer
    },

    get(id) {
      return known(id).answer
    },

    confirm(id, { valueCents, despiteFailure = false } = {}) {
      const { answer, order } = known(id)
      assertUnsettled(answer, despiteFailure)
      const at = clock.now()
      const moved = { returnId: newReturnId(at), valueCents: valueCents ?? order.valueCents }
      book.record({ fact: 'refund confirmed', at, refundId: id, ...moved, eventId: chance.uuid() })
      return known(id).answer
    },

    fail(id) {
      assertUnsettled(known(id).answer)
      book.record({
        fact: 'refund failed',
        at: clock.now(),
        refundId: id,
        errorCode: 'AC07',
        errorMessage: 'the account of the payer is closed',
        eventId: chance.uuid(),
      })
    },

    returnPayment(chargeId, { valueCents }) {
      const charge = book.charges.get(chargeId)
      if (!charge) throw new Refused('not_found', 'there is no such charge')
      const endToEndId = charge.payments
        .map((payment) => payment.endToEndId)
        .find((id) => leftCents(book.receipts.get(id) as Receipt, ['CONFIRMED']) >= valueCents)
      if (endToEndId === undefined) throw new Refused('not_possible', 'no payment of the charge has so much left')
      const at = clock.now()
      const returned = { endToEndId, transactionId: chance.transactionId(), returnId: newReturnId(at), valueCents }
      book.record({ fact: 'payment taken back', at, ...returned, eventId: chance.uuid() })
      return { endToEndId, returnId: returned.returnId }
    },
  }
}
