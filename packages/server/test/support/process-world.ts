import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type BankBehaviorChange, eventTypes } from '@pixgate/spec'
import type { Database } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { testDatabase } from './database.ts'
import { underOrderIds, underOurIds } from './order-ids.ts'
import { testPort } from './port.ts'
import { type KillableProcess, startBankProcess, startServerProcess } from './server-process.ts'
import { type TcpProxy, tcpProxy, through } from './tcp-proxy.ts'
import { wallNow } from './wall-clock.ts'
import { type Receiver, startReceiver } from './webhook-receiver.ts'
import { ADMIN_TOKEN, type Answer, ENCRYPTION_KEY, PARTNER_SECRET, PARTNER_TOKEN } from './world.ts'

/**
 * A merchant, a gateway and a bank, where the gateway and the bank are processes that can be killed and started again,
 * and every link of the gateway goes through a proxy that sees all bytes.
 */
export interface ProcessWorld extends Merchant {
  readonly links: Readonly<Record<Link, TcpProxy>>
  /** As it is, past the proxy. */
  readonly database: Database
  readonly databaseUrl: string
  readonly bank: Bank
  readonly receiver: Receiver
  /** Where merchants reach the server. */
  readonly url: string
  readonly apiKey: string
  /** The first process; it is ready. */
  readonly server: KillableProcess
  /** The process that was started last. */
  latest(): KillableProcess
  /**
   * Starts the next process, when the one before is gone.
   * @param laterMs how much later that is, for the bank too
   */
  start(laterMs: number): KillableProcess
  /** Puts the clocks of the bank and of the process that was started last forward. */
  advance(ms: number): Promise<void>
  /** Now, on these clocks. */
  now(): number
  /** Starts a process that works beside the others. */
  startNeighbour(): Promise<Neighbour>
  /** Lets a charge end at the bank. */
  end(id: string, ending: Ending): Promise<void>
}

/** The simulated bank, past the proxy. */
export interface Bank {
  readonly url: string
  /** The process that was started last. */
  process(): KillableProcess
  /** Starts the next process, when the one before is gone. */
  start(): KillableProcess
  /** Its own account of what happened. */
  book(): Promise<BankBook>
  /** Uses a control until the book says that it has worked: an answer may be lost, and nothing must happen twice. */
  control(path: string, body: object, hasWorked: (book: BankBook) => boolean): Promise<void>
  /** Issues a dynamic code of another bank. */
  issueCode(valueCents: number): Promise<string>
  /** Changes how it behaves, until it is started again. */
  behave(change: BankBehaviorChange): Promise<void>
}

/** What the bank's book tells, as far as tests care. */
export interface BankBook {
  readonly availableCents: number
  readonly charges: readonly { readonly id: string; readonly status: string }[]
  readonly payouts: readonly { readonly id: string; readonly status: string }[]
  readonly refunds: readonly { readonly id: string; readonly status: string }[]
  readonly entries: readonly {
    readonly kind: string
    /** The id of what the money moved for. */
    readonly reference: string
    readonly valueCents: number
    readonly sign: '+' | '-'
  }[]
  readonly events: { readonly delivered: readonly object[]; readonly pending: readonly object[] }
  /** How many callbacks of API Pix there are. */
  readonly notices: { readonly delivered: number; readonly pending: number }
}

/** A merchant's program. */
export interface Merchant {
  /** Asks until somebody answers and does not say «later». */
  insist(method: string, path: string, body?: object): Promise<Answer>
  /** Creates an operation, or is told that it was created before. */
  place(path: string, body: object): Promise<Created>
  /** Creates a charge: again and again until it is told of one it can show to a payer. */
  charge(order: Order): Promise<Created>
  /** Reads a cash-in, as often as it takes to get an answer. */
  read(id: string): Promise<Answer['body']>
}

/** Another process on the same database and bank, past the proxies, and the same merchant's program on it. */
export interface Neighbour extends Merchant {
  readonly server: KillableProcess
  readonly port: number
  readonly url: string
}

