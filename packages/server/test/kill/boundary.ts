import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { assertExactlyOnce, assertShown, type Ended, paidCharge } from '../support/exactly-once.ts'
import { type Created, type Link, type ProcessWorld, processWorld } from '../support/process-world.ts'
import { finished, type Milestone, type Progress, progress } from '../support/progress.ts'
import type { KillableProcess } from '../support/server-process.ts'
import type { Direction } from '../support/tcp-proxy.ts'

/**
 * A boundary is a message on one of the server's links. Who is to die there dies before the message gets across, and the
 * message with it: a request that is lost was never carried out, one whose answer is lost was.
 *
 * SQL statements are known by their name, the engine's one statement by the move that it makes, HTTP requests by their
 * first line.
 */
export interface Boundary {
  readonly name: string
  readonly link: Link
  /** What the request says. Where there are several, they follow one another and the last one is meant. */
  readonly request: string | readonly string[]
  /** Which message is lost: the request, or its answer. */
  readonly lost: Direction
  /** What the answer says, where not every answer is the one. */
  readonly answer?: string
  /** Who dies; the server unless it says otherwise. */
  readonly victim?: 'bank'
  /** What has happened when the victim is dead, and what has not. */
  readonly reached?: Milestone
  readonly missing?: Milestone
}

/** What a merchant, a payer or the bank does, and what must come of it. */
export interface Flow<Prepared> {
  /** Everything before, undisturbed; what comes of it counts too. @param n tells runs apart */
  prepare(world: ProcessWorld, n: number): Promise<{ readonly prepared: Prepared; readonly ended: readonly Ended[] }>
  /** What is disturbed: to the point from which nobody but the server and the bank have anything to do. */
  act(world: ProcessWorld, n: number, prepared: Prepared): Promise<Acted>
}

/** What was done. */
export interface Acted {
  /** Where the merchant asked for it: how, and what it was told. */
  readonly request?: { readonly path: string; readonly body: object; readonly created: Created }
  /** What must be the end of it, in place of what was prepared; it may have to be looked for. */
  ended(): Promise<Ended>
}

/** Later than every lease that a dead process leaves: 15 s for an intent, 60 s for an order or an event, 30 s for a delivery. */
const LATER_MS = 90_000

/** Ends a boundary at which something is waited for in vain. */
const TIMEOUT_MS = 90_000

/** What is under way when the victim dies takes less. */
const UNDER_WAY_MS = 20_000

const GLANCE_MS = 10

/** What merchants pay out from. */
const FUNDS_CENTS = 50_000_00

/**
 * Leads a flow over each boundary, in one world, whose merchant has money. A world in which a boundary was not survived is
 * not used again.
 */
export async function surviveEach<Prepared>(
  t: TestContext,
  boundaries: readonly Boundary[],
  flow: Flow<Prepared>,
): Promise<void> {
  let place: { readonly world: ProcessWorld; readonly ended: Map<string, Ended> } | undefined
  for (const [n, boundary] of boundaries.entries()) {
    await t.test(boundary.name, { timeout: TIMEOUT_MS }, async () => {
      const { world, ended } = place ?? (await funded(t))
      place = undefined
      const fresh = new Map((await survive(world, n, boundary, flow)).map((one) => [one.id, one]))
      for (const [id, one] of fresh) ended.set(id, one)
      await assertExactlyOnce(world, [...ended.values()])
      await assertShown(world, [...fresh.values()])
      place = { world, ended }
    })
  }
}

async function funded(t: TestContext) {
  const world = await processWorld(t)
  const order = { externalId: 'funds', valueCents: FUNDS_CENTS }
  const { id } = await world.charge(order)
  await world.end(id, 'pay')
  await finished(world)
  return { world, ended: new Map([[id, paidCharge({ ...order, id })]]) }
}

