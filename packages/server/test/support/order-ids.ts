import { type Database, statement } from '../../src/platform/db/database.ts'

/** Stories name operations by their public ids, and the bank by order ids: translated here, for all of them. */

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

const selectOrderIds = statement<[ids: readonly string[]], { id: string; order_id: string }>(
  'test.order_ids',
  'SELECT id, order_id FROM operation WHERE id = ANY ($1::uuid[]) AND order_id IS NOT NULL',
)

const selectIds = statement<[orderIds: readonly string[]], { id: string; order_id: string }>(
  'test.ids',
  'SELECT id, order_id FROM operation WHERE order_id = ANY ($1::text[])',
)

/** A text in which each id of an operation is its order id. */
export async function underOrderIds(database: Database, text: string): Promise<string> {
  const ids = text.match(UUID) ?? []
  if (ids.length === 0) return text
  const rows = await database.rows(selectOrderIds, [ids.map((id) => id.toLowerCase())])
  const known = new Map(rows.map(({ id, order_id }) => [id, order_id]))
  return text.replace(UUID, (id) => known.get(id.toLowerCase()) ?? id)
}

/** The order id of an operation. */
export async function orderIdOf(database: Database, id: string): Promise<string> {
  const orderId = await underOrderIds(database, id)
  if (orderId === id) throw new Error(`no operation has the id ${id}`)
  return orderId
}

const ORDER_ID = /(?<![0-9a-zA-Z])[0-9a-f]{32}(?![0-9a-zA-Z])/g

/** JSON in which each order id is the operation's id. */
export async function underOurIds<Json>(database: Database, json: Json): Promise<Json> {
  const text = JSON.stringify(json)
  const rows = await database.rows(selectIds, [[...new Set(text.match(ORDER_ID) ?? [])]])
  const known = new Map(rows.map(({ id, order_id }) => [order_id, id]))
  return JSON.parse(text.replace(ORDER_ID, (orderId) => known.get(orderId) ?? orderId))
}
