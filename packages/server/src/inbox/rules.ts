import { limits, type PartnerEvent, partnerEvent, partnerEvents, Refusal, verdictOf } from '@pixgate/spec'
import { Type } from 'typebox'
import type { CashInInput } from '../cash-in/index.ts'
import type { CashOutInput } from '../cash-out/index.ts'
import type { PartnerReferences, ToldMovement } from '../engine/operation-store.ts'
import { sha256 } from '../platform/crypto.ts'
import { compileJsonReader } from '../platform/http/request-body.ts'
import type { BankReturn, RefundInInput } from '../refund-in/index.ts'

/**
 * What an event of the partner says, and what is to be done with it. Pure.
 */

/** Which of the two endpoints took it. */
export type InboxEndpoint = keyof typeof partnerEvents

/** Bytes of the partner, read as far as they can be. */
export type Reading =
  | { readonly event: PartnerEvent; readonly dedupeKey: string }
  | {
      readonly fault: string
      /** What it names all the same, so that the bank can be asked. */
      readonly about: Naming | undefined
      readonly dedupeKey: string
    }

/** What of an event names an operation. */
export type Naming = Pick<PartnerEvent, 'event' | 'externalId' | 'endToEndId' | 'returnId'> &
  Partial<Pick<PartnerEvent, 'transactionId'>>

const readEvent = compileJsonReader(partnerEvent)

const { event: name, transactionId, externalId, endToEndId, returnId } = partnerEvent.properties

const readNaming = compileJsonReader(
  Type.Object({ event: name, transactionId: Type.Optional(transactionId), externalId, endToEndId, returnId }),
)

/**
 * Reads an authentic body. One that is no event of this endpoint has a `fault` and is kept as evidence only.
 * @source rules#partner-inbox.4, failure-modes#EV-11, failure-modes#EV-29
 */
export function readBody(endpoint: InboxEndpoint, body: Buffer): Reading {
  try {
    const event = readEvent(body, 'application/json') as PartnerEvent
    const names: readonly string[] = partnerEvents[endpoint]
    if (names.includes(event.event)) return { event, dedupeKey: dedupeKey(endpoint, event) }
    return unreadable(endpoint, body, `${event.event} does not belong to ${endpoint}`)
  } catch (error) {
    if (error instanceof Refusal) return unreadable(endpoint, body, faultText(error))
    throw error
  }
}

function unreadable(endpoint: InboxEndpoint, body: Buffer, fault: string): Reading {
  const key = JSON.stringify([endpoint, 'unreadable', sha256(body).toString('hex')])
  return { fault, about: namedIn(body), dedupeKey: key }
}