async function survive<Prepared>(
  world: ProcessWorld,
  n: number,
  boundary: Boundary,
  flow: Flow<Prepared>,
): Promise<readonly Ended[]> {
  const { prepared, ended } = await flow.prepare(world, n)
  await finished(world)
  const before = await progress(world)
  const { victim, reached, missing } = boundary

  async function comeBack(): Promise<void> {
    if (victim === 'bank') assert.ok(await world.bank.start().ready)
    const passed = await passedSince(before, boundary, world)
    if (missing !== undefined) assert.ok(!passed.has(missing), `${missing}: too late for this boundary`)
    if (victim === undefined) assert.ok(await world.start(LATER_MS).ready)
  }

  const gone = killAt(boundary, world)
  const [acted] = await Promise.all([flow.act(world, n, prepared), gone.then(comeBack)])
  await finished(world)
  const { request } = acted
  if (request) {
    if (missing === 'intent') assert.equal(request.created.status, 201)
    if (boundary.link === 'api' && reached !== undefined) assert.equal(request.created.status, 409)
    const again = await world.insist('POST', request.path, request.body)
    const { id, samePayload } = again.body.existing ?? {}
    assert.deepEqual([again.status, id, samePayload], [409, request.created.id, true])
  }
  return [...ended, await acted.ended()]
}

/**
 * What was passed since; waits for what the database or the bank was told just before, and has under way.
 * @throws Error where that was not to be reached by the boundary
 */
async function passedSince(
  before: Progress,
  { reached }: Boundary,
  world: ProcessWorld,
): Promise<ReadonlySet<Milestone>> {
  const begunAt = performance.now()
  for (;;) {
    const now = await progress(world)
    const milestones = Object.keys(now) as Milestone[]
    const passed = new Set(milestones.filter((milestone) => now[milestone] > before[milestone]))
    if (reached === undefined || passed.has(reached)) return passed
    if (performance.now() - begunAt > UNDER_WAY_MS) throw new Error(`${reached}: not reached by this boundary`)
    await realPause.for(GLANCE_MS)
  }
}

/**
 * Lets the victim die at a boundary. Resolves when it is dead.
 *
 * Of several requests those before the last are held until nothing that is like the last is under way: a claim that was asked
 * for before the rows were committed would otherwise find them or not, as it happens.
 */
function killAt({ link, request, lost, answer = '', victim }: Boundary, world: ProcessWorld): Promise<unknown> {
  const { links } = world
  const process: KillableProcess = victim === 'bank' ? world.bank.process() : world.latest()
  const before = [request].flat()
  const last = before.pop() ?? ''
  /** Connections on which the request is the last thing said, and those on which it was said too early. */
  const asking = new Set<number>()
  const early = unanswered()
  let passedOn: number | undefined
  /** A transaction is committed where it was begun; what others commit meanwhile is another one. */
  const says = (bytes: Buffer, what: string, connection: number) =>
    bytes.includes(what) && (what !== COMMIT || passedOn === undefined || connection === passedOn)
  links[link].judge = async (direction, bytes, connection) => {
    const [next] = before
    if (direction === 'response') early.answered(connection, bytes)
    else if (next === undefined) {
      if (says(bytes, last, connection)) asking.add(connection)
      else asking.delete(connection)
    } else if (says(bytes, next, connection)) {
      await early.none(connection)
      if (before[0] === next) before.shift()
      passedOn = connection
    } else if (bytes.includes(last)) early.asked(connection)
    if (direction !== lost || !asking.has(connection) || !bytes.includes(answer)) return 'pass'
    links[link].judge = () => 'pass'
    process.kill()
    return 'cut'
  }
  return process.gone
}

const COMMIT = 'transaction.commit'

/** PostgreSQL's ReadyForQuery, with which each answer ends; a byte with the state of the transaction follows. */
const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5])

/** Requests to PostgreSQL that wait for the end of their answers. */
function unanswered() {
  /** How the answer ends so far, by the connection. */
  const waiting = new Map<number, Buffer>()
  let wake: () => void = () => undefined
  return {
    asked: (connection: number) => void waiting.set(connection, Buffer.of()),
    answered: (connection: number, bytes: Buffer) => {
      const so = waiting.get(connection)
      if (so === undefined) return
      const end = Buffer.concat([so, bytes]).subarray(-READY_FOR_QUERY.length - 1)
      waiting.set(connection, end)
      if (end.subarray(0, -1).equals(READY_FOR_QUERY) && waiting.delete(connection)) wake()
    },
    /** Resolves when there are none but of this connection, which waits for itself. */
    none: async (but: number) => {
      waiting.delete(but)
      while (waiting.size > 0) await new Promise<void>((resolve) => (wake = resolve))
    },
  }
}
