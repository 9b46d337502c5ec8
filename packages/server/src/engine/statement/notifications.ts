import { instantOrNull } from './parameters.ts'
import type { Part } from './part.ts'

/** Inserts the notifications to send. */
export const notifications: Part = {
  name: 'ntf',
  isWanted: (draft) => draft.notifications.length > 0,
  sql: ({ draft: { notifications, now }, ids }, p) => `
  inserted_notification AS (
    INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at)
    SELECT n.*, ${p.one('timestamptz', instantOrNull(now))}
      FROM ${p.rows('n', {
        id: ['uuid', notifications.map(() => ids.uuid())],
        operation_id: ['uuid', notifications.map(({ operationId }) => operationId)],
        event_type: ['word', notifications.map(({ eventType }) => eventType)],
        status: ['word', notifications.map(({ status }) => status)],
        reference: ['text', notifications.map(({ reference }) => reference)],
        body: ['bytea', notifications.map(({ body }) => body)],
      })}
     WHERE (SELECT yes FROM go)
  )`,
}