function namedIn(body: Buffer): Naming | undefined {
  try {
    return readNaming(body, 'application/json') as Naming
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

function faultText({ message, fields }: Refusal): string {
  return [message, ...fields.map(({ field, code }) => `${field}: ${code}`)].join('; ').slice(0, 500)
}

/**
 * What makes two events the same one. The amount and the time are not in it: the same event with another amount is a
 * contradiction. What it lacks is: an event that only raised a question never stands in the way of the whole one.
 * @source rules#partner-inbox.3
 */
function dedupeKey(endpoint: InboxEndpoint, event: PartnerEvent): string {
  const { event: name, transactionId, status, endToEndId, returnId } = event
  const lacks = isNews(event) ? lacking(event).filter((field) => field === 'valueCents' || field === 'occurredAt') : []
  return JSON.stringify([endpoint, name, transactionId, status, endToEndId ?? '', returnId ?? '', ...lacks])
}

/**
 * What an event asserts: a retry may carry another `eventId`, never another of these. The time is one of them, so that one
 * with a time that cannot be never passes for the same one told rightly.
 * @source rules#partner-inbox.7, failure-modes#EV-31
 */
export function contentOf(event: PartnerEvent): string {
  const { event: name, transactionId, externalId, status, endToEndId, valueCents, returnId } = event
  const content = [name, transactionId, externalId, status, endToEndId, valueCents, returnId, occurredAt(event)]
  return JSON.stringify(content)
}

/** What an event calls its operation. Only a reversal's end-to-end id is one that we can know from before. */
export function referencesOf(event: Naming): PartnerReferences {
  return {
    transactionId: event.transactionId ?? null,
    externalId: event.externalId ?? null,
    endToEndId: event.event.endsWith('Reversal') ? paymentNamed(event) : null,
  }
}

const RETURN_ID = /^D\d{20}[0-9A-Za-z]{11}$/

/**
 * The end-to-end id of the payment that a reversal is of. Some banks put the return's own id there: that names none.
 * @source rules#partner-inbox.12
 */
function paymentNamed({ endToEndId, returnId }: Naming): string | null {
  if (!endToEndId || endToEndId === returnId || RETURN_ID.test(endToEndId)) return null
  return endToEndId
}

/** Whether an event says that money moved. */
export function isNews(event: PartnerEvent): boolean {
  return verdictOf(event) === 'confirmed'
}

/** Whether an event only says that nothing has happened yet. */
export function isInProgress(event: PartnerEvent): boolean {
  return verdictOf(event) === 'in progress'
}

/** What a confirmation needs, and this one has not. @source rules#partner-inbox.9 */
function lacking(event: PartnerEvent): Lackable[] {
  const needed = event.event.endsWith('Reversal') ? NEEDED_OF_RETURN : NEEDED
  return needed.filter((field) => !event[field])
}

type Lackable = 'valueCents' | 'occurredAt' | 'endToEndId' | 'returnId'

const NEEDED = ['valueCents', 'occurredAt', 'endToEndId'] as const
const NEEDED_OF_RETURN = ['valueCents', 'occurredAt', 'returnId'] as const

/** Epoch milliseconds. */
function occurredAt({ occurredAt: text }: PartnerEvent): number | null {
  return text ? Date.parse(text) : null
}

/** The money that a whole confirmation tells of; `undefined` where it lacks something. */
export function movementOf(event: PartnerEvent): (ToldMovement & { readonly occurredAt: number }) | undefined {
  const at = occurredAt(event)
  const { endToEndId, returnId, valueCents } = event
  const id = event.event.endsWith('Reversal') ? returnId : endToEndId
  if (!isNews(event) || !id || !valueCents || at === null) return undefined
  return {
    endToEndId: endToEndId ?? '',
    returnId: event.event.endsWith('Reversal') ? id : null,
    valueCents: BigInt(valueCents),
    occurredAt: at,
  }
}

/** What a failure says, whatever failed. */
function failureOf(event: PartnerEvent) {
  return {
    on: 'partner.failed',
    errorCode: event.errorCode ?? event.status.toLowerCase(),
    errorMessage: event.errorMessage ?? null,
    transactionId: event.transactionId,
    occurredAt: occurredAt(event),
  } as const
}

/**
 * The input that a `CashIn` event is to its cash-in; `undefined` where it says that nothing has happened yet. A word
 * that nobody knows, or a confirmation that lacks something, proves nothing: the partner is asked. A failure is only taken
 * as verified where the bank cannot be asked.
 * @source rules#partner-inbox.6, rules#partner-inbox.9, failure-modes#P6
 */
export function cashInInput(event: PartnerEvent, isVerified = false): CashInInput | undefined {
  const verdict = verdictOf(event)
  if (verdict === 'in progress') return undefined
  if (verdict === 'failed') return { ...failureOf(event), isVerified }
  const movement = movementOf(event)
  if (!movement) return { on: 'work.requested' }
  const { endToEndId, valueCents, occurredAt } = movement
  const payer = { name: event.payer?.name, document: event.payer?.document, ispb: event.payer?.ispb }
  return {
    on: 'partner.confirmed',
    transactionId: event.transactionId,
    payment: { endToEndId, valueCents, occurredAt, payer },
  }
}

/**
 * The input that a `CashOut` event is to its cash-out; `undefined` where it says that nothing has happened yet. A
 * failure is only taken as verified where the bank cannot be asked.
 * @source rules#partner-inbox.6, rules#partner-inbox.9, failure-modes#P6
 */
export function cashOutInput(event: PartnerEvent, isVerified: boolean): CashOutInput | undefined {
  const verdict = verdictOf(event)
  if (verdict === 'in progress') return undefined
  if (verdict === 'failed') return { ...failureOf(event), isVerified }
  const movement = movementOf(event)
  if (!movement) return { on: 'work.requested' }
  const { endToEndId, valueCents, occurredAt } = movement
  return {
    on: 'partner.confirmed',
    transactionId: event.transactionId,
    movement: {
      endToEndId,
      valueCents,
      occurredAt,
      feeCents: event.feeCents == null ? undefined : BigInt(event.feeCents),
      recipient: event.recipient && {
        name: event.recipient.name,
        document: event.recipient.document,
        ispb: event.recipient.ispb,
      },
    },
    isVerified,
  }
}

/**
 * The input that a `CashOutReversal` event is to its cash-out; `undefined` where nothing came back.
 * @param canAsk whether the bank can be asked what a return that lacks something was
 * @source rules#partner-inbox.9
 */
export function cashOutReversalInput(event: PartnerEvent, canAsk: boolean): CashOutInput | 'UNTOLD' | undefined {
  const verdict = verdictOf(event)
  if (verdict === 'unclear') return { on: 'work.requested' }
  if (verdict !== 'confirmed') return undefined
  if (canAsk && lacking(event).length > 0) return { on: 'work.requested' }
  const returned = returnOf(event)
  return returned ? { on: 'partner.returned', ...returned, isVerified: false } : 'UNTOLD'
}

/**
 * The input that a `CashInReversal` event is to our refund; `undefined` where it says that nothing has happened yet.
 * @param canAsk whether the bank can be asked: else what an event says is all there will be
 * @source rules#partner-inbox.9
 */
export function refundInInput(event: PartnerEvent, canAsk: boolean): RefundInInput | 'UNTOLD' | undefined {
  const verdict = verdictOf(event)
  if (verdict === 'in progress') return undefined
  if (verdict === 'unclear') return { on: 'work.requested' }
  if (verdict === 'failed') return { ...failureOf(event), isVerified: !canAsk }
  if (canAsk && lacking(event).length > 0) return { on: 'work.requested' }
  const returned = returnOf(event)
  const { transactionId } = event
  return returned ? { on: 'partner.confirmed', transactionId, ...returned, isVerified: !canAsk } : 'UNTOLD'
}

/**
 * The input that a `CashInReversal` event is to the cash-in of which the bank gave something back by itself; `undefined`
 * where it does not tell enough to be booked anywhere.
 */
export function bankReturnOf(event: PartnerEvent): BankReturn | undefined {
  const told = returnOf(event)
  return told && { ...told.returned, ...told, transactionId: event.transactionId }
}

/**
 * What came back, or was given back, as a reversal tells it; `undefined` where amount or time is lacking. Where only its id
 * is, it gets one made of what was told, so that the same event means the same return.
 */
function returnOf(event: PartnerEvent) {
  const at = occurredAt(event)
  if (!event.valueCents || at === null) return undefined
  const returnId = event.returnId || `unnamed ${sha256(contentOf(event)).toString('hex').slice(0, 32)}`
  return {
    returned: { returnId, valueCents: BigInt(event.valueCents), occurredAt: at },
    endToEndId: paymentNamed(event),
    isUnnamed: !event.returnId,
  }
}

/** What an event says, for the person who decides: without names and documents. */
export function evidenceOf({ event, transactionId, externalId, status, ...told }: PartnerEvent) {
  const { endToEndId, valueCents, returnId, occurredAt } = told
  return { event, transactionId, externalId, status, endToEndId, valueCents, returnId, occurredAt }
}

/** Waits before an event that matched nothing is matched again. @source rules#partner-inbox.8 */
export const PARKING_DELAYS_MS = [1_000, 5_000, 30_000, 60_000, 300_000, 900_000] as const

/**
 * An event that could not be applied this often is not tried again: it waits for an operator. Waits do not count.
 * @source rules#partner-inbox.14, failure-modes#EV-12, failure-modes#EV-38
 */
export const POISON_FAILURES = 10

const NUMBER = /^\d{1,16}$/

/** A number above this is milliseconds: as seconds it would lie past the year 5000. */
const SECONDS_MAX = 100_000_000_000

/**
 * Reads `X-Partner-Timestamp`: Unix seconds, milliseconds, or ISO 8601.
 * @returns epoch milliseconds, or `undefined`
 * @source rules#partner-inbox.2
 */
export function partnerTimestamp(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (NUMBER.test(text)) {
    const number = Number(text)
    return number > SECONDS_MAX ? number : number * 1_000
  }
  const at = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

/** Whether a signed time is close enough to ours to be no replay. @source rules#partner-inbox.2 */
export function isTimely(timestamp: number, now: number): boolean {
  return Math.abs(now - timestamp) <= limits.partnerTimestampWindowMs
}
