import type { Endpoint } from '@pixgate/spec'
import type { Party, Payment, PayoutReturn } from './port.ts'

/** Callbacks of a bank: endpoints, proof of origin, and events in neutral terms. */
export interface Inbound {
  readonly routes: readonly InboundRoute[]
  /** Checks the origin by the raw bytes, before anything is parsed or stored. */
  authenticate(request: InboundRequest): Judgement
  /**
   * Reads the events of a callback. Pure and deterministic, since stored callbacks are read again. Never throws:
   * unreadable parts become {@link UnreadableEvent}s. The bank's test calls have no event and are not stored.
   * @param route name of the receiving route
   */
  parse(route: string, body: Buffer): readonly BankEvent[]
  /** Describes an unreadable part that `parse` omits, without its values. */
  unread?(body: Buffer): string | undefined
}

export interface InboundRoute {
  /** Stored with each callback; unique among banks. */
  readonly name: string
  readonly endpoint: Endpoint
  /** Sent once the callback is committed. */
  readonly acknowledgement: { readonly status: number; readonly body?: unknown }
}

export interface InboundRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
  /** The caller's address. Trusted proxies may report any text. */
  readonly remoteAddress: string
  /** The raw query. It may contain a secret and is never logged. */
  readonly search: string
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/**
 * - `proven`: from the bank.
 * - `unproven`: perhaps from the bank; stored, and triggers a query.
 * - `stale`: from the bank but perhaps replayed; refused, and triggers a query.
 * - `refused`: not from the bank.
 * @source rules#partner-inbox.1, rules#partner-inbox.2, rules#partner-inbox.15
 */
export type Origin = (typeof ORIGINS)[number]

export const ORIGINS = ['proven', 'unproven', 'stale', 'refused'] as const

/** The origin with details for the operator, which the caller never sees. */
export type Judgement =
  | Origin
  | {
      readonly origin: 'proven'
      /** Variable of the previous secret, if only that one matched. */
      readonly previousSecret: string
    }
  | {
      readonly origin: 'stale' | 'refused'
      /** The missing, malformed or wrong part of the proof; repeats no input. */
      readonly reason: string
      /** Distance of a signed time from its window; negative if too early. */
      readonly lateBySeconds?: number | undefined
    }

export type BankEvent = ReadableEvent | UnreadableEvent

/** Stored with a case. @source rules#partner-inbox.4 */
export interface UnreadableEvent extends Stored {
  readonly kind: 'unreadable'
  /** For people; repeats no value. */
  readonly fault: string
  /** Operation that it names nevertheless, for a query. */
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

/** About a payment that goes back, by our refund or by the bank itself. */
export type RefundEvent = About<'refund'> & (Plain | ({ readonly kind: 'payment_returned' } & ReturnNews))

interface About<Subject extends EventSubject> extends Naming, Stored {
  readonly subject: Subject
  /** Fields for the deciding operator, without names and documents. */
  readonly evidence: Readonly<Record<string, string | number | null | undefined>>
}

/**
 * Events without bookable money. `changed` triggers a query. With `saysMoneyMoved`, money moved but its amount, time or
 * id is missing.
 */
type Plain =
  | { readonly kind: 'failed'; readonly failure: EventFailure }
  | { readonly kind: 'in_progress' }
  | { readonly kind: 'changed'; readonly saysMoneyMoved: boolean }

export interface Naming {
  readonly subject: EventSubject
  readonly references: EventReferences
}

/** `refund`: one of ours, or the charge whose payment the bank returned. */
export type EventSubject = 'charge' | 'payout' | 'refund'

export interface EventReferences {
  readonly transactionId: string | null
  /** Our id as sent, or the client's reference. */
  readonly externalId: string | null
  /** Of the payment that went back; for a payment itself it would be unknown to us. */
  readonly endToEndId: string | null
}

interface Stored {
  /**
   * Deduplication key of an event within its route. The second item is the bank's reference, if any: events that wait
   * for a reference are found by it.
   * @source rules#partner-inbox.3
   */
  readonly key: readonly string[]
  /**
   * Content of an event: if two events share a key but differ in content, one is wrong.
   * @source rules#partner-inbox.7
   */
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
  readonly endToEndId: string | null
  /** The bank sent no return id. This one is derived from the event, so the same event means the same return. */
  readonly isUnnamed: boolean
}

export interface EventFailure {
  readonly errorCode: string
  readonly errorMessage: string | null
  /** By the bank, epoch milliseconds. */
  readonly occurredAt: number | null
}
