import type { Endpoint } from '@pixgate/spec'
import type { Party, Payment, PayoutReturn } from './port.ts'

/** Callbacks of a bank: their endpoints, the proof of their origin, and their events in words of no particular bank. */
export interface Inbound {
  readonly routes: readonly InboundRoute[]
  /** Judges the origin by the raw bytes, before anything is parsed or stored. */
  authenticate(request: InboundRequest): Judgement
  /**
   * Reads the events of a callback. Pure and always the same, as stored callbacks are read again. Never throws: unreadable
   * parts are {@link UnreadableEvent}s. Test calls of the bank have no event, and are not stored.
   * @param route the name of the route that received it
   */
  parse(route: string, body: Buffer): readonly BankEvent[]
  /** Names the unreadable part that `parse` leaves out, without its values; `undefined`: none. */
  unread?(body: Buffer): string | undefined
}

export interface InboundRoute {
  /** Stored with each callback; unique among banks. */
  readonly name: string
  readonly endpoint: Endpoint
  /** Sent once the callback is committed. */
  readonly acknowledgement: { readonly status: number; readonly body?: unknown }
}

/** A callback before it was judged. */
export interface InboundRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
  /** Of the caller; behind trusted proxies the one that they report, which may be any text. */
  readonly remoteAddress: string
  /** The query as it came. It may contain a secret, and is never logged. */
  readonly search: string
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/**
 * `proven`: the bank. `unproven`: perhaps the bank; the callback is stored and causes a query. `stale`: the bank, perhaps a
 * replay; it is refused, and causes a query. `refused`: not the bank.
 * @source rules#partner-inbox.1, rules#partner-inbox.2, rules#partner-inbox.15
 */
export type Origin = (typeof ORIGINS)[number]

export const ORIGINS = ['proven', 'unproven', 'stale', 'refused'] as const

/** The origin, with details for the operator that the caller never gets. */
export type Judgement =
  | Origin
  | {
      readonly origin: 'proven'
      /** Variable of the previous secret, where only that one proves it. */
      readonly previousSecret: string
    }
  | {
      readonly origin: 'stale' | 'refused'
      /** The missing, malformed or wrong part of the proof; repeats no input. */
      readonly reason: string
      /** Distance of a signed time from its window; negative: too early. */
      readonly lateBySeconds?: number | undefined
    }

/** An event, or a callback or a part of one that is none. */
export type BankEvent = ReadableEvent | UnreadableEvent

/** Stored with a case. @source rules#partner-inbox.4 */
export interface UnreadableEvent extends Stored {
  readonly kind: 'unreadable'
  /** For people; repeats no value. */
  readonly fault: string
  /** Operation that it names all the same, for a query. */
  readonly named: Naming | undefined
}

export type ReadableEvent = ChargeEvent | PayoutEvent | RefundEvent

export type ChargeEvent = About<'charge'> & (Plain | { readonly kind: 'payment_received'; readonly payment: Payment })

export type PayoutEvent = About<'payout'> &
  (
    | Plain
    | { readonly kind: 'payout_settled'; readonly movement: PayoutMovement }
    | ({ readonly kind: 'payout_returned' } & ReturnNews)
  )

/** Of a payment that goes back, by a refund of ours or by the bank itself. */
export type RefundEvent = About<'refund'> & (Plain | ({ readonly kind: 'payment_returned' } & ReturnNews))

interface About<Subject extends EventSubject> extends Naming, Stored {
  readonly subject: Subject
  /** Fields for the operator who decides, without names and documents. */
  readonly evidence: Readonly<Record<string, string | number | null | undefined>>
}

/**
 * No money that could be booked. `changed`: the bank is queried; with `saysMoneyMoved`, money moved, and its amount, time or id
 * is missing.
 */
type Plain =
  | { readonly kind: 'failed'; readonly failure: EventFailure }
  | { readonly kind: 'in_progress' }
  | { readonly kind: 'changed'; readonly saysMoneyMoved: boolean }

export interface Naming {
  readonly subject: EventSubject
  readonly references: EventReferences
}

/** `refund`: one of ours, or the charge of which the bank returned something. */
export type EventSubject = 'charge' | 'payout' | 'refund'

export interface EventReferences {
  readonly transactionId: string | null
  /** Our id as we sent it, or the client's reference. */
  readonly externalId: string | null
  /** Of the payment that went back; a payment's own is new to us. */
  readonly endToEndId: string | null
}

interface Stored {
  /**
   * Identity of an event within its route, for deduplication. The second item is the bank's reference, where it has one:
   * events that wait for a reference are found by it.
   * @source rules#partner-inbox.3
   */
  readonly key: readonly string[]
  /** Assertion of an event: of two with one key and other content, one is wrong. @source rules#partner-inbox.7 */
  readonly content: string | Uint8Array
}

export interface PayoutMovement {
  readonly endToEndId: string
  readonly valueCents: bigint
  /** By the bank, epoch milliseconds. */
  readonly occurredAt: number
  /** The bank's own tariff: evidence. */
  readonly feeCents: bigint | undefined
  readonly recipient: Party | null | undefined
}

export interface ReturnNews {
  readonly returned: PayoutReturn
  /** Of the payment that went back; `null` where none is named. */
  readonly endToEndId: string | null
  /** The bank sent no return id: this one is derived from the event, so that the same event means the same return. */
  readonly isUnnamed: boolean
}

/** End of an operation without money. */
export interface EventFailure {
  readonly errorCode: string
  readonly errorMessage: string | null
  /** By the bank, epoch milliseconds. */
  readonly occurredAt: number | null
}
