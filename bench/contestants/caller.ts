import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { createCashIn, createCashOut, createRefundIn, getCashIn } from '@pixgate/spec'
import type { Call, CallerLoad } from '../callers.ts'
import { type Figures, figuresOf } from '../measure.ts'
import { onMessages, openWire, type WireSend, wireHeaders } from '../wire.ts'

/** A merchant's process: reports the URL of its webhook server, then runs each load that it receives. */

const CHARGE_REAIS = 0.1

const REFUND_REAIS = 0.01

/** Waiting payments by external id, and notifications that arrived before their payment waited. */
const waiting = new Map<string, () => void>()
const arrived = new Set<string>()
let arrivedAt = performance.now()

/** Longer than any delivery takes: a notification was lost. */
const SILENCE_MS = 60_000

const receiver = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy())
  onMessages(socket, (_head, body) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    const { external_id: externalId } = JSON.parse(body).event
    arrivedAt = performance.now()
    const wake = waiting.get(externalId)
    if (wake) wake()
    else arrived.add(externalId)
  })
})

/** @param created answer to the creation of a payment */
async function notificationOf(created: string): Promise<void> {
  const { externalId } = JSON.parse(created)
  if (arrived.delete(externalId)) return
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.set(externalId, resolve)
  await promise
  waiting.delete(externalId)
}

setInterval(() => {
  if (waiting.size === 0 || performance.now() - arrivedAt < SILENCE_MS) return
  throw new Error(`no notification of ${waiting.size} payments, such as ${waiting.keys().next().value}`)
}, SILENCE_MS / 4)

/** State of a call when its last request is answered. */
interface Answered {
  /** Settles when the payment's notification has arrived, if it is awaited. */
  readonly notified?: Promise<void>
}

function callOf({ call, apiKey, charges = [] }: CallerLoad, send: WireSend): () => Promise<Answered> {
  const headers = wireHeaders(apiKey)
  const post = (path: string, body: object) => send({ method: 'POST', path, headers, body: JSON.stringify(body) })
  let turn = 0
  const nextCharge = () => charges[turn++ % charges.length] ?? ''
  const createPayout = () => {
    const { transaction, recipient } = createCashOut.example
    return post(createCashOut.path, { transaction: { ...transaction, externalId: randomUUID() }, recipient })
  }
  const createCharge = () => {
    const { transaction, payer } = createCashIn.example
    const order = { ...transaction, value: CHARGE_REAIS, externalId: randomUUID() }
    return post(createCashIn.path, { transaction: order, payer })
  }
  const createRefund = () => {
    const order = { ...createRefundIn.example, refundValue: REFUND_REAIS, externalId: randomUUID() }
    return post(createRefundIn.path.replace('{id}', nextCharge()), order)
  }
  const once = (request: () => Promise<string>) => async () => {
    await request()
    return {}
  }
  const calls: Readonly<Record<Call, () => Promise<Answered>>> = {
    payout: async () => ({ notified: notificationOf(await createPayout()) }),
    charge: async () => {
      const charge = await createCharge()
      await post(`/sandbox/cash-in/${JSON.parse(charge).id}/pay`, {})
      return { notified: notificationOf(charge) }
    },
    refund: async () => ({ notified: notificationOf(await createRefund()) }),
    'payout created': once(createPayout),
    'charge created': once(createCharge),
    'refund created': once(createRefund),
    'GET by id': once(() => send({ method: 'GET', path: getCashIn.path.replace('{id}', nextCharge()), headers })),
  }
  return calls[call]
}

async function run(load: CallerLoad): Promise<Figures> {
  const wire = openWire(load.url)
  const call = callOf(load, wire.send)
  const latenciesMs: number[] = []
  let left = load.payments
  const notifications: Promise<void>[] = []
  const caller = async () => {
    while (left-- > 0) {
      const from = performance.now()
      const noteLatency = () => latenciesMs.push(performance.now() - from)
      const { notified } = await call()
      if (notified === undefined) noteLatency()
      else notifications.push(notified.then(() => void noteLatency()))
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: load.callers }, caller))
  await Promise.all(notifications)
  const elapsedMs = performance.now() - startedAt
  wire.close()
  return figuresOf(latenciesMs, elapsedMs)
}

process.on('message', async (load: CallerLoad) => {
  arrivedAt = performance.now()
  process.send?.(await run(load))
})
process.once('disconnect', () => process.exit())
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
process.send?.(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`)
