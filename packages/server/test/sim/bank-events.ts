import type { BankEvent, Inbound, ReadableEvent } from '../../src/banks/inbound.ts'
import type { BankBook, BankCharge, BankOrder, PaidIn } from './bank-book.ts'

/** What the bank tells by itself, and its bytes. */

/** An event as the bank sends it. */
export type SentEvent = Omit<ReadableEvent, 'key' | 'content' | 'evidence'> & { readonly what: string }

const ROUTE = 'sim'

/** What was written and read before: an event that is brought again has the same bytes, and says the same. */
const written = new WeakMap<object, Buffer>()
const understood = new WeakMap<Buffer, BankEvent>()

/** A callback's bytes. */
export function bodyOf(event: object): Buffer {
  const known = written.get(event)
  if (known) return known
  const body = Buffer.from(
    JSON.stringify(event, (_, value) => (typeof value === 'bigint' ? { cents: String(value) } : value)),
  )
  written.set(event, body)
  return body
}

/** The bank's half that calls us: only what is read of its calls is asked for. */
export const inbound: Inbound = {
  routes: [],
  authenticate: () => 'proven',
  parse: (_route, body) => {
    const event = understood.get(body) ?? read(body)
    understood.set(body, event)
    return [event]
  },
}

function read(body: Buffer): BankEvent {
  const text = body.toString()
  const read = JSON.parse(text, (_, value) =>
    typeof value === 'object' && value !== null && 'cents' in value ? BigInt(value.cents) : value,
  )
  const { what, ...event } = read
  const transactionId = event.references?.transactionId ?? event.named?.references.transactionId ?? ''
  return { ...event, key: [event.kind, transactionId, what], content: text, evidence: { what } }
}

/** Where callbacks come in. */
export const route = ROUTE

/** A payment came in. */
export function paymentEvent(charge: BankCharge, payment: PaidIn): SentEvent {
  const { returns: _, ...paid } = payment
  return {
    kind: 'payment_received',
    subject: 'charge',
    what: payment.endToEndId,
    references: { transactionId: charge.transactionId, externalId: charge.id, endToEndId: null },
    payment: { ...paid, payer: { name: 'Ana', document: undefined, ispb: undefined } },
  } as SentEvent
}

/** An order was carried out. */
export function settledEvent(order: BankOrder, execution: BankOrder['executions'][number]): SentEvent {
  const references = { transactionId: order.transactionId, externalId: order.id, endToEndId: null }
  const { valueCents } = order
  if (order.kind === 'payout') {
    const movement = {
      endToEndId: execution.id,
      valueCents,
      occurredAt: execution.at,
      feeCents: undefined,
      recipient: null,
    }
    return { kind: 'payout_settled', subject: 'payout', what: execution.id, references, movement } as SentEvent
  }
  return {
    kind: 'payment_returned',
    subject: 'refund',
    what: execution.id,
    references,
    returned: { returnId: execution.id, valueCents, occurredAt: execution.at },
    endToEndId: order.paymentId,
    isUnnamed: false,
  } as SentEvent
}

/** An order, or a charge, came to nothing. */
export function failedEvent(
  subject: 'charge' | 'payout' | 'refund',
  { id, transactionId }: Pick<BankOrder, 'id' | 'transactionId'>,
  occurredAt: number,
): SentEvent {
  return {
    kind: 'failed',
    subject,
    what: 'failed',
    references: { transactionId, externalId: id, endToEndId: null },
    failure: { errorCode: 'declined', errorMessage: null, occurredAt },
  } as SentEvent
}

/** A payout came back. */
export function payoutReturnedEvent(
  order: BankOrder,
  returned: BankOrder['returns'][number],
  isUnnamed: boolean,
): SentEvent {
  return {
    kind: 'payout_returned',
    subject: 'payout',
    what: returned.returnId,
    references: { transactionId: order.transactionId, externalId: order.id, endToEndId: null },
    returned,
    endToEndId: order.executions[0]?.id ?? null,
    isUnnamed,
  } as SentEvent
}

/** The bank took a payment back by itself. */
export function forcedReturnEvent(
  charge: BankCharge,
  endToEndId: string | null,
  returned: PaidIn['returns'][number],
  isUnnamed: boolean,
): SentEvent {
  const { returnId, valueCents, occurredAt, transactionId } = returned
  return {
    kind: 'payment_returned',
    subject: 'refund',
    what: returnId,
    references: { transactionId, externalId: charge.id, endToEndId },
    returned: { returnId, valueCents, occurredAt },
    endToEndId,
    isUnnamed,
  } as SentEvent
}

/** Something happened, and what is not told. */
export function changedEvent(
  subject: 'charge' | 'payout' | 'refund',
  { id, transactionId }: Pick<BankOrder, 'id' | 'transactionId'>,
  saysMoneyMoved: boolean,
): SentEvent {
  const references = { transactionId, externalId: id, endToEndId: null }
  return { kind: 'changed', subject, what: 'changed', references, saysMoneyMoved } as SentEvent
}

/** Names something in the book that an event may be about. */
export function anySubject(
  book: BankBook,
  place: number,
): { subject: 'charge' | 'payout' | 'refund'; of: BankCharge | BankOrder } | undefined {
  const all = [...book.charges.values(), ...book.orders.values()]
  const of = all[place % Math.max(1, all.length)]
  if (!of) return undefined
  return { subject: 'kind' in of ? of.kind : 'charge', of }
}
