import { randomUUID } from 'node:crypto'
import { createCashIn } from '@pixgate/spec'
import { jsonHeaders, type Send } from './http-client.ts'
import type { Pixgate } from './pixgate.ts'

/** A charge that waits for its payment. */
export interface Charge {
  readonly id: string
  /** By which the bank knows it; of an older checkout the id. */
  readonly orderId: string
  /** The bank's. */
  readonly transactionId: string
  readonly valueCents: number
}

/** @returns makes one charge a call, as a merchant does */
export function chargeMaker(send: Send, apiKey: string): () => Promise<string> {
  const headers = jsonHeaders(apiKey)
  const { transaction, payer } = createCashIn.example
  return () => {
    const body = JSON.stringify({ transaction: { ...transaction, externalId: randomUUID() }, payer })
    return send({ method: 'POST', path: createCashIn.path, headers, body })
  }
}

const COPY = `
WITH stored AS (
  INSERT INTO operation
  SELECT copy.*
    FROM operation original, (SELECT uuidv7() AS id FROM generate_series(1, $2)) AS fresh,
         LATERAL jsonb_populate_record(
           original, jsonb_build_object('id', fresh.id, 'external_id', fresh.id, 'order_id', md5(fresh.id::text), 'transaction_id', fresh.id)
         ) AS copy
   WHERE original.id = $1
  RETURNING id, to_jsonb(operation) ->> 'order_id' AS order_id),
stored_move AS (
  INSERT INTO move
  SELECT copy.*
    FROM stored, move original,
         LATERAL jsonb_populate_record(original, jsonb_build_object('operation_id', stored.id)) AS copy
   WHERE original.operation_id = $1)
SELECT id, coalesce(order_id, id::text) AS order_id FROM stored`

/** Makes one charge and stores copies of it: many, and in no cache of the service, like charges of an hour ago. */
export async function storeCharges({ send, apiKey, database }: Pixgate, count: number): Promise<Charge[]> {
  const { id, valueCents } = JSON.parse(await chargeMaker(send, apiKey)()) as Charge
  const { rows } = await database.query<{ id: string; order_id: string }>(COPY, [id, count])
  await database.query('VACUUM ANALYZE operation, move')
  // What comes next shall not have to write our pages to the disk before it has room for its own.
  await database.query('CHECKPOINT')
  return rows.map((copy) => ({ id: copy.id, orderId: copy.order_id, transactionId: copy.id, valueCents }))
}
