import { type PartnerEvent, partnerEvent, partnerEvents, Refusal, verdictOf } from '@pixgate/spec'
import { Type } from 'typebox'
import { sha256 } from '../../platform/crypto.ts'
import { faultWithoutText } from '../../platform/http/json-scan.ts'
import { compileJsonReader } from '../../platform/http/request-body.ts'
import type {
  BankEvent,
  EventFailure,
  EventSubject,
  Naming,
  PayoutMovement,
  ReadableEvent,
  ReturnNews,
  UnreadableEvent,
} from '../inbound.ts'
import { keepingFault } from '../keepable-json.ts'
import type { Payment } from '../port.ts'
import { visibleParty, visibleText } from '../visible-text.ts'

/**
 * What an event of our own protocol says. Pure.
 * @source partner-protocol#events
 */

/** Which of the two endpoints took it. */
export type PartnerRoute = keyof typeof partnerEvents

/** Whether a route is one of this protocol's. */
export function isPartnerRoute(route: string): route is PartnerRoute {
  return Object.hasOwn(partnerEvents, route)
}

/** What of an event names its operation. */
type Named = Pick<PartnerEvent, 'event' | 'externalId' | 'endToEndId' | 'returnId'> &
  Partial<Pick<PartnerEvent, 'transactionId'>>

/** The connector's callbacks are JSON, whatever their headers say. */
const JSON_HEADERS = { 'content-type': 'application/json' }

const readEvent = compileJsonReader(partnerEvent)

const { event: name, transactionId, externalId, endToEndId, returnId } = partnerEvent.properties

const readNamed = compileJsonReader(
  Type.Object({ event: name, transactionId: Type.Optional(transactionId), externalId, endToEndId, returnId }),
)

/**
 * Reads a body: one event. One that does not belong to the endpoint is none.
 * @source rules#partner-inbox.4, rules#partner-inbox.5, failure-modes#EV-11, failure-modes#EV-29
 */
export function readBody(route: PartnerRoute, body: Buffer): BankEvent {
  try {
    const event = readEvent(body, JSON_HEADERS) as PartnerEvent
    const names: readonly string[] = partnerEvents[route]
    if (!names.includes(event.event)) return unreadable(body, `${event.event} does not belong to ${route}`)
    const fault = keepingFault(body.toString())
    return fault === undefined ? readableEvent(event) : unreadable(body, fault)
  } catch (error) {
    if (error instanceof Refusal) return unreadable(body, faultText(error))
    throw error
  }
}

function readableEvent(event: PartnerEvent): ReadableEvent {
  const { references } = namingOf(event)
  const about = { references, key: keyOf(event), content: contentOf(event), evidence: evidenceOf(event) }
  const news = plainNewsOf(event) ?? movedMoney(event) ?? ({ kind: 'changed', saysMoneyMoved: true } as const)
  switch (news.kind) {
    case 'payment_received':
      return { ...about, subject: 'charge', ...news }
    case 'payout_settled':
    case 'payout_returned':
      return { ...about, subject: 'payout', ...news }
    case 'payment_returned':
      return { ...about, subject: 'refund', ...news }
    default:
      return { ...about, subject: SUBJECTS[event.event], ...news }
  }
}

/** A body that is no event. */
export function unreadable(body: Buffer, fault: string): UnreadableEvent {
  const key = ['unreadable', sha256(body).toString('hex')]
  return { kind: 'unreadable', fault, named: namedIn(body), key, content: body }
}

