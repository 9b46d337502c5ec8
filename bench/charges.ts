import { createHmac, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createCashIn, type PartnerEvent, receiveCashInEvent } from '@pixgate/spec'
import { jsonHeaders, type Send } from './http-client.ts'
import type { Pixgate } from './pixgate.ts'

/** An unpaid charge. */
export interface Charge {
  readonly id: string
  /** Its id at the bank; in older checkouts its own id. */
  readonly orderId: string
  /** Given by the bank. */
  readonly transactionId: string
  readonly valueCents: number
}

/** @returns a function that creates a charge over HTTP */
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

/** Creates one charge and stores copies of it in the database. They are in no cache of the service. */
export async function storeCharges({ send, apiKey, database }: Pixgate, count: number): Promise<Charge[]> {
  const { id, valueCents } = JSON.parse(await chargeMaker(send, apiKey)()) as Charge
  const { rows } = await database.query<{ id: string; order_id: string }>(COPY, [id, count])
  await database.query('VACUUM ANALYZE operation, move')
  // Writes the dirty pages now rather than during the measurement.
  await database.query('CHECKPOINT')
  return rows.map((copy) => ({ id: copy.id, orderId: copy.order_id, transactionId: copy.id, valueCents }))
}

/** Charges to refund from, each several times. */
const PAID = 4_000

const PAYERS = 32

/** High enough for each payment to be queried before it is booked, so that no query remains for the measurement. */
const PAID_REAIS = 10_000

const POLL_MS = 50

/** Creates charges and pays them at the bank. @returns their ids */
export async function paidCharges({ send, apiKey, payCharge, database }: Pixgate): Promise<string[]> {
  const headers = jsonHeaders(apiKey)
  const ids: string[] = []
  let left = PAID
  const payer = async () => {
    while (left-- > 0) {
      const order = JSON.stringify({ transaction: { value: PAID_REAIS, externalId: randomUUID() } })
      const { id } = JSON.parse(await send({ method: 'POST', path: createCashIn.path, headers, body: order }))
      await payCharge(id)
      ids.push(id)
    }
  }
  await Promise.all(Array.from({ length: PAYERS }, payer))
  const open = "SELECT count(*)::integer AS open FROM operation WHERE kind = 'cash_in' AND status <> 'PAID'"
  while ((await database.query(open)).rows[0].open > 0) await delay(POLL_MS)
  return ids
}

/** @returns a function that sends the bank's event of a payment; it resolves when the service has answered */
export function payer({ send, partnerSecret }: Pixgate): (charge: Charge) => Promise<string> {
  return (charge) => {
    const body = JSON.stringify(paymentOf(charge))
    const headers = {
      'content-type': 'application/json',
      'x-partner-signature': `sha256=${createHmac('sha256', partnerSecret).update(body).digest('hex')}`,
      'x-partner-timestamp': `${Date.now()}`,
    }
    return send({ method: 'POST', path: receiveCashInEvent.path, headers, body })
  }
}

function paymentOf({ id, orderId, transactionId, valueCents }: Charge): PartnerEvent {
  return {
    event: 'CashIn',
    eventId: id,
    transactionId,
    externalId: orderId,
    status: 'CONFIRMED',
    endToEndId: `E${id}`,
    valueCents,
    payer: { name: 'Maria da Silva', document: '52998224725', ispb: '99999010' },
    occurredAt: new Date().toISOString(),
  }
}
