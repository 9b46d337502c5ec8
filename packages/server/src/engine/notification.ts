import type { EventOf, EventType } from '@pixgate/spec'
import type { Notification } from './operation.ts'

/**
 * What the merchant is told: an event as its published schema says, in the exact bytes that are signed and sent.
 * @param reference tells notifications of one operation, type and status apart: a return id, or ''
 * @source rules#events.2
 */
export function notificationOf<Type extends EventType>(
  eventType: Type,
  event: EventOf<Type>,
  reference = '',
): Omit<Notification, 'operationId'> {
  return {
    eventType,
    status: event.status,
    reference,
    body: Buffer.from(JSON.stringify({ event_type: eventType, event })),
  }
}
