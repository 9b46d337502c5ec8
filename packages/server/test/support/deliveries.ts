import { type Database, instantParameter, statement } from '../../src/platform/db/database.ts'
import type { Ids } from '../../src/platform/ids.ts'

const insertNotification = statement<[string, string, Buffer]>(
  'test.storeNotification',
  `INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at)
   VALUES ($1, $2, 'pix_cash_in', 'PAID', $1::uuid::text, $3, now())`,
)

/** Stores a notification as the engine would, whose bytes no other has. @returns its id */
export async function storeNotification(database: Database, ids: Ids): Promise<string> {
  const id = ids.uuid()
  const body = Buffer.from(JSON.stringify({ event_type: 'pix_cash_in', event: { id } }))
  await database.rows(insertNotification, [id, ids.uuid(), body])
  return id
}

/** Deliveries of all processes, by what becomes of them. */
export interface DeliveryStates {
  readonly delivered: number
  /** To be fanned out or attempted now, or in flight. */
  readonly underWay: number
  /** For a retry. */
  readonly waiting: number
}

const selectStates = statement<[string], DeliveryStates>(
  'test.deliveryStates',
  `SELECT count(*) FILTER (WHERE state = 'DELIVERED')::integer AS delivered,
          (count(*) FILTER (WHERE state = 'PENDING' AND (leased_until IS NOT NULL OR due_at <= $1))
             + (SELECT count(*) FROM notification WHERE fanned_out_at IS NULL))::integer AS "underWay",
          count(*) FILTER (WHERE state = 'PENDING' AND leased_until IS NULL AND due_at > $1)::integer AS waiting
     FROM delivery`,
)

/** How they stand at an instant. */
export async function deliveryStates(database: Database, nowMs: number): Promise<DeliveryStates> {
  const [states] = await database.rows(selectStates, [instantParameter(nowMs)])
  if (states === undefined) throw new Error('a count has a row')
  return states
}
