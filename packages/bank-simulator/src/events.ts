import type { PartnerEvent, partnerEvents } from '@pixgate/spec'
import type {
  ChargeFailed,
  ChargePaid,
  PaymentTakenBack,
  PayoutConfirmed,
  PayoutFailed,
  PayoutReturned,
  RefundConfirmed,
  RefundFailed,
} from './facts.ts'
import type { Charge, Payout, Refund } from './operations.ts'

/** An event for the service, and whether it was delivered. */
export interface BankEvent {
  readonly endpoint: EventEndpoint
  readonly body: PartnerEvent
  /** Epoch milliseconds; `undefined` until the service has accepted it. */
  readonly deliveredAt: number | undefined
}

/** The service's endpoint for an event. */
export type EventEndpoint = keyof typeof partnerEvents

/** Reports a paid charge. @source partner-protocol#events */
export function chargePaidEvent({ id, transactionId }: Charge, { eventId, payment }: ChargePaid): BankEvent {
  const named = { event: 'CashIn', eventId, transactionId, externalId: id } as const
  return undelivered('cash-in', { ...named, status: 'CONFIRMED', ...payment })
}

/** Reports a failed charge. @source partner-protocol#events */
export function chargeFailedEvent({ id, transactionId, terms }: Charge, failed: ChargeFailed): BankEvent {
  const named = { event: 'CashIn', eventId: failed.eventId, transactionId, externalId: id } as const
  return undelivered('cash-in', { ...named, endToEndId: null, valueCents: terms.valueCents, ...failure(failed) })
}

/** Reports that the bank itself returned a payment. It has no id of the service, which ordered no refund. */
export function paymentTakenBackEvent(fact: PaymentTakenBack): BankEvent {
  const { eventId, transactionId, endToEndId, returnId, valueCents, at } = fact
  const named = { event: 'CashInReversal', eventId, transactionId, externalId: null } as const
  const moved = { endToEndId, returnId, valueCents, occurredAt: instant(at) }
  return undelivered('cash-in', { ...named, status: 'CONFIRMED', ...moved })
}

/** Reports a confirmed payout. @source partner-protocol#events */
export function payoutConfirmedEvent({ answer }: Payout, fact: PayoutConfirmed): BankEvent {
  const { eventId, endToEndId, valueCents, feeCents, at } = fact
  const moved = { endToEndId, valueCents, ...(feeCents !== undefined && { feeCents }), occurredAt: instant(at) }
  const { pixKey: _, ...recipient } = answer.recipient
  return undelivered('cash-out', { ...payoutNamed(answer, eventId), status: 'CONFIRMED', ...moved, recipient })
}

/** Reports a failed payout. @source partner-protocol#events */
export function payoutFailedEvent({ answer, order }: Payout, failed: PayoutFailed): BankEvent {
  const named = payoutNamed(answer, failed.eventId)
  return undelivered('cash-out', { ...named, endToEndId: null, valueCents: order.valueCents, ...failure(failed) })
}

/** Reports a full or partial return of a payout. @source partner-protocol#events */
export function payoutReturnedEvent({ answer }: Payout, fact: PayoutReturned): BankEvent {
  const { eventId, returnId, valueCents, at } = fact
  const named = { ...payoutNamed(answer, eventId), event: 'CashOutReversal' } as const
  const moved = { endToEndId: answer.endToEndId ?? null, returnId, valueCents, occurredAt: instant(at) }
  return undelivered('cash-out', { ...named, status: 'CONFIRMED', ...moved })
}

/** Reports a confirmed refund. @source partner-protocol#events */
export function refundConfirmedEvent(refund: Refund, fact: RefundConfirmed): BankEvent {
  const { eventId, returnId, valueCents, at } = fact
  const moved = { returnId, valueCents, occurredAt: instant(at) }
  return undelivered('cash-in', { ...refundNamed(refund, eventId), status: 'CONFIRMED', ...moved })
}

/** Reports a failed refund. @source partner-protocol#events */
export function refundFailedEvent(refund: Refund, failed: RefundFailed): BankEvent {
  const named = refundNamed(refund, failed.eventId)
  return undelivered('cash-in', { ...named, valueCents: refund.order.valueCents, ...failure(failed) })
}

/** Formats a time as ISO 8601 in UTC, as events and responses have it. */
export function instant(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

function payoutNamed({ id, transactionId }: Payout['answer'], eventId: string) {
  return { event: 'CashOut', eventId, transactionId, externalId: id } as const
}

function refundNamed({ answer: { id, transactionId }, order: { endToEndId } }: Refund, eventId: string) {
  return { event: 'CashInReversal', eventId, transactionId, externalId: id, endToEndId } as const
}

function failure({ errorCode, errorMessage, at }: ChargeFailed | PayoutFailed | RefundFailed) {
  return { status: 'FAILED', errorCode, errorMessage, occurredAt: instant(at) } as const
}

function undelivered(endpoint: EventEndpoint, body: PartnerEvent): BankEvent {
  return { endpoint, body, deliveredAt: undefined }
}
