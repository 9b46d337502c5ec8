import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createCashIn } from '@pixgate/spec'
import { jsonHeaders } from './http-client.ts'
import type { Pixgate } from './pixgate.ts'

/** To refund from, each a few times as merchants do: a charge remembers every refund of it, and each of them writes it anew. */
const COUNT = 4_000

const PAYERS = 32

/** So much that each is verified before it is booked: nobody asks about it again while something else is measured. */
const VALUE_REAIS = 10_000

const POLL_MS = 50

/** Makes charges that are paid, at the bank too. @returns their ids */
export async function paidCharges({ send, apiKey, payCharge, database }: Pixgate): Promise<string[]> {
  const headers = jsonHeaders(apiKey)
  const ids: string[] = []
  let left = COUNT
  const payer = async () => {
    while (left-- > 0) {
      const order = JSON.stringify({ transaction: { value: VALUE_REAIS, externalId: randomUUID() } })
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
