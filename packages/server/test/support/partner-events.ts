import { createHmac } from 'node:crypto'
import { pino } from 'pino'
import { createPixgateInbound } from '../../src/banks/pixgate/inbound.ts'
import { createInboxReports } from '../../src/inbox/jobs.ts'
import type { Clock } from '../../src/platform/clock.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { underOrderIds } from './order-ids.ts'
import { wallNow } from './wall-clock.ts'
import { PARTNER_SECRET } from './world.ts'

/** Reads what the bank of the tests sends. */
export const inbound = createPixgateInbound({ secrets: [PARTNER_SECRET], apiKey: undefined, isFromBank: () => true })

/** How an event is sent; as the bank does it where nothing else is given. */
export interface EventSending {
  readonly endpoint?: 'cash-in' | 'cash-out'
  readonly secret?: string
  /** The header as it is sent; `null`: none. */
  readonly signature?: string | null
  readonly timestamp?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** Posts an event to the service as the bank does, which knows an id of ours by its order id. @returns the status of the answer */
export async function postEvent(
  { url, clock, database }: { readonly url: string; readonly clock: Clock; readonly database?: Database },
  event: object | string,
  { endpoint = 'cash-in', secret = PARTNER_SECRET, ...given }: EventSending = {},
): Promise<number> {
  const told = typeof event === 'string' ? event : JSON.stringify(event)
  const body = database ? await underOrderIds(database, told) : told
  const signature = given.signature === undefined ? signatureOf(body, secret) : given.signature
  const timestamp = given.timestamp === undefined ? String(clock.now()) : given.timestamp
  const response = await fetch(`${url}/api/webhooks/pix/${endpoint}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(signature === null ? {} : { 'x-partner-signature': signature }),
      ...(timestamp === null ? {} : { 'x-partner-timestamp': timestamp }),
      ...given.headers,
    },
    body,
  })
  await response.arrayBuffer()
  return response.status
}

/** `X-Partner-Signature` of a body. */
export function signatureOf(body: string | Uint8Array, secret = PARTNER_SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** What an event is about. */
export interface EventSubject {
  /** Our id. */
  readonly id: string
  readonly valueCents: number
  readonly providerTransactionId: string | null
  /** When it was made, where the clock of the story may be ahead of the wall clock. */
  readonly generateTime?: string
}

/** A confirmed payment of a charge, just now; what a test cares about is given. */
export function paidEvent(
  { id, valueCents, providerTransactionId, generateTime = '' }: EventSubject,
  given: object = {},
) {
  return {
    event: 'CashIn',
    eventId: 'event-1',
    transactionId: providerTransactionId ?? 'tx',
    externalId: id,
    status: 'CONFIRMED',
    // Of this charge alone: one movement of money is one operation's.
    endToEndId: `E99999010202611211315${id.slice(-11).padStart(11, '0')}`,
    valueCents,
    payer: { name: 'Maria da Silva', document: '52998224725', ispb: '99999010' },
    occurredAt: new Date(Math.max(wallNow(), Date.parse(generateTime) || 0)).toISOString(),
    ...given,
  }
}

/** A failure of a charge, just now. */
export function failedEvent(subject: EventSubject, given: object = {}) {
  const { payer, endToEndId, ...event } = paidEvent(subject)
  return { ...event, status: 'FAILED', errorCode: 'removed_by_bank', errorMessage: 'the bank removed it', ...given }
}

/** Reports of an inbox that nobody reads. */
export const UNREAD = createInboxReports(pino({ level: 'silent' }))
