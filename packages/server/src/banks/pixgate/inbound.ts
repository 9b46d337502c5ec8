import {
  type PartnerEvent,
  partnerEvent,
  partnerEvents,
  Refusal,
  receiveCashInEvent,
  receiveCashOutEvent,
  verdictOf,
} from '@pixgate/spec'
import { Type } from 'typebox'
import { sha256 } from '../../platform/crypto.ts'
import { compileJsonReader, faultWithoutText } from '../../platform/http/request.ts'
import type {
  BankEvent,
  EventSubject,
  Inbound,
  Naming,
  ReadableEvent,
  ReturnNews,
  UnreadableEvent,
} from '../inbound.ts'
import { storageFault, visibleParty, visibleText } from '../values.ts'
import { originOf, type PartnerCredentials } from './origin.ts'

/** Events of our own protocol. Pure, except for their origin. @source partner-protocol#events */

export type PartnerRoute = keyof typeof partnerEvents

const ACKNOWLEDGEMENT = { status: 200, body: { received: true } } as const

export function createPixgateInbound(credentials: PartnerCredentials): Inbound {
  return {
    routes: [
      { name: 'cash-in', endpoint: receiveCashInEvent, acknowledgement: ACKNOWLEDGEMENT },
      { name: 'cash-out', endpoint: receiveCashOutEvent, acknowledgement: ACKNOWLEDGEMENT },
    ],
    authenticate: (request) => originOf(credentials, request),
    parse: (route, body) => [
      isPartnerRoute(route) ? readBody(route, body) : unreadable(body, `no route of this bank: ${route}`),
    ],
  }
}

function isPartnerRoute(route: string): route is PartnerRoute {
  return Object.hasOwn(partnerEvents, route)
}

type Named = Pick<PartnerEvent, 'event' | 'externalId' | 'endToEndId' | 'returnId'> &
  Partial<Pick<PartnerEvent, 'transactionId'>>

/** The body is read as JSON, whatever its headers say. */
const JSON_HEADERS = { 'content-type': 'application/json' }

const readEvent = compileJsonReader(partnerEvent)

const { event: name, transactionId, externalId, endToEndId, returnId } = partnerEvent.properties

const readNamed = compileJsonReader(
  Type.Object({ event: name, transactionId: Type.Optional(transactionId), externalId, endToEndId, returnId }),
)

/** @source rules#partner-inbox.4, rules#partner-inbox.5, failure-modes#EV-11, failure-modes#EV-29 */
export function readBody(route: PartnerRoute, body: Buffer): BankEvent {
  try {
    const event = readEvent(body, JSON_HEADERS) as PartnerEvent
    const names: readonly string[] = partnerEvents[route]
    if (!names.includes(event.event)) return unreadable(body, `${event.event} does not belong to ${route}`)
    const fault = storageFault(body.toString())
    return fault === undefined ? readableEvent(event) : unreadable(body, fault)
  } catch (error) {
    if (error instanceof Refusal) return unreadable(body, faultText(error))
    throw error
  }
}