/** Who talks with the server: the merchant's program, the bank's events, and whom it calls itself. */
export type Link = 'api' | 'events' | 'database' | 'bank' | 'receiver'

/** What a merchant sells. */
export interface Order {
  readonly externalId: string
  readonly valueCents: number
}

/** What became of a create: told at once, or found because it had happened before. */
export interface Created {
  readonly id: string
  readonly status: 201 | 409
}

/** How a charge ends at the bank. */
export type Ending = 'pay' | 'fail'

/** The fee of each payment and of each payout. */
export const FEE_CENTS = 10

/** Between two tries, of the merchant's program and of the bank. */
const RETRY_MS = 50

/** Variables of the server. */
type Settings = Readonly<Record<string, string>>

/** Builds a world with a receiver registered; it goes with the test. */
export async function processWorld(t: TestContext, settings: Settings = {}): Promise<ProcessWorld> {
  const processes: KillableProcess[] = []
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
  t.after(() => rm(directory, { recursive: true, force: true }))
  function keep(process: KillableProcess): KillableProcess {
    if (isOver) throw new Error('this world has ended')
    processes.push(process)
    return process
  }
  const bank = bankAt(await testPort(), database, (port) =>
    keep(
      startBankProcess(
        {
          PIXGATE_SIMULATOR_PORT: String(port),
          PIXGATE_SIMULATOR_DATA_DIR: join(directory, 'bank'),
          PIXGATE_SIMULATOR_EVENTS_URL: through(events),
          PIXGATE_PARTNER_TOKEN: PARTNER_TOKEN,
          PIXGATE_PARTNER_SECRET: PARTNER_SECRET,
        },
        aheadMs,
      ),
    ),
  )
  const links = {
    api: await tcpProxy(t, port),
    events,
    database: await tcpProxy(t, portOf(databaseUrl)),
    bank: await tcpProxy(t, portOf(bank.url)),
    receiver: await tcpProxy(t, portOf(receiver.url)),
  }
  const environment = {
    PIXGATE_DATA_DIR: directory,
    PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    PIXGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
    PIXGATE_PARTNER_TOKEN: PARTNER_TOKEN,
    PIXGATE_PARTNER_SECRET: PARTNER_SECRET,
    PIXGATE_FEE_CASH_IN_CENTS: String(FEE_CENTS),
    PIXGATE_FEE_CASH_OUT_CENTS: String(FEE_CENTS),
    PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000',
    ...{ PIXGATE_RATE_LIMIT_PER_MINUTE: '0', ...settings },
  }
  async function advance(ms: number): Promise<void> {
    aheadMs += ms
    await Promise.all([latest, bank.process()].map((process) => process.advance(ms)))
  }
  function start(): KillableProcess {
    const throughLinks = {
      PORT: String(port),
      DATABASE_URL: through(links.database, databaseUrl),
      PIXGATE_PARTNER_URL: through(links.bank),
    }
    return keep(startServerProcess({ ...environment, ...throughLinks }, aheadMs))
  }
  const server = start()
  let latest = server
  assert.ok(await server.ready)
  const url = through(links.api)
  const apiKey = await openAccount(url, through(links.receiver))
  return {
    ...{ links, database, databaseUrl },
    bank,
    receiver,
    server,
    url,
    apiKey,
    latest: () => latest,
    start: (laterMs) => {
      aheadMs += laterMs
      void bank.process().advance(laterMs)
      latest = start()
      return latest
    },
    advance,
    now: () => wallNow() + aheadMs,
    startNeighbour: async () => {
      const port = await testPort()
      const pastLinks = { PORT: String(port), DATABASE_URL: databaseUrl, PIXGATE_PARTNER_URL: bank.url }
      const server = keep(startServerProcess({ ...environment, ...pastLinks }))
      assert.ok(await server.ready)
      const url = `http://127.0.0.1:${port}`
      return { server, port, url, ...merchant(url, apiKey) }
    },
    ...merchant(url, apiKey),
    end: (id, ending) =>
      bank.control(`/charges/${id}/${ending}`, {}, ({ charges }) =>
        charges.some((charge) => charge.id === id && charge.status !== 'ACTIVE'),
      ),
  }
}

