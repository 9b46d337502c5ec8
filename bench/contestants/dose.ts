import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { receiveCashInEvent } from '@pixgate/spec'
import { type Dispatcher, Pool } from 'undici'
import { formatKey } from '../../packages/server/src/api-keys/keys.ts'

/**
 * One of the doses of the penetration test, at a server until it is told to stop; then it tells how often it was answered what.
 * Its arguments are the dose, the server's address, and what the dose needs besides.
 */

const [dose = '', url = '', path = '', key = ''] = process.argv.slice(2)

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

/** So many callers, each at once again. */
async function closedLoop(callers: number, request: Dispatcher.RequestOptions): Promise<void> {
  const pool = new Pool(url, { connections: callers, headersTimeout: 0, bodyTimeout: 0 })
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (!isOver) await send(pool, request)
    }),
  )
}

/** So many a second on so many connections, as long as there are no more than a second's worth under way. */
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

/** So many connections on which half a head has come; one that is closed is opened again. */
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

const doses: Readonly<Record<string, () => Promise<void>>> = {
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
      headers: { authorization: `Bearer ${formatKey('sandbox', randomBytes(32))}` },
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
await doses[dose]?.()
