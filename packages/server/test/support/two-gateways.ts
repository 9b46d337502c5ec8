import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Simulator, startSimulator } from '@pixgate/bank-simulator'
import { pino } from 'pino'
import { createService, type Service } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { assertBooks, balances } from './books.ts'
import { testDatabase } from './database.ts'
import { underOrderIds } from './order-ids.ts'
import { testPort } from './port.ts'
import { unfinishedIn } from './unfinished.ts'
import { until } from './until.ts'
import { ADMIN_TOKEN, type Answer, ENVIRONMENT, PARTNER_SECRET, PARTNER_TOKEN, request } from './world.ts'

/**
 * Two services on one database and one bank, each with an engine, a cache and pools of its own, and a merchant who calls
 * both over real HTTP. Neither has workers before the end: what is set aside stays set aside.
 */
export interface TwoGateways {
  readonly database: Database
  readonly bank: Simulator
  /** Sends all at the same time, every other one to the other service. @returns the answers, in the same order */
  race(requests: readonly Request[]): Promise<Answer[]>
  /** Sends one request, which must succeed. */
  send(request: Request): Promise<Answer['body']>
  /** Lets the bank do something. @returns its answer */
  atTheBank(request: Request): Promise<Answer['body']>
  /** Charges of these centavos that were paid and are booked. @returns their ids */
  paid(...valuesCents: number[]): Promise<string[]>
  /** Starts the workers of both: resolves when the bank has carried out all that was set aside and both books agree. */
  settle(): Promise<void>
}

/** What a merchant asks for. */
export interface Request {
  readonly method?: string
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** Builds both; they go with the test. `environment` is configuration. */
export async function twoGateways(t: TestContext, environment: Record<string, string> = {}): Promise<TwoGateways> {
  const started: (() => Promise<unknown>)[] = []
  t.after(async () => {
    for (const stop of started.reverse()) await stop()
  })
  const { url: databaseUrl, database } = await testDatabase(t)
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-two-services-'))
  started.push(() => rm(directory, { recursive: true, force: true }))
  const ports = [await testPort(), await testPort()]
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const bank = await startSimulator({
    port: 0,
    dataDirectory: directory,
    token: PARTNER_TOKEN,
    secret: PARTNER_SECRET,
    eventsUrl: urls[0] as string,
  })
  started.push(() => bank.stop())
  const addresses = { DATABASE_URL: databaseUrl, PIXGATE_PARTNER_URL: bank.url }
  const services: Service[] = []
  for (const port of ports) {
    const service = await serviceAt({ ...addresses, ...environment })
    started.push(() => service.stop())
    await service.http.listen({ host: '127.0.0.1', port })
    services.push(service)
  }
  const { apiKey } = await accepted(ask(`${urls[0]}/api-key/generate`, ADMIN_TOKEN, { method: 'POST', path: '' }))
  let [turns, charges] = [0, 0]
  const call = (asked: Request) => {
    turns += 1
    return ask(`${urls[turns % urls.length]}${asked.path}`, apiKey, asked)
  }
  const atTheBank: TwoGateways['atTheBank'] = async (request) =>
    accepted(ask(bank.url + (await underOrderIds(database, request.path)), PARTNER_TOKEN, request))
  const send: TwoGateways['send'] = (request) => accepted(call(request))
  async function paid(valueCents: number): Promise<string> {
    charges += 1
    const transaction = { value: valueCents / 100, externalId: `charge-${charges}` }
    const { id } = await send({ method: 'POST', path: '/api/pix/cash-in', body: { transaction } })
    await atTheBank({ method: 'POST', path: `/control/charges/${id}/pay`, body: {} })
    await until(async () => (await send({ path: `/api/pix/cash-in/${id}` })).status === 'PAID')
    return id
  }
  return {
    database,
    bank,
    race: (requests) => Promise.all(requests.map(call)),
    send,
    atTheBank,
    paid: (...valuesCents) => Promise.all(valuesCents.map(paid)),
    settle: async () => {
      for (const service of services) service.startWorkers()
      await until(async () => !(await isSending(database)))
      const { settlement = 0n } = await balances(database)
      assert.equal(BigInt((await atTheBank({ path: '/balance' })).availableCents), -settlement)
      await assertBooks(database)
    },
  }
}

function serviceAt(environment: Record<string, string>): Promise<Service> {
  return createService({
    config: readConfig({ ...ENVIRONMENT, ...environment }),
    clock: createDatabaseClock(),
    pause: realPause,
    random: Math.random,
    logger: pino({ level: 'silent' }),
  })
}

/** Whether money is on its way out. What goes back from suspense is not reserved. */
async function isSending(database: Database): Promise<boolean> {
  if ((await balances(database)).reserved !== undefined) return true
  return (await unfinishedIn(database)).some((what) => what.startsWith('refund_in '))
}

function ask(url: string, token: string, { method = 'GET', body, headers }: Request): Promise<Answer> {
  return request(url, token, method, body, headers)
}

async function accepted(answer: Promise<Answer>): Promise<Answer['body']> {
  const { status, body } = await answer
  assert.ok(status >= 200 && status < 300, JSON.stringify(body))
  return body
}
