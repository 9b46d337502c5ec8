import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Simulator, startSimulator } from '@pixgate/bank-simulator'
import type { Database } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { testDatabase } from './database.ts'
import { testPort } from './port.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts'
import { type Receiver, startReceiver } from './webhook-receiver.ts'
import { ADMIN_TOKEN, type Answer, ENCRYPTION_KEY, PARTNER_SECRET, PARTNER_TOKEN } from './world.ts'

/**
 * A merchant, a gateway and a bank, where the gateway is a process that can be killed and started again, and every one
 * of its links goes through a proxy that sees all bytes.
 */
export interface ProcessWorld {
  readonly links: Readonly<Record<Link, TcpProxy>>
  /** As it is, past the proxy. */
  readonly database: Database
  readonly bank: Simulator
  readonly receiver: Receiver
  /** The first process; it is ready. */
  readonly server: ServerProcess
  /**
   * Starts the next process, when the one before is gone.
   * @param aheadMs how far its clock and the bank's are put forward
   */
  start(aheadMs: number): ServerProcess
  /** Creates a charge as a merchant's program does: again and again until it is told of one it can show to a payer. */
  charge(order: Order): Promise<Charged>
  /** Reads a cash-in, as often as it takes to get an answer. */
  read(id: string): Promise<Answer['body']>
  /** Lets a charge end at the bank. */
  end(id: string, ending: Ending): Promise<void>
}

/** Who talks with the server: the merchant's program, the bank's events, and whom it calls itself. */
export type Link = 'api' | 'events' | 'database' | 'bank' | 'receiver'

/** What a merchant sells. */
export interface Order {
  readonly externalId: string
  readonly valueCents: number
}

/** What became of a create: told at once, or found because it had happened before. */
export interface Charged {
  readonly id: string
  readonly status: 201 | 409
}

/** How a charge ends at the bank. */
export type Ending = 'pay' | 'fail'

/** The fee of each payment. */
export const FEE_CENTS = 10

/** Between two tries, of the merchant's program and of the bank. */
const RETRY_MS = 20

/** Builds a world with a receiver registered; it goes with the test. */
export async function processWorld(t: TestContext): Promise<ProcessWorld> {
  const processes: ServerProcess[] = []
  let isOver = false
  // The first to go, or they would complain of a world that falls apart.
  t.after(() => {
    isOver = true
    return endProcesses(t, processes)
  })
  const { url: databaseUrl, database } = await testDatabase(t)
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-process-world-'))
  const receiver = await startReceiver(t)
  const port = await testPort()
  const events = await tcpProxy(t, port)
  let aheadMs = 0
  const bank = await startSimulator({
    port: 0,
    dataDirectory: join(directory, 'bank'),
    token: PARTNER_TOKEN,
    secret: PARTNER_SECRET,
    eventsUrl: through(events),
    clock: { now: () => Date.now() + aheadMs, sleep: (_ms, signal) => realPause.for(RETRY_MS, signal) },
    warn: () => undefined,
  })
  t.after(async () => {
    await bank.stop()
    await rm(directory, { recursive: true, force: true })
  })
  const links = {
    api: await tcpProxy(t, port),
    events,
    database: await tcpProxy(t, portOf(databaseUrl)),
    bank: await tcpProxy(t, bank.port),
    receiver: await tcpProxy(t, portOf(receiver.url)),
  }
  function start(ms: number): ServerProcess {
    if (isOver) throw new Error('this world has ended')
    aheadMs = ms
    const environment = {
      PORT: String(port),
      DATABASE_URL: through(links.database, databaseUrl),
      PIXGATE_DATA_DIR: directory,
      PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN,
      PIXGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
      PIXGATE_PARTNER_URL: through(links.bank),
      PIXGATE_PARTNER_TOKEN: PARTNER_TOKEN,
      PIXGATE_PARTNER_SECRET: PARTNER_SECRET,
      PIXGATE_FEE_CASH_IN_CENTS: String(FEE_CENTS),
      PIXGATE_RATE_LIMIT_PER_MINUTE: '0',
    }
    const process = startServerProcess(environment, aheadMs)
    processes.push(process)
    return process
  }
  const server = start(0)
  assert.ok(await server.ready)
  return {
    links,
    database,
    bank,
    receiver,
    server,
    start,
    ...(await openMerchant(through(links.api), through(links.receiver))),
    end: async (id, ending) => {
      const ended = await ask(`${bank.url}/control/charges/${id}/${ending}`, PARTNER_TOKEN, 'POST')
      assert.equal(ended?.status, 202, JSON.stringify(ended?.body))
    },
  }
}

/** Kills what still runs. Where the test failed, it shows what the processes complained of. */
async function endProcesses(t: TestContext, processes: readonly ServerProcess[]): Promise<void> {
  for (const process of processes) process.kill()
  await Promise.all(processes.map(({ gone }) => gone))
  // Its type does not tell it yet.
  const { passed } = t as TestContext & { readonly passed: boolean }
  if (!passed) for (const complaint of processes.flatMap(({ complaints }) => complaints)) t.diagnostic(complaint)
}

/** A merchant's program with a key and a registered receiver. */
async function openMerchant(url: string, receiverUrl: string): Promise<Pick<ProcessWorld, 'charge' | 'read'>> {
  const made = await ask(`${url}/api-key/generate`, ADMIN_TOKEN, 'POST')
  assert.equal(made?.status, 201, JSON.stringify(made?.body))
  const { apiKey } = made.body
  const subscription = { url: `${receiverUrl}/pix`, events: ['pix_cash_in'] }
  const subscribed = await ask(`${url}/webhook`, apiKey, 'POST', subscription)
  assert.equal(subscribed?.status, 201, JSON.stringify(subscribed?.body))

  /** Asks until somebody answers and does not say «later». */
  async function insist(method: string, path: string, body?: object): Promise<Answer> {
    for (;;) {
      const answer = await ask(url + path, apiKey, method, body)
      if (answer && answer.status !== 503) return answer
      await realPause.for(RETRY_MS)
    }
  }

  async function read(id: string): Promise<Answer['body']> {
    const { status, body } = await insist('GET', `/api/pix/cash-in/${id}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  return {
    read,
    charge: async ({ externalId, valueCents }) => {
      const transaction = { value: valueCents / 100, externalId }
      const { status, body } = await insist('POST', '/api/pix/cash-in', { transaction })
      assert.ok(status === 201 || status === 409, JSON.stringify(body))
      const id = status === 201 ? body.id : body.existing.id
      while (!(await read(id)).pixCode) await realPause.for(RETRY_MS)
      return { id, status }
    },
  }
}

/** One request. @returns `undefined` where nobody answered, or not to the end */
async function ask(url: string, token: string, method: string, body?: object): Promise<Answer | undefined> {
  try {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  } catch {
    return undefined
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

/** An address that leads through a proxy; plain HTTP unless it is one already. */
function through(proxy: TcpProxy, address = 'http://127.0.0.1'): string {
  const url = new URL(address)
  url.port = String(proxy.port)
  return url.href.replace(/\/$/, '')
}