function unreadable(body: Buffer, fault: string): UnreadableEvent {
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

const SUBJECTS: Readonly<Record<PartnerEvent['event'], EventSubject>> = {
  CashIn: 'charge',
  CashInReversal: 'refund',
  CashOut: 'payout',
  CashOutReversal: 'payout',
}

/** Only the end-to-end id of a reversal can be known from before. */
function namingOf(event: Named): Naming {
  return {
    subject: SUBJECTS[event.event],
    references: {
      transactionId: event.transactionId ?? null,
      externalId: event.externalId ?? null,
      endToEndId: event.event.endsWith('Reversal') ? paymentNamed(event) : null,
    },
  }
}

const RETURN_ID = /^D[0-9A-Z]{8}\d{12}[0-9A-Za-z]{11}$/

/**
 * End-to-end id of the payment that a reversal belongs to. Some banks put the return's own id there, which identifies
 * no payment.
 * @source rules#partner-inbox.12
 */
function paymentNamed({ endToEndId, returnId }: Named): string | null {
  if (!endToEndId || endToEndId === returnId || RETURN_ID.test(endToEndId)) return null
  return endToEndId
}

type About = Pick<ReadableEvent, 'references' | 'key' | 'content' | 'evidence'>

/** Interprets the status word. An unknown word proves nothing. @source rules#partner-inbox.6, rules#partner-inbox.11 */
function readableEvent(event: PartnerEvent): ReadableEvent {
  const { subject, references } = namingOf(event)
  const about = { references, key: keyOf(event), content: contentOf(event), evidence: evidenceOf(event) }
  switch (verdictOf(event)) {
    case 'in progress':
      return { ...about, subject, kind: 'in_progress' }
    case 'unclear':
      return { ...about, subject, kind: 'changed', saysMoneyMoved: false }
    case 'failed':
      return { ...about, subject, kind: 'failed', failure: failureOf(event) }
    case 'confirmed':
      return movedMoney(event, about) ?? { ...about, subject, kind: 'changed', saysMoneyMoved: true }
  }
}

/** Money of a confirmation; `undefined` if its amount, time or id is missing. @source rules#partner-inbox.9 */
function movedMoney(event: PartnerEvent, about: About): ReadableEvent | undefined {
  const at = occurredAt(event)
  if (!event.valueCents || at === null) return undefined
  const moved = { valueCents: BigInt(event.valueCents), occurredAt: at }
  const { endToEndId, payer, feeCents, recipient } = event
  switch (event.event) {
    case 'CashInReversal':
      return { ...about, subject: 'refund', kind: 'payment_returned', ...returnOf(event, moved) }
    case 'CashOutReversal':
      return { ...about, subject: 'payout', kind: 'payout_returned', ...returnOf(event, moved) }
    case 'CashIn': {
      if (!endToEndId) return undefined
      const payment = { endToEndId, ...moved, payer: visibleParty(payer) }
      return { ...about, subject: 'charge', kind: 'payment_received', payment }
    }
    case 'CashOut': {
      if (!endToEndId) return undefined
      const fee = feeCents == null ? undefined : BigInt(feeCents)
      const movement = { endToEndId, ...moved, feeCents: fee, recipient: recipient && visibleParty(recipient) }
      return { ...about, subject: 'payout', kind: 'payout_settled', movement }
    }
  }
}

function returnOf(event: PartnerEvent, moved: Omit<ReturnNews['returned'], 'returnId'>): ReturnNews {
  const returnId = event.returnId || `unnamed ${sha256(contentOf(event)).toString('hex').slice(0, 32)}`
  return { returned: { returnId, ...moved }, endToEndId: paymentNamed(event), isUnnamed: !event.returnId }
}

function failureOf(event: PartnerEvent) {
  const { errorCode, errorMessage, status } = event
  return {
    errorCode: visibleText(errorCode ?? status.toLowerCase()),
    errorMessage: visibleText(errorMessage ?? undefined) ?? null,
    occurredAt: occurredAt(event),
  }
}

/** Epoch milliseconds. */
function occurredAt({ occurredAt: text }: PartnerEvent): number | null {
  return text ? Date.parse(text) : null
}

/**
 * Excludes amount and time: the same event with another amount is a contradiction. Includes the names of missing
 * fields, so that an event that only triggered a query does not shadow the complete one.
 * @source rules#partner-inbox.3
 */
function keyOf(event: PartnerEvent): string[] {
  const { event: name, transactionId, status, endToEndId, returnId, valueCents, occurredAt } = event
  const missing = [...(valueCents ? [] : ['valueCents']), ...(occurredAt ? [] : ['occurredAt'])]
  const isConfirmed = verdictOf(event) === 'confirmed'
  return [name, transactionId, status, endToEndId ?? '', returnId ?? '', ...(isConfirmed ? missing : [])]
}

/**
 * Retries may differ in `eventId` only. The time is included, so that an event with an impossible time does not pass as
 * the right one.
 * @source rules#partner-inbox.7, failure-modes#EV-31
 */
function contentOf(event: PartnerEvent): string {
  const { event: name, transactionId, externalId, status, endToEndId, valueCents, returnId } = event
  return JSON.stringify([name, transactionId, externalId, status, endToEndId, valueCents, returnId, occurredAt(event)])
}

function evidenceOf({ event, transactionId, externalId, status, ...rest }: PartnerEvent) {
  const { endToEndId, valueCents, returnId, occurredAt } = rest
  return { event, transactionId, externalId, status, endToEndId, valueCents, returnId, occurredAt }
}
