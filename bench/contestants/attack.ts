import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { receiveCashInEvent } from '@pixgate/spec'
import { type Dispatcher, Pool } from 'undici'
import { apiKeyFormat } from '../../packages/server/src/access/credentials.ts'

/**
 * Runs an attack on a server until it receives a message; then reports the number of answers by status. Arguments: the
 * attack, the server's address, the path, and a key.
 */

const [attack = '', url = '', path = '', key = ''] = process.argv.slice(2)

const answers: Record<string, number> = {}
let isOver = false

function count(answer: string | number): void {
  answers[answer] = (answers[answer] ?? 0) + 1
}

async function send(pool: Pool, request: Dispatcher.RequestOptions): Promise<void> {
  try {
    const { statusCode, body } = await pool.request(request)
    await body.dump()
    count(statusCode)
  } catch {
    count('closed')
  }
}

/** Each caller repeats the request as soon as it is answered. */
async function closedLoop(callers: number, request: Dispatcher.RequestOptions): Promise<void> {
  const pool = new Pool(url, { connections: callers, headersTimeout: 0, bodyTimeout: 0 })
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (!isOver) await send(pool, request)
    }),
  )
}

/** A fixed rate, with at most the requests of one second in flight. */
async function paced(
  perSecond: number,
  connections: number,
  requestOf: () => Dispatcher.RequestOptions,
): Promise<void> {
  const pool = new Pool(url, { connections, headersTimeout: 0 })
  let underWay = 0
  for (let [sent, startedAt] = [0, performance.now()]; !isOver; await delay(5)) {
    const due = ((performance.now() - startedAt) * perSecond) / 1_000
    for (; sent < due; sent++) {
      if (underWay >= perSecond) continue
      underWay += 1
      void send(pool, requestOf()).then(() => underWay--)
    }
  }
}

/** Connections with an incomplete request head; closed ones are opened again. */
async function halfOpen(sockets: number): Promise<void> {
  const { hostname, port } = new URL(url)
  let open = 0
  for (; !isOver; await delay(100)) {
    for (; open < sockets; open++) {
      const socket = connect({ host: hostname, port: Number(port) }, () => {
        count('opened')
        socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n`)
      })
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open -= 1
      })
    }
  }
}

const attacks: Readonly<Record<string, () => Promise<void>>> = {
  'false signatures': () =>
    closedLoop(50, {
      method: 'POST',
      path: receiveCashInEvent.path,
      headers: { 'x-partner-signature': `sha256=${'0'.repeat(64)}`, 'x-partner-timestamp': String(Date.now()) },
      body: Buffer.alloc(65_536, ' '),
    }),
  'unknown keys': () =>
    paced(3_000, 200, () => ({
      method: 'GET',
      path,
      headers: { authorization: `Bearer ${apiKeyFormat.format('sandbox', randomBytes(32))}` },
    })),
  'half-open sockets': () => halfOpen(2_010),
  'deepest pages': () => closedLoop(20, { method: 'GET', path, headers: { authorization: `Bearer ${key}` } }),
}

process.on('message', () => {
  isOver = true
  process.send?.(answers)
})
process.once('disconnect', () => process.exit())
process.send?.('ready')
await attacks[attack]?.()
