import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createRefundIn } from '@pixgate/spec'
import type { Benchmark } from './benchmark.ts'
import { type Charge, storeCharges } from './charges.ts'
import { jsonHeaders, type Send } from './http-client.ts'
import { from, inRounds, measure, tableOf } from './measure.ts'
import { payer } from './payments.ts'
import { type Pixgate, startPixgate } from './pixgate.ts'
import { startYardstick } from './yardstick.ts'

const ROUNDS = 5

/** Charges to refund from, each many times: what a refund is of is in no cache when its turn comes again. */
const PAID = 20_000

const PAYERS = 64

/** Refunds created over HTTP, each a part of one of many paid charges, against a server that does nothing. */
export const refund: Benchmark = {
  name: 'refund',
  summary: 'POST /api/pix/refund-in/{id} over HTTP, against a bare Fastify',
  run: async (after) => {
    const pixgate = await startPixgate(after)
    const charges = await payCharges(pixgate)
    const bare = refundMaker(await startYardstick(after), 'none', charges)
    // From here on refunds are only made: nobody is there who sends them to the bank.
    await pixgate.stop()
    const api = await pixgate.startApi()
    const makeRefund = refundMaker(api.send, api.apiKey, charges)
    const rounds = await inRounds(ROUNDS, async () => ({
      'refund, 1': await measure(makeRefund, from(1)),
      'bare Fastify, 64': await measure(bare, from(64)),
      'refund, 64': await measure(makeRefund, from(64)),
      'bare Fastify, 256': await measure(bare, from(256)),
      'refund, 256': await measure(makeRefund, from(256)),
    }))
    return { figures: tableOf(rounds), targets: [] }
  },
}

/** @returns gives a little of one charge after the other back, round and round */
function refundMaker(send: Send, apiKey: string, charges: readonly Charge[]): () => Promise<string> {
  const headers = jsonHeaders(apiKey)
  let turn = 0
  return () => {
    const charge = charges[turn++ % charges.length]
    const body = JSON.stringify({ ...createRefundIn.example, refundValue: 0.01, externalId: randomUUID() })
    return send({ method: 'POST', path: createRefundIn.path.replace('{id}', charge?.id ?? ''), headers, body })
  }
}

const POLL_MS = 100

async function payCharges(pixgate: Pixgate): Promise<Charge[]> {
  const charges = await storeCharges(pixgate, PAID)
  const pay = payer(pixgate)
  const unpaid = [...charges]
  const payNext = async () => {
    for (let charge = unpaid.pop(); charge !== undefined; charge = unpaid.pop()) await pay(charge)
  }
  await Promise.all(Array.from({ length: PAYERS }, payNext))
  const open = "SELECT count(*)::integer AS open FROM inbox_event WHERE outcome IS DISTINCT FROM 'APPLIED'"
  while ((await pixgate.database.query(open)).rows[0].open > 0) await delay(POLL_MS)
  return charges
}
