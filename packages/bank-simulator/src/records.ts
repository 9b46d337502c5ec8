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
  CodeDecoded,
  CodeIssued,
  EventDelivered,
  Fact,
  PaymentTakenBack,
  PayoutAccepted,
  PayoutConfirmed,
  PayoutFailed,
  PayoutReturned,
  RefundAccepted,
  RefundConfirmed,
  RefundFailed,
} from './facts.ts'
import { locationElsewhere, locationOfCharge } from './locations.ts'
import type { Charge, ForeignCode, Payout, Receipt, Refund } from './operations.ts'

/** What each kind of entry does to the balance. */
const SIGNS = {
  PAYMENT_RECEIVED: '+',
  PAYMENT_TAKEN_BACK: '-',
  PAYOUT_SENT: '-',
  PAYOUT_RETURNED: '+',
  REFUND_SENT: '-',
  TARIFF: '-',
} as const

/** Money that moved: a line of the statement. */
export interface Entry {
  readonly kind: keyof typeof SIGNS
  /** Of the payment, also where this is a return of it. */
  readonly endToEndId: string
  readonly returnId?: string
  /** The id the service gave to what the money moved for. */
  readonly reference: string
  readonly valueCents: number
  readonly sign: '+' | '-'
  /** ISO 8601, UTC. */
  readonly occurredAt: string
  /** Epoch milliseconds. */
  readonly bookedAt: number
}

