import { instantParameter } from '../../platform/db/database.ts'
import type { Part } from './part.ts'

/**
 * Makes events due that were set aside: the inbox applies them as ever. Whoever orders one holds the control of such cases, so
 * that nobody else has ordered it since it was read. An event that contradicts another stays marked as that.
 * @source rules#desk.57
 */
export const eventOrders: Part = {
  name: 'ev',
  isWanted: (draft) => draft.eventOrders.length > 0,
  sql: ({ draft: { eventOrders: orders, now } }, p) => `
  ordered_event AS (
    UPDATE inbox_event e
       SET state = CASE e.state WHEN 'CONFLICT' THEN e.state ELSE 'PARKED' END, outcome = 'ORDERED', operation_id = NULL,
           failures = 0, parkings = 0, due_at = ${p.one('timestamptz', instantParameter(now))}, processed_at = NULL,
           attributed_to = w.attributed_to
      FROM ${p.rows('w', {
        inbox_id: ['uuid', orders.map(({ inboxId }) => inboxId)],
        ordinal: ['integer', orders.map(({ ordinal }) => ordinal)],
        set_aside_at: ['timestamptz', orders.map(({ setAsideAt }) => setAsideAt)],
        attributed_to: ['uuid', orders.map(({ attributedTo }) => attributedTo)],
      })}
     WHERE e.inbox_id = w.inbox_id AND e.ordinal = w.ordinal
       AND date_trunc('milliseconds', e.processed_at) = w.set_aside_at AND (SELECT yes FROM go)
  )`,
}
