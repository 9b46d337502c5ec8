import type { Part } from './part.ts'

/** Inserts the notifications to send. */
export const notifications: Part = {
  name: 'nt',
  isWanted: (draft) => draft.notifications.length > 0,
  sql: ({ draft, ids }, p) => `
  inserted_notification AS (
    INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at)
    SELECT n.* FROM ${p.rows('n', {
      id: ['uuid', draft.notifications.map(() => ids.uuid())],
      operation_id: ['uuid', draft.notifications.map(({ operationId }) => operationId)],
      event_type: ['text', draft.notifications.map(({ eventType }) => eventType)],
      status: ['text', draft.notifications.map(({ status }) => status)],
      reference: ['text', draft.notifications.map(({ reference }) => reference)],
      body: ['bytea', draft.notifications.map(({ body }) => body)],
      created_at: ['timestamptz', draft.notifications.map(({ operationId }) => draft.notifiedAt(operationId))],
    })}
     WHERE (SELECT yes FROM go)
  )`,
}
