import type { PartnerPaymentReturn } from '@pixgate/spec'
import {
  type BankEvent,
  chargeFailedEvent,
  chargePaidEvent,
  instant,
  paymentTakenBackEvent,
  payoutConfirmedEvent,
  payoutFailedEvent,
  payoutReturnedEvent,
  refundConfirmedEvent,
  refundFailedEvent,
} from './events.ts'
import type {
  AccountDebited,
  ChargeCancelled,
  ChargeCreated,
  ChargeFailed,
  ChargePaid,
  ChargeRevised,
  CodeDecoded,
  CodeIssued,
  EventDelivered,
  Fact,
  KeyPaid,
  PaymentTakenBack,
  PayoutAccepted,
  PayoutConfirmed,
  PayoutFailed,
  PayoutReturned,
  RefundAccepted,
  RefundConfirmed,
  RefundFailed,
} from './facts.ts'
import { locationAtOtherBank, locationOfCharge } from './locations.ts'
import { type Notice, Notices } from './notices.ts'
import type { Charge, ForeignCode, Payout, Receipt, Refund } from './operations.ts'

/** A fact about an order, a debit, a delivery or a webhook. */
type OrderFact = Exclude<
  Fact,
  { readonly fact: `charge ${string}` | `code ${string}` | 'key paid' | 'payment taken back' }
>

/** Sign of each kind of entry. */
const SIGNS = {
  PAYMENT_RECEIVED: '+',
  PAYMENT_TAKEN_BACK: '-',
  PAYOUT_SENT: '-',
  PAYOUT_RETURNED: '+',
  REFUND_SENT: '-',
  TARIFF: '-',
} as const

/** A statement entry: one movement of money. */
export interface Entry {
  readonly kind: keyof typeof SIGNS
  /** EndToEndId of the payment; for a return, of the returned payment. */
  readonly endToEndId: string
  readonly returnId?: string
  /** The service's id of the operation, or the bank's own reference if there is none. */
  readonly reference: string
  readonly valueCents: number
  readonly sign: '+' | '-'
  /** ISO 8601, UTC. */
  readonly occurredAt: string
  /** Epoch milliseconds. */
  readonly bookedAt: number
}

/** State derived from the facts. */
export class Records {
  readonly #charges = new Map<string, Charge>()
  readonly #chargeIdsByLocation = new Map<string, string>()
  readonly #receipts = new Map<string, Receipt>()
  readonly #foreignCodes = new Map<string, ForeignCode>()
  readonly #decodings = new Map<string, string>()
  readonly #payouts = new Map<string, Payout>()
  readonly #payoutIdsByLocation = new Map<string, string>()
  readonly #refunds = new Map<string, Refund>()
  readonly #entries: Entry[] = []
  readonly #events = new Map<string, BankEvent>()
  readonly #notices = new Notices()

  /** By id. */
  get charges(): ReadonlyMap<string, Charge> {
    return this.#charges
  }

  /** By the payment's EndToEndId. */
  get receipts(): ReadonlyMap<string, Receipt> {
    return this.#receipts
  }

  /** By location. */
  get foreignCodes(): ReadonlyMap<string, ForeignCode> {
    return this.#foreignCodes
  }

  /** Decoded Pix codes by decoding id. */
  get decodings(): ReadonlyMap<string, string> {
    return this.#decodings
  }

  /** By id. */
  get payouts(): ReadonlyMap<string, Payout> {
    return this.#payouts
  }

  /** By id. */
  get refunds(): ReadonlyMap<string, Refund> {
    return this.#refunds
  }

  /** In order of booking. */
  get entries(): readonly Entry[] {
    return this.#entries
  }

  /** By event id, in order of the reported facts. */
  get events(): ReadonlyMap<string, BankEvent> {
    return this.#events
  }

  /** Registered webhooks and their notices. */
  get notices(): Pick<Notices, 'webhooks' | 'all'> {
    return this.#notices
  }

  /** Charge of this bank at the location of a dynamic code. */
  chargeAt(location: string): Charge | undefined {
    return this.#charges.get(this.#chargeIdsByLocation.get(location) ?? '')
  }

  /** Last payout for the dynamic code at a location. */
  payoutAt(location: string): Payout | undefined {
    return this.#payouts.get(this.#payoutIdsByLocation.get(location) ?? '')
  }

