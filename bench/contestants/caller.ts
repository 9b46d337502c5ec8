import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createCashIn, createCashOut, createRefundIn, getCashIn } from '@pixgate/spec'
import type { Call, CallerLoad, PacedLoad, Seen } from '../callers.ts'
import { type Figures, figuresOf } from '../measure.ts'
import { onMessages, openWire, type WireSend, wireHeaders } from '../wire.ts'

/**
 * A merchant's process: callers and the receiver of notifications. It says where it receives, and then does each load that it
 * is sent.
 */

/** So small that thousands stay within what is credited unverified by default. */
const CHARGE_REAIS = 0.1

const REFUND_REAIS = 0.01

/** Whom a notification wakes, by the merchant's own id; and which ones came before anybody waited. */
const waiting = new Map<string, () => void>()
const arrived = new Set<string>()
let arrivedAt = performance.now()

/** Nothing here takes as long: something was lost, and would be waited for without end. */
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

async function notified({ externalId }: { readonly externalId: string }): Promise<void> {
  if (arrived.delete(externalId)) return
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.set(externalId, resolve)
  await promise
  waiting.delete(externalId)
}

setInterval(() => {
  if (waiting.size === 0 || performance.now() - arrivedAt < SILENCE_MS) return
  throw new Error(`nobody was notified of ${waiting.size} payments, among them ${waiting.keys().next().value}`)
}, SILENCE_MS / 4)

/** What is noted of a call under way. */
type Marks = { -readonly [Mark in keyof Seen]?: Seen[Mark] | undefined }

/** What a call has become when its last request is answered. */
interface Answered {
  /** Settles when the payment is over, where its life is awaited. */
  readonly over?: Promise<void>
}

/** @returns does it once a call */
function callOf(
  { call, apiKey, charges = [] }: CallerLoad | PacedLoad,
  send: WireSend,
): (marks: Marks) => Promise<Answered> {
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
  const calls: Readonly<Record<Call, (marks: Marks) => Promise<Answered>>> = {
    payout: async (marks) => ({ over: notified(answered(marks, await createPayout())) }),
    charge: async (marks) => {
      const charge = answered(marks, await createCharge())
      marks.paying = epochMs()
      await post(`/sandbox/cash-in/${charge.id}/pay`, {})
      return { over: notified(charge) }
    },
    refund: async (marks) => ({ over: notified(answered(marks, await createRefund())) }),
    'payout created': once(createPayout),
    'charge created': once(createCharge),
    'refund created': once(createRefund),
    'GET by id': once(() => send({ method: 'GET', path: getCashIn.path.replace('{id}', nextCharge()), headers })),
  }
  return calls[call]
}

function answered(marks: Marks, answer: string): { readonly id: string; readonly externalId: string } {
  marks.answered = epochMs()
  const created = JSON.parse(answer)
  marks.id = created.id
  return created
}

function epochMs(): number {
  return performance.timeOrigin + performance.now()
}

async function run(load: CallerLoad): Promise<Figures> {
  const wire = openWire(load.url)
  const call = callOf(load, wire.send)
  const latenciesMs: number[] = []
  let left = load.payments
  const lives: Promise<void>[] = []
  const caller = async () => {
    while (left-- > 0) {
      const from = performance.now()
      const noteLatency = () => latenciesMs.push(performance.now() - from)
      const { over } = await call({})
      if (over === undefined) noteLatency()
      else lives.push(over.then(() => void noteLatency()))
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: load.callers }, caller))
  await Promise.all(lives)
  const elapsedMs = performance.now() - startedAt
  wire.close()
  return figuresOf(latenciesMs, elapsedMs)
}

async function runPaced(load: PacedLoad): Promise<readonly Seen[]> {
  const wire = openWire(load.url)
  const call = callOf(load, wire.send)
  const one = async () => {
    const marks: Marks = { sent: epochMs() }
    await (await call(marks)).over
    marks.notified = epochMs()
    return marks as Seen
  }
  const startedAt = performance.now()
  const under: Promise<Seen>[] = []
  for (let turn = 0; turn < load.payments; turn++) {
    await delay(Math.max(0, startedAt + (turn * 1_000) / load.perSecond - performance.now()))
    under.push(one())
  }
  const seen = await Promise.all(under)
  wire.close()
  return seen
}

process.on('message', async (load: CallerLoad | PacedLoad) => {
  arrivedAt = performance.now()
  process.send?.(await ('perSecond' in load ? runPaced(load) : run(load)))
})
process.once('disconnect', () => process.exit())
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
process.send?.(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`)