function namedIn(body: Buffer): Naming | undefined {
  try {
    return namingOf(readNamed(body, JSON_HEADERS) as Named)
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

function faultText({ message, fields }: Refusal): string {
  return [faultWithoutText(message), ...fields.map(({ field, code }) => `${field}: ${code}`)].join('; ').slice(0, 500)
}

/** Only a reversal's end-to-end id is one that we can know from before. */
function namingOf(event: Named): Naming {
  return {
    subject: SUBJECTS[event.event],
    references: {
      transactionId: event.transactionId ?? null,
      externalId: event.externalId ?? null,
      endToEndId: isReversal(event) ? paymentNamed(event) : null,
    },
  }
}

const SUBJECTS: Readonly<Record<PartnerEvent['event'], EventSubject>> = {
  CashIn: 'charge',
  CashInReversal: 'refund',
  CashOut: 'payout',
  CashOutReversal: 'payout',
}

function isReversal({ event }: Pick<PartnerEvent, 'event'>): boolean {
  return event.endsWith('Reversal')
}

const RETURN_ID = /^D[0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/

/**
 * The end-to-end id of the payment that a reversal is of. Some banks put the return's own id there: that names none.
 * @source rules#partner-inbox.12
 */
function paymentNamed({ endToEndId, returnId }: Named): string | null {
  if (!endToEndId || endToEndId === returnId || RETURN_ID.test(endToEndId)) return null
  return endToEndId
}

/**
 * The amount and the time are not in it: the same event with another amount is a contradiction. What it lacks is: an event
 * that only raised a question never stands in the way of the whole one.
 * @source rules#partner-inbox.3
 */
function keyOf(event: PartnerEvent): string[] {
  const { event: name, transactionId, status, endToEndId, returnId, valueCents, occurredAt } = event
  const lacks = [...(valueCents ? [] : ['valueCents']), ...(occurredAt ? [] : ['occurredAt'])]
  const isNews = verdictOf(event) === 'confirmed'
  return [name, transactionId, status, endToEndId ?? '', returnId ?? '', ...(isNews ? lacks : [])]
}

/**
 * A retry may carry another `eventId`, never another of these. The time is one of them, so that one with a time that cannot
 * be never passes for the same one news rightly.
 * @source rules#partner-inbox.7, failure-modes#EV-31
 */
function contentOf(event: PartnerEvent): string {
  const { event: name, transactionId, externalId, status, endToEndId, valueCents, returnId } = event
  return JSON.stringify([name, transactionId, externalId, status, endToEndId, valueCents, returnId, occurredAt(event)])
}

function evidenceOf({ event, transactionId, externalId, status, ...news }: PartnerEvent) {
  const { endToEndId, valueCents, returnId, occurredAt } = news
  return { event, transactionId, externalId, status, endToEndId, valueCents, returnId, occurredAt }
}

/** Epoch milliseconds. */
function occurredAt({ occurredAt: text }: PartnerEvent): number | null {
  return text ? Date.parse(text) : null
}

/**
 * What happened, by the status word; `undefined` where it says that money moved. A word that nobody knows proves nothing.
 * @source rules#partner-inbox.6, rules#partner-inbox.11
 */
function plainNewsOf(event: PartnerEvent) {
  switch (verdictOf(event)) {
    case 'in progress':
      return { kind: 'in_progress' } as const
    case 'unclear':
      return { kind: 'changed', saysMoneyMoved: false } as const
    case 'failed':
      return { kind: 'failed', failure: failureOf(event) } as const
    case 'confirmed':
      return undefined
  }
}

function failureOf(event: PartnerEvent): EventFailure {
  const { errorCode, errorMessage, status } = event
  return {
    errorCode: visibleText(errorCode ?? status.toLowerCase()),
    errorMessage: visibleText(errorMessage ?? undefined) ?? null,
    occurredAt: occurredAt(event),
  }
}

/** The money that a confirmation tells of; `undefined` where it lacks something. @source rules#partner-inbox.9 */
function movedMoney(event: PartnerEvent) {
  const at = occurredAt(event)
  if (!event.valueCents || at === null) return undefined
  const moved = { valueCents: BigInt(event.valueCents), occurredAt: at }
  if (event.event === 'CashInReversal') return { kind: 'payment_returned', ...returnOf(event, moved) } as const
  if (event.event === 'CashOutReversal') return { kind: 'payout_returned', ...returnOf(event, moved) } as const
  if (!event.endToEndId) return undefined
  const movement = { endToEndId: event.endToEndId, ...moved }
  return event.event === 'CashIn'
    ? ({ kind: 'payment_received', payment: paymentOf(event, movement) } as const)
    : ({ kind: 'payout_settled', movement: payoutMovementOf(event, movement) } as const)
}

type Moved = Pick<PayoutMovement, 'endToEndId' | 'valueCents' | 'occurredAt'>

function paymentOf({ payer }: PartnerEvent, moved: Moved): Payment {
  return { ...moved, payer: visibleParty(payer) }
}

function payoutMovementOf({ feeCents, recipient }: PartnerEvent, moved: Moved): PayoutMovement {
  return {
    ...moved,
    feeCents: feeCents == null ? undefined : BigInt(feeCents),
    recipient: recipient && visibleParty(recipient),
  }
}

function returnOf(event: PartnerEvent, moved: Omit<Moved, 'endToEndId'>): ReturnNews {
  const returnId = event.returnId || `unnamed ${sha256(contentOf(event)).toString('hex').slice(0, 32)}`
  return { returned: { returnId, ...moved }, endToEndId: paymentNamed(event), isUnnamed: !event.returnId }
}