  /**
   * Applies a fact to the state.
   * @throws Error if it refers to an unknown operation or has an unknown kind
   */
  protected apply(fact: Fact): void {
    switch (fact.fact) {
      case 'charge created':
        this.#chargeCreated(fact)
        break
      case 'charge revised':
        this.#chargeRevised(fact)
        break
      case 'charge paid':
        this.#chargePaid(fact)
        break
      case 'charge cancelled':
        this.#chargeCancelled(fact)
        break
      case 'charge failed':
        this.#chargeFailed(fact)
        break
      case 'key paid':
        this.#keyPaid(fact)
        break
      case 'payment taken back':
        this.#paymentTakenBack(fact)
        break
      case 'code issued':
        this.#codeIssued(fact)
        break
      case 'code decoded':
        this.#codeDecoded(fact)
        break
      default:
        this.#applyOrder(fact)
    }
  }

  /** Applies a fact about an order, a debit, a delivery or a webhook. */
  #applyOrder(fact: OrderFact): void {
    switch (fact.fact) {
      case 'payout accepted':
        this.#payoutAccepted(fact)
        break
      case 'payout confirmed':
        this.#payoutConfirmed(fact)
        break
      case 'payout failed':
        this.#payoutFailed(fact)
        break
      case 'payout returned':
        this.#payoutReturned(fact)
        break
      case 'refund accepted':
        this.#refundAccepted(fact)
        break
      case 'refund confirmed':
        this.#refundConfirmed(fact)
        break
      case 'refund failed':
        this.#refundFailed(fact)
        break
      case 'event delivered':
        this.#eventDelivered(fact)
        break
      case 'webhook set':
      case 'webhook removed':
      case 'notice delivered':
        this.#notices.apply(fact)
        break
      case 'account debited':
        this.#accountDebited(fact)
        break
      default:
        throw new Error(`the book has a fact that this version does not know: ${JSON.stringify(fact satisfies never)}`)
    }
  }

  /** Stores an event that results from a fact. */
  protected emit(event: BankEvent): void {
    this.#events.set(event.body.eventId, event)
  }

  /** Stores a notice for a webhook. */
  protected notify(notice: Notice): void {
    this.#notices.keep(notice)
  }

  #chargeCreated({ chargeId: id, transactionId, pixCode, terms, details = {}, at: createdAt }: ChargeCreated): void {
    const named = { id, transactionId, pixCode, createdAt, number: this.#charges.size + 1 }
    this.#charges.set(id, { ...named, terms, revisions: [{ terms, details }], status: 'ACTIVE', payments: [] })
    this.#chargeIdsByLocation.set(locationOfCharge(transactionId), id)
  }

  #chargeRevised({ chargeId, terms, details = {} }: ChargeRevised): void {
    const charge = this.#charge(chargeId)
    this.#charges.set(chargeId, { ...charge, terms, revisions: [...charge.revisions, { terms, details }] })
  }

  #chargePaid(fact: ChargePaid): void {
    const { chargeId, payment, disclosure = {}, at } = fact
    const charge = this.#charge(chargeId)
    const { endToEndId, valueCents, occurredAt } = payment
    this.#charges.set(chargeId, {
      ...charge,
      status: 'PAID',
      payments: [...charge.payments, { ...payment, returns: [] }],
    })
    const { terms, transactionId: txid } = charge
    const { pixKey } = terms.merchant
    const received = { payment, disclosure, bookedAt: at, refundIds: [], takenBack: [] }
    this.#receipts.set(endToEndId, { chargeId, reference: chargeId, pixKey, txid, ...received })
    this.#addEntry('PAYMENT_RECEIVED', at, { endToEndId, reference: chargeId, valueCents, occurredAt })
    this.emit(chargePaidEvent(charge, fact))
    this.#notifyOfReceipt(fact.eventId, endToEndId)
  }

  /** A cancellation is also a revision, because it changes the status. */
  #chargeCancelled({ chargeId }: ChargeCancelled): void {
    const charge = this.#charge(chargeId)
    const revisions = [...charge.revisions, ...charge.revisions.slice(-1)]
    this.#charges.set(chargeId, { ...charge, revisions, status: 'CANCELLED' })
  }

  #chargeFailed(fact: ChargeFailed): void {
    const charge = this.#charge(fact.chargeId)
    this.#charges.set(charge.id, { ...charge, status: 'FAILED' })
    this.emit(chargeFailedEvent(charge, fact))
  }

  #keyPaid({ pixKey, txid, reference, payment, disclosure = {}, at, eventId }: KeyPaid): void {
    const { endToEndId, valueCents, occurredAt } = payment
    const received = { payment, disclosure, bookedAt: at, refundIds: [], takenBack: [] }
    this.#receipts.set(endToEndId, { chargeId: undefined, reference, pixKey, txid, ...received })
    this.#addEntry('PAYMENT_RECEIVED', at, { endToEndId, reference, valueCents, occurredAt })
    this.#notifyOfReceipt(eventId, endToEndId)
  }

  #paymentTakenBack(fact: PaymentTakenBack): void {
    const { endToEndId, transactionId, returnId, valueCents, nature = 'MED_FRAUDE', at } = fact
    const receipt = this.#receipt(endToEndId)
    const takenBack = [...receipt.takenBack, { returnId, transactionId, valueCents, nature, at }]
    this.#receipts.set(endToEndId, { ...receipt, takenBack })
    this.#addReturn(endToEndId, { returnId, transactionId, valueCents, occurredAt: instant(at), origin: 'BANK' })
    this.#addEntry('PAYMENT_TAKEN_BACK', at, { endToEndId, returnId, reference: receipt.reference, valueCents })
    // A payment without a charge was not reported by an event either.
    if (receipt.chargeId !== undefined) this.emit(paymentTakenBackEvent(fact))
    this.#notifyOfReceipt(fact.eventId, endToEndId)
  }

  #codeIssued({ transactionId, pixCode, terms }: CodeIssued): void {
    this.#foreignCodes.set(locationAtOtherBank(transactionId), { transactionId, pixCode, terms })
  }

  #codeDecoded({ decodeId, pixCode }: CodeDecoded): void {
    this.#decodings.set(decodeId, pixCode)
  }

  #payoutAccepted(fact: PayoutAccepted): void {
    const { payoutId, againFor, transactionId, order, location, at: acceptedAt } = fact
    const { course, pixKey, endToEndId, debitedKey } = fact
    const [id, { valueCents }] = [againFor ?? payoutId, order]
    const recipient = { ...fact.recipient, ...(pixKey !== undefined && { pixKey }) }
    const answer: Payout['answer'] = { id, transactionId, status: 'PROCESSING', valueCents, recipient, returns: [] }
    this.#payouts.set(payoutId, { answer, order, course, location, pixKey, endToEndId, debitedKey, acceptedAt })
    if (location !== undefined) this.#payoutIdsByLocation.set(location, payoutId)
  }

  #payoutConfirmed(fact: PayoutConfirmed): void {
    const { payoutId: id, endToEndId, valueCents, feeCents = 0, at, pays } = fact
    const payout = this.#payout(id)
    const { errorCode: _, errorMessage: __, ...answer } = payout.answer
    const moved = { status: 'CONFIRMED', valueCents, endToEndId, occurredAt: instant(at) } as const
    this.#payouts.set(id, { ...payout, endToEndId, answer: { ...answer, ...moved, ...(feeCents > 0 && { feeCents }) } })
    const reference = answer.id
    this.#addEntry('PAYOUT_SENT', at, { endToEndId, reference, valueCents })
    if (feeCents > 0) this.#addEntry('TARIFF', at, { endToEndId, reference, valueCents: feeCents })
    this.emit(payoutConfirmedEvent(payout, fact))
    this.#notifyOfPayout(fact.eventId, id)
    if (pays) this.#chargePaid(pays)
  }

  #payoutFailed(fact: PayoutFailed): void {
    const { payoutId: id, errorCode, errorMessage } = fact
    const payout = this.#payout(id)
    this.#payouts.set(id, { ...payout, answer: { ...payout.answer, status: 'FAILED', errorCode, errorMessage } })
    this.emit(payoutFailedEvent(payout, fact))
    this.#notifyOfPayout(fact.eventId, id)
  }

  #payoutReturned(fact: PayoutReturned): void {
    const { payoutId: id, returnId, valueCents, at } = fact
    const payout = this.#payout(id)
    const { answer } = payout
    const returns = [...answer.returns, { returnId, valueCents, occurredAt: instant(at) }]
    const status = sumCents(returns) === answer.valueCents ? 'RETURNED' : 'CONFIRMED'
    this.#payouts.set(id, { ...payout, answer: { ...answer, status, returns } })
    const named = { endToEndId: answer.endToEndId ?? '', returnId, reference: answer.id }
    this.#addEntry('PAYOUT_RETURNED', at, { ...named, valueCents })
    this.emit(payoutReturnedEvent(payout, fact))
    this.#notifyOfPayout(fact.eventId, id)
  }

  #refundAccepted(fact: RefundAccepted): void {
    const { refundId, againFor, transactionId, order, course, returnId, at: acceptedAt } = fact
    const { endToEndId, valueCents } = order
    const receipt = this.#receipt(endToEndId)
    this.#receipts.set(endToEndId, { ...receipt, refundIds: [...receipt.refundIds, refundId] })
    const answer = { id: againFor ?? refundId, transactionId, status: 'PROCESSING', valueCents } as const
    this.#refunds.set(refundId, { answer, order, course, returnId, acceptedAt })
  }

  #refundConfirmed(fact: RefundConfirmed): void {
    const { refundId: id, returnId, valueCents, at } = fact
    const refund = this.#refund(id)
    const { errorCode: _, errorMessage: __, ...answer } = refund.answer
    const moved = { status: 'CONFIRMED', valueCents, returnId, occurredAt: instant(at) } as const
    this.#refunds.set(id, { ...refund, returnId, answer: { ...answer, ...moved } })
    const { endToEndId } = refund.order
    const { transactionId } = answer
    this.#addReturn(endToEndId, { returnId, transactionId, valueCents, occurredAt: instant(at), origin: 'MERCHANT' })
    this.#addEntry('REFUND_SENT', at, { endToEndId, returnId, reference: answer.id, valueCents })
    this.emit(refundConfirmedEvent(refund, fact))
    this.#notifyOfReceipt(fact.eventId, endToEndId)
  }

  #refundFailed(fact: RefundFailed): void {
    const { refundId: id, errorCode, errorMessage } = fact
    const refund = this.#refund(id)
    this.#refunds.set(id, { ...refund, answer: { ...refund.answer, status: 'FAILED', errorCode, errorMessage } })
    this.emit(refundFailedEvent(refund, fact))
    this.#notifyOfReceipt(fact.eventId, refund.order.endToEndId)
  }

  #accountDebited({ endToEndId, reference, valueCents, at }: AccountDebited): void {
    this.#addEntry('PAYOUT_SENT', at, { endToEndId, reference, valueCents })
  }

  /** Only payments with a txid are reported to webhooks. @source BCB, API Pix (callback of /webhook/{chave}) */
  #notifyOfReceipt(id: string, endToEndId: string): void {
    const { pixKey, txid } = this.#receipt(endToEndId)
    if (txid !== undefined) this.notify({ id, pixKey, received: endToEndId, isDelivered: false })
  }

  #notifyOfPayout(id: string, payoutId: string): void {
    const { debitedKey } = this.#payout(payoutId)
    if (debitedKey !== undefined) this.notify({ id, pixKey: debitedKey, sent: payoutId, isDelivered: false })
  }

  /** Adds a return to the payment in its charge. */
  #addReturn(endToEndId: string, returned: PartnerPaymentReturn): void {
    const { chargeId } = this.#receipt(endToEndId)
    if (chargeId === undefined) return
    const charge = this.#charge(chargeId)
    const payments = charge.payments.map((payment) =>
      payment.endToEndId === endToEndId ? { ...payment, returns: [...payment.returns, returned] } : payment,
    )
    this.#charges.set(charge.id, { ...charge, payments })
  }

  #eventDelivered({ eventId, at }: EventDelivered): void {
    const event = this.#events.get(eventId)
    if (event) this.#events.set(eventId, { ...event, deliveredAt: at })
  }

  #addEntry(
    kind: Entry['kind'],
    bookedAt: number,
    moved: Pick<Entry, 'endToEndId' | 'returnId' | 'reference' | 'valueCents'> & { readonly occurredAt?: string },
  ): void {
    this.#entries.push({ kind, sign: SIGNS[kind], occurredAt: instant(bookedAt), ...moved, bookedAt })
  }

  #charge(id: string): Charge {
    return existing(this.#charges.get(id), `charge ${id} before it was created`)
  }

  #receipt(endToEndId: string): Receipt {
    return existing(this.#receipts.get(endToEndId), `payment ${endToEndId} before it was made`)
  }

  #payout(id: string): Payout {
    return existing(this.#payouts.get(id), `payout ${id} before it was accepted`)
  }

  #refund(id: string): Refund {
    return existing(this.#refunds.get(id), `refund ${id} before it was accepted`)
  }
}

/** Sum of the amounts, centavos. */
export function sumCents(amounts: readonly { readonly valueCents: number }[]): number {
  return amounts.reduce((sum, { valueCents }) => sum + valueCents, 0)
}

function existing<T>(record: T | undefined, what: string): T {
  if (record === undefined) throw new Error(`the book mentions ${what}`)
  return record
}