/** The state that follows from the facts. */
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

  /** By id. */
  get charges(): ReadonlyMap<string, Charge> {
    return this.#charges
  }

  /** By the payment's end-to-end id. */
  get receipts(): ReadonlyMap<string, Receipt> {
    return this.#receipts
  }

  /** By location. */
  get foreignCodes(): ReadonlyMap<string, ForeignCode> {
    return this.#foreignCodes
  }

  /** Which Pix code was decoded, by the decoding's id. */
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

  /** In the order of booking. */
  get entries(): readonly Entry[] {
    return this.#entries
  }

  /** In the order of what they tell, by event id. */
  get events(): ReadonlyMap<string, BankEvent> {
    return this.#events
  }

  /** The charge of this bank that a dynamic code points to. */
  chargeAt(location: string): Charge | undefined {
    return this.#charges.get(this.#chargeIdsByLocation.get(location) ?? '')
  }

  /** The last payout that was to pay a dynamic code. */
  payoutAt(location: string): Payout | undefined {
    return this.#payouts.get(this.#payoutIdsByLocation.get(location) ?? '')
  }

  /**
   * Takes a fact in.
   * @throws Error where it tells of what is not there, or is of a kind this bank does not know
   */
  protected apply(fact: Fact): void {
    switch (fact.fact) {
      case 'charge created':
        this.#chargeCreated(fact)
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
      case 'payment taken back':
        this.#paymentTakenBack(fact)
        break
      case 'code issued':
        this.#codeIssued(fact)
        break
      case 'code decoded':
        this.#codeDecoded(fact)
        break
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
      case 'account debited':
        this.#accountDebited(fact)
        break
      default:
        throw new Error(`the book has a fact that this bank does not know: ${JSON.stringify(fact satisfies never)}`)
    }
  }

  /** Keeps an event that a fact gives rise to. */
  protected emit(event: BankEvent): void {
    this.#events.set(event.body.eventId, event)
  }

  #chargeCreated({ chargeId: id, transactionId, pixCode, terms }: ChargeCreated): void {
    this.#charges.set(id, { id, transactionId, pixCode, terms, status: 'ACTIVE', payments: [] })
    this.#chargeIdsByLocation.set(locationOfCharge(transactionId), id)
  }

  #chargePaid(fact: ChargePaid): void {
    const { chargeId, payment, at } = fact
    const charge = this.#charge(chargeId)
    const { endToEndId, valueCents, occurredAt } = payment
    this.#charges.set(chargeId, {
      ...charge,
      status: 'PAID',
      payments: [...charge.payments, { ...payment, returns: [] }],
    })
    this.#receipts.set(endToEndId, { chargeId, payment, refundIds: [], takenBackCents: 0 })
    this.#enter('PAYMENT_RECEIVED', at, { endToEndId, reference: chargeId, valueCents, occurredAt })
    this.emit(chargePaidEvent(charge, fact))
  }

  #chargeCancelled({ chargeId }: ChargeCancelled): void {
    this.#charges.set(chargeId, { ...this.#charge(chargeId), status: 'CANCELLED' })
  }

  #chargeFailed(fact: ChargeFailed): void {
    const charge = this.#charge(fact.chargeId)
    this.#charges.set(charge.id, { ...charge, status: 'FAILED' })
    this.emit(chargeFailedEvent(charge, fact))
  }

  #paymentTakenBack(fact: PaymentTakenBack): void {
    const { endToEndId, transactionId, returnId, valueCents, at } = fact
    const receipt = this.#receipt(endToEndId)
    this.#receipts.set(endToEndId, { ...receipt, takenBackCents: receipt.takenBackCents + valueCents })
    this.#wentBack(endToEndId, { returnId, transactionId, valueCents, occurredAt: instant(at), origin: 'BANK' })
    this.#enter('PAYMENT_TAKEN_BACK', at, { endToEndId, returnId, reference: receipt.chargeId, valueCents })
    this.emit(paymentTakenBackEvent(fact))
  }

  #codeIssued({ transactionId, pixCode, terms }: CodeIssued): void {
    this.#foreignCodes.set(locationElsewhere(transactionId), { transactionId, pixCode, terms })
  }

  #codeDecoded({ decodeId, pixCode }: CodeDecoded): void {
    this.#decodings.set(decodeId, pixCode)
  }

  #payoutAccepted({ payoutId, againFor, transactionId, order, recipient, course, location }: PayoutAccepted): void {
    const [id, { valueCents }] = [againFor ?? payoutId, order]
    const answer: Payout['answer'] = { id, transactionId, status: 'PROCESSING', valueCents, recipient, returns: [] }
    this.#payouts.set(payoutId, { answer, order, course, location })
    if (location !== undefined) this.#payoutIdsByLocation.set(location, payoutId)
  }

  #payoutConfirmed(fact: PayoutConfirmed): void {
    const { payoutId: id, endToEndId, valueCents, feeCents = 0, at, pays } = fact
    const payout = this.#payout(id)
    const { errorCode: _, errorMessage: __, ...answer } = payout.answer
    const moved = { status: 'CONFIRMED', valueCents, endToEndId, occurredAt: instant(at) } as const
    this.#payouts.set(id, { ...payout, answer: { ...answer, ...moved, ...(feeCents > 0 && { feeCents }) } })
    const reference = answer.id
    this.#enter('PAYOUT_SENT', at, { endToEndId, reference, valueCents })
    if (feeCents > 0) this.#enter('TARIFF', at, { endToEndId, reference, valueCents: feeCents })
    this.emit(payoutConfirmedEvent(payout, fact))
    if (pays) this.#chargePaid(pays)
  }

  #payoutFailed(fact: PayoutFailed): void {
    const { payoutId: id, errorCode, errorMessage } = fact
    const payout = this.#payout(id)
    this.#payouts.set(id, { ...payout, answer: { ...payout.answer, status: 'FAILED', errorCode, errorMessage } })
    this.emit(payoutFailedEvent(payout, fact))
  }

  #payoutReturned(fact: PayoutReturned): void {
    const { payoutId: id, returnId, valueCents, at } = fact
    const payout = this.#payout(id)
    const { answer } = payout
    const returns = [...answer.returns, { returnId, valueCents, occurredAt: instant(at) }]
    const status = sumCents(returns) === answer.valueCents ? 'RETURNED' : 'CONFIRMED'
    this.#payouts.set(id, { ...payout, answer: { ...answer, status, returns } })
    const named = { endToEndId: answer.endToEndId ?? '', returnId, reference: answer.id }
    this.#enter('PAYOUT_RETURNED', at, { ...named, valueCents })
    this.emit(payoutReturnedEvent(payout, fact))
  }

  #refundAccepted({ refundId, againFor, transactionId, order, course }: RefundAccepted): void {
    const { endToEndId, valueCents } = order
    const receipt = this.#receipt(endToEndId)
    this.#receipts.set(endToEndId, { ...receipt, refundIds: [...receipt.refundIds, refundId] })
    const answer = { id: againFor ?? refundId, transactionId, status: 'PROCESSING', valueCents } as const
    this.#refunds.set(refundId, { answer, order, course })
  }

  #refundConfirmed(fact: RefundConfirmed): void {
    const { refundId: id, returnId, valueCents, at } = fact
    const refund = this.#refund(id)
    const { errorCode: _, errorMessage: __, ...answer } = refund.answer
    const moved = { status: 'CONFIRMED', valueCents, returnId, occurredAt: instant(at) } as const
    this.#refunds.set(id, { ...refund, answer: { ...answer, ...moved } })
    const { endToEndId } = refund.order
    const { transactionId } = answer
    this.#wentBack(endToEndId, { returnId, transactionId, valueCents, occurredAt: instant(at), origin: 'MERCHANT' })
    this.#enter('REFUND_SENT', at, { endToEndId, returnId, reference: answer.id, valueCents })
    this.emit(refundConfirmedEvent(refund, fact))
  }

  #refundFailed(fact: RefundFailed): void {
    const { refundId: id, errorCode, errorMessage } = fact
    const refund = this.#refund(id)
    this.#refunds.set(id, { ...refund, answer: { ...refund.answer, status: 'FAILED', errorCode, errorMessage } })
    this.emit(refundFailedEvent(refund, fact))
  }

  #accountDebited({ endToEndId, reference, valueCents, at }: AccountDebited): void {
    this.#enter('PAYOUT_SENT', at, { endToEndId, reference, valueCents })
  }

  /** Keeps with its payment what went back of it. */
  #wentBack(endToEndId: string, returned: PartnerPaymentReturn): void {
    const charge = this.#charge(this.#receipt(endToEndId).chargeId)
    const payments = charge.payments.map((payment) =>
      payment.endToEndId === endToEndId ? { ...payment, returns: [...payment.returns, returned] } : payment,
    )
    this.#charges.set(charge.id, { ...charge, payments })
  }

  #eventDelivered({ eventId, at }: EventDelivered): void {
    const event = this.#events.get(eventId)
    if (event) this.#events.set(eventId, { ...event, deliveredAt: at })
  }

  #enter(
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

/** All of them together. */
export function sumCents(amounts: readonly { readonly valueCents: number }[]): number {
  return amounts.reduce((sum, { valueCents }) => sum + valueCents, 0)
}

function existing<T>(record: T | undefined, what: string): T {
  if (record === undefined) throw new Error(`the book tells of ${what}`)
  return record
}
