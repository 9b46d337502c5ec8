import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { OperatorRole } from '@pixgate/spec'
import type { Database } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { balances } from '../support/books.ts'
import { testDatabase } from '../support/database.ts'
import { ask } from '../support/process-world.ts'
import { type SteppedClock, steppedClock } from '../support/stepped-clock.ts'
import { unfinishedIn } from '../support/unfinished.ts'
import { ADMIN_TOKEN, type Answer } from '../support/world.ts'
import { type BankOptions, type CrashBank, startBank } from './bank.ts'
import { type Lifetime, type Node, startNode } from './node.ts'

/** A database, a bank, a node that stays, and nodes that die one after the other. Time is stepped. */
export interface CrashWorld extends Pick<CrashBank, 'control' | 'book' | 'assertOfTheStandard'> {
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
  /** What is left to do, here and at the bank. */
  left(): Promise<readonly string[]>
  /** Resolves when nothing is left to do for anybody: time passes, and the survivor works. */
  finish(): Promise<void>
}

/** Between two tries of a merchant. */
const RETRY_MS = 5

/** Time is put forward by so much, by more after so many steps, so often at most: some lists of a bank are read every hour. */
const STEP_MS = 20_000
const STEPS_ALIKE = 20
const STEPS_MAX = 200

/** What a merchant begins with. */
const FUNDS = { transaction: { value: 100_000, externalId: 'funds' } }

/** Builds one whose merchant has money; it goes with the test. @param options in what the bank differs */
export async function crashWorld(t: TestContext, options: Omit<BankOptions, 'database'> = {}): Promise<CrashWorld> {
  const { url: databaseUrl, database } = await testDatabase(t)
  const clock = steppedClock({ stands: true })
  const bank = await startBank(t, clock, { ...options, database })
  const { events, control, book, assertOfTheStandard } = bank
  const ground = { databaseUrl, bank, clock }
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
  await bank.register(survivor.settings)
  const { body } = await insistAs(ADMIN_TOKEN, asked, 'POST', '/api-key/generate')
  const insist: CrashWorld['insist'] = (...request) => insistAs(body.apiKey, asked, ...request)
  const operators = new Map<string, Promise<string>>()
  // Nobody steps deliveries here: that notifications are there is looked at, and that they arrive is for other tests.
  const left = async () => {
    const underWay = [...(await unfinishedIn(database)), ...(await bank.left())]
    return bank.tellsAll || (await heldOf(database, bank)).isAlike ? underWay : [...underWay, 'the books differ']
  }
  const world: CrashWorld = {
    ...{ database, databaseUrl, clock, survivor, left, lead, insist, control, book, assertOfTheStandard },
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
        clock.advance(STEP_MS * (1 + Math.floor(step / STEPS_ALIKE)))
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

/** What the bank holds, and what our books say that it holds. */
export async function heldOf(database: Database, { book }: Pick<CrashBank, 'book'>) {
  const [{ availableCents }, { settlement = 0n }] = [await book(), await balances(database)]
  return { there: BigInt(availableCents), here: -settlement, isAlike: BigInt(availableCents) === -settlement }
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
