import type { Book } from './book.ts'
import type { Chance } from './chance.ts'
import type { BankEvent } from './events.ts'
import type { Liar } from './lies.ts'

/**
 * Events to send for an event: the event itself, unless the bank lies.
 * @returns the events in sending order; empty if the event is lost
 * @source rules#sandbox.11
 */
export function eventsToSend(event: BankEvent, { book, liar, chance }: SendingOptions): readonly BankEvent[] {
  if (liar.tells('eventLost')) return []
  const altered = alteredEvent(event, book, liar)
  if (event.body.status !== 'FAILED' && liar.tells('eventFalseFailure'))
    return [failureOf(event, chance.uuid()), altered]
  return liar.tells('eventDoubled') ? [altered, altered] : [altered]
}

/** Dependencies of {@link eventsToSend}. */
export interface SendingOptions {
  readonly book: Pick<Book, 'events'>
  readonly liar: Liar
  readonly chance: Pick<Chance, 'uuid'>
}

function alteredEvent(event: BankEvent, book: SendingOptions['book'], liar: Liar): BankEvent {
  const { body } = event
  if (liar.tells('eventWithoutOurIds')) return { ...event, body: { ...body, externalId: null } }
  if (liar.tells('eventWrongAmount')) return { ...event, body: { ...body, valueCents: (body.valueCents ?? 0) + 1 } }
  if (!liar.tells('eventForeign')) return event
  const others = [...book.events.values()].filter((other) => other.body.event === body.event && other !== event)
  const other = others.at(-1)
  if (!other) return event
  const { transactionId, externalId = null } = other.body
  return { ...event, body: { ...body, transactionId, externalId } }
}

/** A failure event for the same operation. */
function failureOf(event: BankEvent, eventId: string): BankEvent {
  const failure = { status: 'FAILED', errorCode: 'AC07', errorMessage: 'the account is closed' } as const
  const { returnId: _, ...named } = event.body
  return { ...event, body: { ...named, ...failure, eventId, endToEndId: failureEndToEndId(event) } }
}

/** EndToEndId of a failure event: `null`, except that a reversal names its payment even if it fails. */
function failureEndToEndId({ body }: BankEvent): string | null {
  return body.event.endsWith('Reversal') ? (body.endToEndId ?? null) : null
}
