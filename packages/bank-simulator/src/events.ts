import type { PartnerEvent, partnerEvents } from '@pixgate/spec'
import type { Charge } from './book.ts'
import type { ChargeFailed, ChargePaid } from './facts.ts'

/** What the bank has to tell the service, and whether the service has taken it. */
export interface BankEvent {
  readonly endpoint: EventEndpoint
  readonly body: PartnerEvent
  /** Epoch milliseconds; `undefined` while it is still being sent. */
  readonly deliveredAt: number | undefined
}

/** Which of the service's two endpoints takes an event. */
export type EventEndpoint = keyof typeof partnerEvents

/** Tells that a charge was paid. @source partner-protocol#events */
export function confirmationEvent(charge: Charge, { eventId, payment }: ChargePaid): BankEvent {
  return cashInEvent(charge, { eventId, status: 'CONFIRMED', ...payment })
}

/** Tells that a charge came to nothing. @source partner-protocol#events */
export function failureEvent(charge: Charge, { eventId, errorCode, errorMessage, at }: ChargeFailed): BankEvent {
  const { valueCents } = charge.terms
  const occurredAt = new Date(at).toISOString()
  return cashInEvent(charge, {
    eventId,
    status: 'FAILED',
    endToEndId: null,
    valueCents,
    errorCode,
    errorMessage,
    occurredAt,
  })
}

function cashInEvent(
  { id, transactionId }: Charge,
  told: Omit<PartnerEvent, 'event' | 'transactionId' | 'externalId'>,
): BankEvent {
  return {
    endpoint: 'cash-in',
    body: { event: 'CashIn', transactionId, externalId: id, ...told },
    deliveredAt: undefined,
  }
}
