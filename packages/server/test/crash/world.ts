import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Clock as BankClock, type SimulatorOptions, startSimulator } from '@pixgate/bank-simulator'
import type { OperatorRole } from '@pixgate/spec'
import type { Database } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { testDatabase } from '../support/database.ts'
import { ask, type BankBook } from '../support/process-world.ts'
import { type SteppedClock, steppedClock } from '../support/stepped-clock.ts'
import { type TcpProxy, tcpProxy, through } from '../support/tcp-proxy.ts'
import { unfinishedIn } from '../support/unfinished.ts'
import { ADMIN_TOKEN, type Answer, PARTNER_SECRET, PARTNER_TOKEN } from '../support/world.ts'
import { type Lifetime, type Node, startNode } from './node.ts'

/** A database, a bank, a node that stays, and nodes that die one after the other. Time is stepped. */
export interface CrashWorld {
  readonly database: Database
  readonly databaseUrl: string
  readonly clock: SteppedClock
  /** The one that stays. */
  readonly survivor: Node
  /** Starts one that may die. */
  start(t: Lifetime): Promise<Node>
  /** Whom the bank tells of events from now on, and whom merchants ask as long as it lives. */
  lead(node: Node): void
  /** Asks as the merchant until somebody answers and does not say «later». */
  insist(method: string, path: string, body?: object): Promise<Answer>
  /** Asks as somebody else, in the same way. */
  insistAs(token: string, method: string, path: string, body?: object, headers?: Headers): Promise<Answer>
  /** The token of an operator, who is made when there is none of this name. */
  operator(name: string, role: OperatorRole): Promise<string>
  /** Creates an operation, or is told that it was created before. @returns its id */
  place(path: string, body: object): Promise<string>
  /** Uses a control of the bank. */
  control(path: string, body?: object, method?: 'POST' | 'PUT'): Promise<Answer['body']>
  /** The bank's own account of what happened. */
  book(): Promise<BankBook>
  /** What is left to do, here and at the bank. */
  left(): Promise<readonly string[]>
  /** Resolves when nothing is left to do for anybody: time passes, and the survivor works. */
  finish(): Promise<void>
}

/** Between two tries of a merchant. */
const RETRY_MS = 5

/** The bank waits so many times faster than it says. */
const BANK_SPEED = 100

/** Time is put forward by so much, so often at most. */
const STEP_MS = 20_000
const STEPS_MAX = 200

/** What a merchant begins with. */
const FUNDS = { transaction: { value: 100_000, externalId: 'funds' } }

/** Builds one whose merchant has money; it goes with the test. @param options in what the bank differs */
export async function crashWorld(t: TestContext, options: BankOptions = {}): Promise<CrashWorld> {
  const { url: databaseUrl, database } = await testDatabase(t)
  const clock = steppedClock({ stands: true })
  const { url: bankUrl, events, control, book } = await startBank(t, clock, options)
  const ground = { databaseUrl, bankUrl, clock }
  const survivor = await startNode(t, ground)
  t.after(() => survivor.stop())
  let first = survivor
  const asked = () => (first.isDead() ? survivor : first)
  const lead: CrashWorld['lead'] = (node) => {
    first = node
    events.target = node.port
    events.cutAll()
  }
  lead(survivor)
  const { body } = await insistAs(ADMIN_TOKEN, asked, 'POST', '/api-key/generate')
  const insist: CrashWorld['insist'] = (...request) => insistAs(body.apiKey, asked, ...request)
  const operators = new Map<string, Promise<string>>()
  const left = async () => unfinished(database, await book())
  const world: CrashWorld = {
    ...{ database, databaseUrl, clock, survivor, left, lead, insist, control, book },
    insistAs: (token, ...request) => insistAs(token, asked, ...request),
    operator: (name, role) => {
      const known = operators.get(name) ?? makeOperator(survivor, name, role)
      operators.set(name, known)
      return known
    },
    start: (lifetime) => startNode(lifetime, ground),
    place: async (path, body) => {
      const { status, body: answer } = await insist('POST', path, body)
      assert.ok(status === 201 || status === 409, JSON.stringify(answer))
      return status === 201 ? answer.id : answer.existing.id
    },
    finish: async () => {
      for (let step = 0; step < STEPS_MAX; step += 1) {
        await survivor.work()
        if ((await left()).length === 0) return
        clock.advance(STEP_MS)
        await realPause.for(RETRY_MS)
      }
      throw new Error(`unfinished: ${await left()}`)
    },
  }
  const id = await world.place('/api/pix/cash-in', FUNDS)
  await control(`charges/${id}/pay`)
  await world.finish()
  return world
}

type Headers = Readonly<Record<string, string>>

type BankOptions = Pick<SimulatorOptions, 'hasIdempotentOrders'>

interface RunningBank extends Pick<CrashWorld, 'control' | 'book'> {
  readonly url: string
  /** Where its events go. */
  readonly events: TcpProxy
}

async function startBank(t: TestContext, clock: SteppedClock, options: BankOptions): Promise<RunningBank> {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-crash-world-'))
  const events = await tcpProxy(t, 0)
  const sleep: BankClock['sleep'] = (ms, signal) =>
    delay(ms / BANK_SPEED, undefined, { ref: false, ...(signal && { signal }) })
  const { url, stop } = await startSimulator({
    ...{ port: 0, dataDirectory: directory, token: PARTNER_TOKEN, secret: PARTNER_SECRET },
    eventsUrl: through(events),
    clock: { now: clock.now, sleep },
    warn: () => undefined,
    ...options,
  })
  t.after(async () => {
    await stop()
    await rm(directory, { recursive: true, force: true })
  })
  return {
    ...{ url, events },
    control: async (path, body = {}, method = 'POST') => {
      const answer = await ask(`${url}/control/${path}`, PARTNER_TOKEN, method, body)
      assert.ok(answer && answer.status < 300, JSON.stringify(answer?.body))
      return answer.body
    },
    book: async () => (await ask(`${url}/control/book`, PARTNER_TOKEN, 'GET'))?.body,
  }
}

async function makeOperator(survivor: Node, name: string, role: OperatorRole): Promise<string> {
  const { status, body } = await insistAs(ADMIN_TOKEN, () => survivor, 'POST', '/operator/operators', { name, role })
  assert.equal(status, 201, JSON.stringify(body))
  return body.token
}

/** Asks until somebody answers and does not say «later». @param asked who is asked now */
async function insistAs(
  token: string,
  asked: () => Node,
  ...[method, path, body, headers]: [...Parameters<CrashWorld['insist']>, headers?: Headers]
): Promise<Answer> {
  for (;;) {
    const answer = await ask(asked().url + path, token, method, body, headers)
    if (answer && answer.status !== 503) return answer
    await realPause.for(RETRY_MS)
  }
}

/** Nobody steps deliveries here: that notifications are there is looked at, and that they arrive is for other tests. */
async function unfinished(database: Database, { events, payouts, refunds }: BankBook): Promise<readonly string[]> {
  const atTheBank = [...payouts, ...refunds].filter(({ status }) => status === 'PROCESSING').map(({ id }) => id)
  const untold = events.pending.map((event) => JSON.stringify(event))
  return [...(await unfinishedIn(database)), ...atTheBank, ...untold]
}