function bankAt(port: number, database: Database, startProcess: (port: number) => KillableProcess): Bank {
  const url = `http://127.0.0.1:${port}`
  let process = startProcess(port)
  const once = (method: string, path: string, body?: object) =>
    ask(`${url}/control${path}`, PARTNER_TOKEN, method, body)
  /** For what may happen twice. */
  async function insist(method: string, path: string, body?: object): Promise<Answer['body']> {
    for (;;) {
      const answer = await once(method, path, body)
      if (answer) return answer.body
      await realPause.for(RETRY_MS)
    }
  }
  const book = async () => underOurIds(database, await insist('GET', '/book'))
  return {
    url,
    book,
    process: () => process,
    start: () => {
      process = startProcess(port)
      return process
    },
    control: async (path, body, hasWorked) => {
      while (!hasWorked(await book())) {
        await once('POST', await underOrderIds(database, path), body)
        await realPause.for(RETRY_MS)
      }
    },
    issueCode: async (valueCents) => (await insist('POST', '/qr-codes', { valueCents })).pixCode,
    behave: (change) => insist('PUT', '/behavior', change),
  }
}

/** Whether the bank moved money of a kind for this id of ours. */
export function hasEntry(kind: string, reference: string): (book: BankBook) => boolean {
  return ({ entries }) => entries.some((entry) => entry.kind === kind && entry.reference === reference)
}

/** Kills what still runs. Where the test failed, it shows what the processes complained of. */
async function endProcesses(t: TestContext, processes: readonly KillableProcess[]): Promise<void> {
  for (const process of processes) process.kill()
  await Promise.all(processes.map(({ gone }) => gone))
  // Its type does not tell it yet.
  const { passed } = t as TestContext & { readonly passed: boolean }
  if (!passed) for (const complaint of processes.flatMap(({ complaints }) => complaints)) t.diagnostic(complaint)
}

/** Makes a key and registers a receiver. @returns the key */
async function openAccount(url: string, receiverUrl: string): Promise<string> {
  let made = await ask(`${url}/api-key/generate`, ADMIN_TOKEN, 'POST')
  // A process that has just started on a busy machine may be overloaded, and says so.
  while (made?.status === 503) made = await ask(`${url}/api-key/generate`, ADMIN_TOKEN, 'POST')
  assert.equal(made?.status, 201, JSON.stringify(made?.body))
  const { apiKey } = made.body
  const subscription = { url: `${receiverUrl}/pix`, events: eventTypes }
  const subscribed = await ask(`${url}/webhook`, apiKey, 'POST', subscription)
  assert.equal(subscribed?.status, 201, JSON.stringify(subscribed?.body))
  return apiKey
}

function merchant(url: string, apiKey: string): Merchant {
  async function insist(method: string, path: string, body?: object): Promise<Answer> {
    for (;;) {
      const answer = await ask(url + path, apiKey, method, body)
      if (answer && answer.status !== 503) return answer
      await realPause.for(RETRY_MS)
    }
  }

  async function place(path: string, body: object): Promise<Created> {
    const { status, body: answer } = await insist('POST', path, body)
    assert.ok(status === 201 || status === 409, JSON.stringify(answer))
    return { id: status === 201 ? answer.id : answer.existing.id, status }
  }

  async function read(id: string): Promise<Answer['body']> {
    const { status, body } = await insist('GET', `/api/pix/cash-in/${id}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }

  return {
    insist,
    place,
    read,
    charge: async ({ externalId, valueCents }) => {
      const created = await place('/api/pix/cash-in', { transaction: { value: valueCents / 100, externalId } })
      while (!(await read(created.id)).pixCode) await realPause.for(RETRY_MS)
      return created
    },
  }
}

/** One request. @returns `undefined` where nobody answered, or not to the end */
export async function ask(
  url: string,
  token: string,
  method: string,
  body?: object,
  more: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Answer | undefined> {
  try {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}), ...more },
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(signal && { signal }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text && JSON.parse(text) }
  } catch {
    return undefined
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
