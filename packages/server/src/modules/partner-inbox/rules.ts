import { limits, type PartnerEvent, partnerEvent, partnerEvents, Refusal, verdictOf } from '@pixgate/spec'
import { sha256 } from '../../platform/crypto.ts'
import { compileJsonReader } from '../../platform/http/request-body.ts'
import type { CashInInput } from '../cash-in/index.ts'
import type { CashOutInput } from '../cash-out/index.ts'
import type { RefundInInput } from '../refund-in/index.ts'

/**
 * What an event of the partner says, and what is to be done with it. Pure.
 */

/** Which of the two endpoints took it. */
export type InboxEndpoint = keyof typeof partnerEvents

/** Bytes of the partner, read as far as they can be. */
export type Reading =
  | { readonly event: PartnerEvent; readonly dedupeKey: string }
  | { readonly fault: string; readonly dedupeKey: string }

const readEvent = compileJsonReader(partnerEvent)

/**
 * Reads an authentic body. One that is no event of this endpoint has a `fault` and is kept as evidence only.
 * @source rules#partner-inbox.4, failure-modes#EV-11, failure-modes#EV-29
 */
export function readBody(endpoint: InboxEndpoint, body: Buffer): Reading {
  try {
    const event = readEvent(body, 'application/json') as PartnerEvent
    const names: readonly string[] = partnerEvents[endpoint]
    if (!names.includes(event.event)) return unreadable(endpoint, body, `${event.event} does not belong to ${endpoint}`)
    if (lacksReturnId(event)) return unreadable(endpoint, body, 'a confirmed reversal needs a returnId')
    return { event, dedupeKey: dedupeKey(endpoint, event) }
  } catch (error) {
    if (error instanceof Refusal) return unreadable(endpoint, body, faultText(error))
    throw error
  }
}

function unreadable(endpoint: InboxEndpoint, body: Buffer, fault: string): Reading {
  return { fault, dedupeKey: `${endpoint}|unreadable|${sha256(body).toString('hex')}` }
}

/** @source rules#partner-inbox.9 */
function lacksReturnId({ event, status, returnId }: PartnerEvent): boolean {
  return event.endsWith('Reversal') && verdictOf(status) === 'confirmed' && !returnId
}

function faultText({ message, fields }: Refusal): string {
  return [message, ...fields.map(({ field, code }) => `${field}: ${code}`)].join('; ').slice(0, 500)
}

/**
 * What makes two events the same one. The amount is not in it: the same event with another amount is a contradiction.
 * @source rules#partner-inbox.3
 */
function dedupeKey(endpoint: InboxEndpoint, event: PartnerEvent): string {
  const { event: name, transactionId, status, endToEndId, returnId } = event
  return JSON.stringify([endpoint, name, transactionId, status, endToEndId ?? '', returnId ?? ''])
}

/**
 * The input that a `CashIn` event is to its cash-in; `undefined` where it says that nothing has happened yet. A word
 * that nobody knows proves nothing: the partner is asked.
 * @source rules#partner-inbox.6
 */
export function cashInInput(event: PartnerEvent): CashInInput | undefined {
  const verdict = verdictOf(event.status)
  if (verdict === 'in progress') return undefined
  if (verdict === 'failed') {
    return {
      on: 'partner.failed',
      errorCode: event.errorCode ?? event.status.toLowerCase(),
      errorMessage: event.errorMessage ?? null,
      transactionId: event.transactionId,
      occurredAt: Date.parse(event.occurredAt),
    }
  }
  if (verdict === 'unclear' || !event.endToEndId) return { on: 'work.requested' }
  return {
    on: 'partner.confirmed',
    transactionId: event.transactionId,
    payment: {
      endToEndId: event.endToEndId,
      valueCents: BigInt(event.valueCents),
      occurredAt: Date.parse(event.occurredAt),
      payer: { name: event.payer?.name, document: event.payer?.document, ispb: event.payer?.ispb },
    },
  }
}

/**
 * The input that a `CashOut` event is to its cash-out; `undefined` where it says that nothing has happened yet. A
 * failure is only taken as verified where the bank cannot be asked.
 * @source rules#partner-inbox.6, failure-modes#P6
 */
export function cashOutInput(event: PartnerEvent, isVerified: boolean): CashOutInput | undefined {
  const verdict = verdictOf(event.status)
  if (verdict === 'in progress') return undefined
  const { transactionId } = event
  const occurredAt = Date.parse(event.occurredAt)
  if (verdict === 'failed') {
    return {
      on: 'partner.failed',
      errorCode: event.errorCode ?? event.status.toLowerCase(),
      errorMessage: event.errorMessage ?? null,
      transactionId,
      occurredAt,
      isVerified,
    }
  }
  if (verdict === 'unclear' || !event.endToEndId) return { on: 'work.requested' }
  return {
    on: 'partner.confirmed',
    transactionId,
    movement: {
      endToEndId: event.endToEndId,
      valueCents: BigInt(event.valueCents),
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
 * @source rules#partner-inbox.9
 */
export function cashOutReversalInput(event: PartnerEvent): CashOutInput | undefined {
  const verdict = verdictOf(event.status)
  if (verdict === 'unclear') return { on: 'work.requested' }
  if (verdict !== 'confirmed') return undefined
  return { on: 'partner.returned', returned: returnOf(event), isVerified: false }
}

/**
 * The input that a `CashInReversal` event is to our refund; `undefined` where it says that nothing has happened yet.
 * @source rules#partner-inbox.9
 */
export function refundInInput(event: PartnerEvent, isVerified: boolean): RefundInInput | undefined {
  const verdict = verdictOf(event.status)
  if (verdict === 'in progress') return undefined
  if (verdict === 'unclear') return { on: 'work.requested' }
  const { transactionId } = event
  if (verdict === 'confirmed') {
    return { on: 'partner.confirmed', transactionId, returned: returnOf(event), isVerified }
  }
  return {
    on: 'partner.failed',
    errorCode: event.errorCode ?? event.status.toLowerCase(),
    errorMessage: event.errorMessage ?? null,
    transactionId,
    occurredAt: Date.parse(event.occurredAt),
    isVerified,
  }
}

/** Whether an event says that money moved. */
export function isNews({ status }: PartnerEvent): boolean {
  return verdictOf(status) === 'confirmed'
}

/** What came back, or was given back, as a reversal tells it. */
export function returnOf({ returnId, valueCents, occurredAt }: PartnerEvent) {
  return { returnId: returnId ?? '', valueCents: BigInt(valueCents), occurredAt: Date.parse(occurredAt) }
}

/** What an event says, for the person who decides: without names and documents. */
export function evidenceOf({ event, transactionId, externalId, status, ...told }: PartnerEvent) {
  const { endToEndId, valueCents, returnId, occurredAt } = told
  return { event, transactionId, externalId, status, endToEndId, valueCents, returnId, occurredAt }
}

/** Waits before an event that matched nothing is matched again. @source rules#partner-inbox.8 */
export const PARKING_DELAYS_MS = [1_000, 5_000, 30_000, 60_000, 300_000, 900_000] as const

/** A handler that fails this often is not tried again: the event waits for an operator. @source failure-modes#EV-12 */
export const POISON_ATTEMPTS = 10

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
