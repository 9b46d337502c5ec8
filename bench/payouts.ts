import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createCashIn, createCashOut, getBalance } from '@pixgate/spec'
import { jsonHeaders, type Send } from './http-client.ts'
import type { Pixgate } from './pixgate.ts'

/** @returns a function that creates a payout over HTTP */
export function payoutMaker(send: Send, apiKey: string): () => Promise<string> {
  const headers = jsonHeaders(apiKey)
  const { transaction, recipient } = createCashOut.example
  return () => {
    const body = JSON.stringify({ transaction: { ...transaction, externalId: randomUUID() }, recipient })
    return send({ method: 'POST', path: createCashOut.path, headers, body })
  }
}

/** Maximum of one charge: enough for 333 million payouts of the example. */
const FUNDS_REAIS = 9_999_999_999.99

const POLL_MS = 20

/** Credits the balance with a paid charge. */
export async function fund({ send, apiKey, payCharge }: Pixgate): Promise<void> {
  const headers = jsonHeaders(apiKey)
  const order = JSON.stringify({ transaction: { value: FUNDS_REAIS, externalId: randomUUID() } })
  const { id } = JSON.parse(await send({ method: 'POST', path: createCashIn.path, headers, body: order }))
  await payCharge(id)
  const balance = async () => JSON.parse(await send({ method: 'GET', path: getBalance.path, headers }))[0].amount
  while ((await balance()) === 0) await delay(POLL_MS)
}
