import type { Endpoint } from '@pixgate/spec'
import type { Party, Payment, PayoutReturn } from './port.ts'

/**
 * The half of a bank that calls us: where it calls, what proves that it is the bank, and what its calls say, in words that
 * no bank has for itself.
 */
export interface Inbound {
  readonly routes: readonly InboundRoute[]
  /** Judges who calls by the raw bytes, before anything is parsed or stored. */
  authenticate(request: InboundRequest): Judgement
  /**
   * Reads a callback: one event, or several. Pure and for ever the same, as what was stored is read again. Nothing is thrown:
   * what cannot be read is an {@link UnreadableEvent}. What tells nothing (a call to see whether anybody is there) is no
   * event: it is answered and not kept.
   * @param route the name of the route that took it
   */
  parse(route: string, body: Buffer): readonly BankEvent[]
  /**
   * The part of a callback that `parse` leaves out because it cannot be read; absent where it leaves nothing out.
   * @returns in words for people, without a value of it; `undefined`: all was read
   */
  unread?(body: Buffer): string | undefined
}

/** Where a bank calls. */
export interface InboundRoute {
  /** Kept with what came in, for ever: no two banks have the same. */
  readonly name: string
  readonly endpoint: Endpoint
  /** Answered once the callback is committed. */
  readonly acknowledgement: { readonly status: number; readonly body?: unknown }
}

/** A callback before anything of it was judged. */
export interface InboundRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
  /** Of who calls; behind trusted proxies the one that they report, which may be any text. */
  readonly remoteAddress: string
  /** What follows the path of the address that was called, as it came. A secret may stand there: it is in no log. */
  readonly search: string
  /** Epoch milliseconds. */
  readonly nowMs: number
}

/**
 * Who calls. `proven`: the bank. `unproven`: perhaps the bank, whose calls prove nothing; the callback is kept, and is a
 * question to the bank about what it names. `stale`: the bank, perhaps in a replay; it is refused, and the bank is asked.
 * `refused`: not the bank.
 * @source rules#partner-inbox.1, rules#partner-inbox.2, rules#partner-inbox.15
 */
export type Origin = (typeof ORIGINS)[number]

/** Every {@link Origin}. */
export const ORIGINS = ['proven', 'unproven', 'stale', 'refused'] as const

/** Who calls, and where it is turned away perhaps why, for the operator alone: whoever calls is told nothing. */
export type Judgement =
  | Origin
  | {
      readonly origin: 'proven'
      /** The variable of the previous secret that proves it, where the current one does not. */
      readonly previousSecret: string
    }
  | {
      readonly origin: 'stale' | 'refused'
      /** What of the proof is missing, malformed or wrong; repeats nothing that came. */
      readonly reason: string
      /** By how much what is signed comes too late for its window; negative: too early. */
      readonly lateBySeconds?: number | undefined
    }

/** What a bank tells by itself. */
export type BankEvent = ReadableEvent | UnreadableEvent

/** A callback, or a part of one, that is no event. @source rules#partner-inbox.4 */
export interface UnreadableEvent extends Stored {
  readonly kind: 'unreadable'
  /** For people; repeats no value. */
  readonly fault: string
  /** What it names all the same, so that the bank can be asked. */
  readonly named: Naming | undefined
}

/** An event that was read. */
export type ReadableEvent = ChargeEvent | PayoutEvent | RefundEvent

/** Of a charge. */
export type ChargeEvent = About<'charge'> & (Plain | { readonly kind: 'payment_received'; readonly payment: Payment })

/** Of a payout. */
export type PayoutEvent = About<'payout'> &
  (
    | Plain
    | { readonly kind: 'payout_settled'; readonly movement: PayoutMovement }
    | ({ readonly kind: 'payout_returned' } & ReturnNews)
  )

/** Of a payment that goes back, by a refund of ours or by the bank itself. */
export type RefundEvent = About<'refund'> & (Plain | ({ readonly kind: 'payment_returned' } & ReturnNews))

/** What every event has. */
interface About<Subject extends EventSubject> extends Naming, Stored {
  readonly subject: Subject
  /** What it says, for the operator who decides: without names and documents. */
  readonly evidence: Readonly<Record<string, string | number | null | undefined>>
}

/**
 * What tells of no money that could be booked. `changed`: something happened, or it is not clear what, so the bank is asked;
 * `saysMoneyMoved` where money moved, and its amount, time or id is lacking.
 */
type Plain =
  | { readonly kind: 'failed'; readonly failure: EventFailure }
  | { readonly kind: 'in_progress' }
  | { readonly kind: 'changed'; readonly saysMoneyMoved: boolean }

/** What of an event names an operation. */
export interface Naming {
  readonly subject: EventSubject
  readonly references: EventReferences
}

/** What kind of operation an event is about. `refund`: one of ours, or the charge of which the bank gave something back. */
export type EventSubject = 'charge' | 'payout' | 'refund'

/** What an event calls its operation. */
export interface EventReferences {
  /** The bank's own reference. */
  readonly transactionId: string | null
  /** Our id as we sent it, or the client's reference. */
  readonly externalId: string | null
  /** Of the payment that went back; a payment's own is new to us. */
  readonly endToEndId: string | null
}

/** By what an event is known again. */
interface Stored {
  /**
   * What makes two events of a route the same one. The second item is the bank's reference, where the event has one: what
   * waits for a reference is found by it.
   * @source rules#partner-inbox.3
   */
  readonly key: readonly string[]
  /** What it asserts: of two events with one key and other content, one is wrong. @source rules#partner-inbox.7 */
  readonly content: string | Uint8Array
}

/** Money of a payout that left. */
export interface PayoutMovement {
  readonly endToEndId: string
  readonly valueCents: bigint
  /** The bank's word, epoch milliseconds. */
  readonly occurredAt: number
  /** What the bank says it took for it: evidence. */
  readonly feeCents: bigint | undefined
  readonly recipient: Party | null | undefined
}

/** Money that went back. */
export interface ReturnNews {
  readonly returned: PayoutReturn
  /** Of the payment that went back; `null` where none is named. */
  readonly endToEndId: string | null
  /** The bank told no return id: the one here was made of what it told, so that the same event means the same return. */
  readonly isUnnamed: boolean
}

/** Why something ended without money. */
export interface EventFailure {
  readonly errorCode: string
  readonly errorMessage: string | null
  /** The bank's word, epoch milliseconds. */
  readonly occurredAt: number | null
}
