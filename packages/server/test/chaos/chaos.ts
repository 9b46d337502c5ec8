import { chmod, mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventTypes } from '@pixgate/spec'
import type { Database } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { chanceOf } from '../fuzz/chance.ts'
import { bookAt } from '../support/bank-book.ts'
import { openTestDatabase } from '../support/database.ts'
import { ask } from '../support/process-world.ts'
import { wallNow } from '../support/wall-clock.ts'
import { ADMIN_TOKEN, PARTNER_TOKEN } from '../support/world.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { createFeedReader } from './feed.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { setGuard } from './guard.ts'
import type { MerchantRequest, Reply, SwitchSet } from './history.ts'
import { type Finding, judge } from './judge.ts'
import { ActsOver, act } from './load.ts'
import { createMerchant, exchange } from './merchant.ts'
import {
  type BankKind,
  type ConnectorName,
  dosesOf,
  type Fault,
  isTruthful,
  liesOf,
  planOf,
  quietAfterMs,
  WELL_BEHAVED,
} from './plan.ts'
import { becomeQuiet } from './quiet.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { Stopping } from './stopping.ts'
import { readBooks, sessionsAt, terminate } from './store.ts'

/** How chaos is done. */
export interface ChaosOptions {
  readonly seed: number
  readonly connector: ConnectorName
  readonly bankKind: BankKind
  /** How long things go wrong; what follows takes as long as it takes, within bounds. */
  readonly forMs: number
  /** Where the database and the bank's book are kept; by default nowhere, in the end. */
  readonly keepIn?: string
  readonly onProgress?: (what: string) => void
}

/** What came of it. */
export interface ChaosReport {
  readonly seed: number
  readonly connector: ConnectorName
  readonly bankKind: BankKind
  /** How often each kind of fault was planned. */
  readonly faults: Readonly<Record<string, number>>
  readonly restarts: number
  /** How often the bank told each lie, since it was last started. */
  readonly lies: Readonly<Record<string, number>>
  /** How many requests of each kind there were, and what was answered how often. */
  readonly asked: Readonly<Record<string, number>>
  readonly operations: Readonly<Record<string, number>>
  readonly openCases: Readonly<Record<string, number>>
  /** What the service complained of. */
  readonly complaints: ReadonlyMap<string, number>
  /** Whether everything was done in time; `undefined`, or what was left. */
  readonly unfinished: string | undefined
  readonly findings: readonly Finding[]
}

/** Everything that was started. */
interface World {
  readonly cluster: Cluster
  readonly fleet: Fleet
  readonly liar: ReturnType<typeof lyingBank>
  readonly receiver: Receiver
  readonly database: Database
  readonly stopping: Stopping
}

const SWITCH = '/operator/cash-out-switch'

const OPENING_CENTS = 50_000

/** Lets things go wrong for a time, then lets everything come to its end, and judges. Leaves nothing behind. */
export async function chaos(options: ChaosOptions): Promise<ChaosReport> {
  const directory = options.keepIn ?? (await mkdtemp(join(tmpdir(), 'pixgate-chaos-')))
  await mkdir(directory, { recursive: true })
  await chmod(directory, 0o711)
  const folder = join(directory, 'database', 'postgres')
  const guard = setGuard(directory, folder, options.keepIn !== undefined)
  const ends: (() => unknown)[] = [() => guard.dismiss()]
  try {
    return await inWorld(options, directory, ends)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

/** Starts everything. @param ends gets what ends it, in that order, also where the start fails halfway */
async function startWorld(
  { seed, connector, bankKind }: ChaosOptions,
  directory: string,
  ends: (() => unknown)[],
): Promise<World> {
  const stopping = new Stopping()
  const cluster = await startCluster(join(directory, 'database'))
  ends.push(() => cluster.stop())
  const receiver = await startReceiver(chanceOf(seed, 3))
  ends.push(() => receiver.close())
  const liar = lyingBank(seed, liesOf(bankKind, connector))
  const fleet = await startFleet({
    directory,
    databaseUrl: cluster.url,
    connector,
    bankKind,
    onBankReady: liar.restarted,
  })
  ends.push(() => fleet.stop())
  ends.push(() => stopping.goOn())
  await fleet.ready()
  await fleet.register()
  await liar.begin(fleet.bankUrl)
  const database = openTestDatabase(cluster.url)
  ends.push(() => database.close())
  return { cluster, fleet, liar, receiver, database, stopping }
}

async function inWorld(options: ChaosOptions, directory: string, ends: (() => unknown)[]): Promise<ChaosReport> {
  const { seed, connector, bankKind, forMs, onProgress = () => undefined } = options
  const world = await startWorld(options, directory, ends)
  const { cluster, fleet, liar, receiver, database } = world
  const lies = new Map<number, Counts>()
  const [{ bankUrl }, apiKey] = [fleet, await openAccount(world)]
  const [history, switchSets]: [MerchantRequest[], SwitchSet[]] = [[], []]
  const merchant = createMerchant({
    ...{ apiUrls: fleet.apiUrls, apiKey, adminToken: ADMIN_TOKEN, history },
    chance: chanceOf(seed, 4),
  })
  const feed = createFeedReader(fleet.apiUrls, apiKey, chanceOf(seed, 6))
  await merchant.place(
    'adjustment',
    '/operator/adjustments',
    { valueCents: OPENING_CENTS, reason: 'opening' },
    'opening',
  )
  onProgress('things go wrong')
  const plan = planOf(seed, forMs, bankKind)
  const endsAt = wallNow() + forMs
  const pause = async (ms: number) => {
    if (wallNow() + ms > endsAt) throw new ActsOver()
    await realPause.for(ms)
  }
  await Promise.all([
    act({ ...{ seed, merchant, bankUrl, database }, isIrregular: !isTruthful(bankKind), pause }),
    operate(world, switchSets, seed, pause),
    feed.follow(pause),
    inject(world, plan, endsAt - forMs),
    countLies(bankUrl, liar.generation, lies, pause),
  ])

  onProgress('everything becomes good')
  liar.end()
  await becomeGood(world)
  const isSwitchedOn = await readSwitch(fleet)
  await switchOn(fleet)
  const quiet = { quietAfterMs: quietAfterMs(connector), lift: () => lift(fleet) }
  const unfinished = await becomeQuiet({ ...world, ...quiet, bankUrl, onProgress })

  await feed.readToEnd()
  const [book, books] = [await bookAt(bankUrl, database), await readBooks(database, cluster.url)]
  const evidence = { bankKind, book, history, switchSets, received: receiver.received, feed: feed.events }
  const findings = judge({ ...evidence, books: { ...books, isSwitchedOn } })
  const openCases = books.cases.filter(({ isOpen }) => isOpen)
  return {
    ...{ seed, connector, bankKind, faults: dosesOf(plan), restarts: fleet.restarts, lies: sumOf([...lies.values()]) },
    asked: countBy(history, ({ kind, replies }) => `${kind} ${outcomeOf(replies.at(-1))}`),
    operations: countBy(books.operations, ({ kind, status }) => `${kind} ${status}`),
    openCases: countBy(openCases, ({ kind }) => kind),
    ...{ complaints: fleet.complaints(), unfinished, findings },
  }
}

/** A bank that begins to lie when it is told to, and again whenever it was started, until it is told to stop. */
function lyingBank(seed: number, perThousand: Counts) {
  let [generation, isLying] = [0, false]
  const lie = (url: string) => {
    const begun = generation
    // One that was killed meanwhile is told when it is there again.
    const isWanted = () => isLying && generation === begun
    return configureBank(url, 'lies', { seed: seed + generation, perThousand }, isWanted)
  }
  return {
    /** How often it was started. */
    generation: () => generation,
    begin: async (url: string) => {
      isLying = true
      await lie(url)
    },
    restarted: async (url: string) => {
      generation += 1
      if (isLying) await lie(url)
    },
    end: () => {
      isLying = false
    },
  }
}

/** Nothing is stopped any more, and bank and receiver do as they should. */
async function becomeGood({ fleet, receiver, stopping }: World): Promise<void> {
  stopping.goOn()
  await stopping.over()
  await fleet.ready()
  await configureBank(fleet.bankUrl, 'lies', {})
  await configureBank(fleet.bankUrl, 'behavior', WELL_BEHAVED)
  receiver.behave()
}

/** Lets the planned faults happen, each at its time. */
async function inject(world: World, plan: ReturnType<typeof planOf>, startedAt: number): Promise<void> {
  for (const { atMs, ...fault } of plan) {
    const waitMs = startedAt + atMs - wallNow()
    if (waitMs > 0) await realPause.for(waitMs)
    await happen(world, fault)
  }
}

async function happen({ cluster, fleet, stopping }: World, fault: Fault): Promise<void> {
  switch (fault.kind) {
    case 'kill':
      return fleet.kill(fault.process)
    case 'stop': {
      const pid = fleet.pidOf(fault.process)
      return pid === undefined ? undefined : stopping.stop(pid, fault.forMs)
    }
    case 'stop backend':
    case 'terminate backend': {
      const pids = await sessionsAt(cluster.url)
      const pid = pids[fault.backend % Math.max(1, pids.length)]
      if (pid === undefined) return
      return fault.kind === 'stop backend' ? stopping.stop(pid, fault.forMs) : terminate(cluster.url, pid)
    }
    case 'restart database':
      // A stopped session would not let it end.
      stopping.goOn()
      return cluster.restart(fault.mode)
    case 'time passes':
      // One that is stopped would be late.
      return stopping.isAnyStopped ? undefined : fleet.advance(fault.ms)
    case 'bank behaves':
      return configureBank(fleet.bankUrl, 'behavior', fault.change).catch(() => undefined)
  }
}

/** An operator who switches payouts off and on again now and then. */
async function operate(
  { fleet }: World,
  sets: SwitchSet[],
  seed: number,
  pause: (ms: number) => Promise<void>,
): Promise<void> {
  const chance = chanceOf(seed, 5)
  const urls = () => chance.pick(fleet.apiUrls)
  try {
    for (;;) {
      await pause(1_000 + chance.below(4_000))
      const reply = await setSwitch(urls(), false, 'chaos')
      const off = sets.push({ enabled: false, reply }) - 1
      await pause(chance.below(600))
      const stands = await exchange(`${urls()}${SWITCH}`, ADMIN_TOKEN, 'GET')
      sets[off] = { enabled: false, reply, stoodLater: stands?.body?.enabled }
      sets.push({ enabled: true, reply: await setSwitch(urls(), true, 'chaos') })
    }
  } catch (error) {
    if (!(error instanceof ActsOver)) throw error
  }
}

/** Looks now and then how often the bank lied: it forgets that when it is killed. */
async function countLies(
  url: string,
  generation: () => number,
  lies: Map<number, Counts>,
  pause: (ms: number) => Promise<void>,
): Promise<void> {
  try {
    for (;;) {
      await pause(500)
      const answer = await exchange(`${url}/control/lies`, PARTNER_TOKEN, 'GET')
      if (answer?.body?.told) lies.set(generation(), answer.body.told)
    }
  } catch (error) {
    if (!(error instanceof ActsOver)) throw error
  }
}

async function setSwitch(url: string, enabled: boolean, reason: string): Promise<SwitchSet['reply']> {
  const answer = await exchange(`${url}${SWITCH}`, ADMIN_TOKEN, 'PUT', { enabled, reason })
  return answer ? { status: answer.status, ...(answer.body?.code && { code: answer.body.code }) } : 'lost'
}

/** Nothing disturbs it any more; what was asked before may still compete. */
async function switchOn(fleet: Fleet): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    const reply = await setSwitch(fleet.apiUrls[0] as string, true, 'the end')
    if (reply !== 'lost' && reply.status === 200) return
    await realPause.for(100)
  }
  throw new Error('payouts cannot be switched on again')
}

/** Whoever has looked at what the trip wire found puts payouts on again. */
async function lift(fleet: Fleet): Promise<void> {
  if (!(await readSwitch(fleet))) await switchOn(fleet)
}

async function readSwitch(fleet: Fleet): Promise<boolean> {
  for (;;) {
    const answer = await exchange(`${fleet.apiUrls[0]}${SWITCH}`, ADMIN_TOKEN, 'GET')
    if (answer?.status === 200) return answer.body.enabled
    await realPause.for(100)
  }
}

/** Makes a key and registers the receiver. @returns the key */
async function openAccount({ fleet, receiver }: World): Promise<string> {
  const [url] = fleet.apiUrls
  const { apiKey } = await insist(`${url}/api-key/generate`, ADMIN_TOKEN)
  await insist(`${url}/webhook`, apiKey, { url: `${receiver.url}/pix`, events: eventTypes })
  return apiKey
}

/** Asks until it is made: a process that has just started on a busy machine may say «later». */
async function insist(url: string, token: string, body?: object) {
  for (let tries = 0; tries < 50; tries++) {
    const answer = await ask(url, token, 'POST', body)
    if (answer?.status === 201) return answer.body
    await realPause.for(200)
  }
  throw new Error(`${url} is not answered 201`)
}

/** With a pause of 200 ms between: a bank that was killed has been started again by then, also on a busy machine. */
const CONFIGURE_TRIES = 300

/** Sets it, again where no answer comes, as long as it is wanted: it may be stopped just now. @throws Error where the bank does not take it */
async function configureBank(
  url: string,
  what: 'lies' | 'behavior',
  body: object,
  isWanted = () => true,
): Promise<void> {
  for (let tries = 0; tries < CONFIGURE_TRIES; tries++) {
    if (!isWanted()) return
    const answer = await ask(`${url}/control/${what}`, PARTNER_TOKEN, 'PUT', body, {}, AbortSignal.timeout(5_000))
    if (answer?.status === 200) return
    if (answer !== undefined) throw new Error(`the bank does not take ${what}: ${JSON.stringify(answer.body)}`)
    await realPause.for(200)
  }
  throw new Error(`the bank does not answer to ${what}`)
}

function outcomeOf(reply: Reply | undefined): string {
  return reply === undefined || reply === 'lost' ? 'lost' : `${reply.status}${reply.code ? ` ${reply.code}` : ''}`
}

type Counts = Readonly<Record<string, number>>

function sumOf(all: readonly Counts[]): Counts {
  const sum: Record<string, number> = {}
  for (const [what, count] of all.flatMap((counts) => Object.entries(counts))) sum[what] = (sum[what] ?? 0) + count
  return sum
}

function countBy<T>(list: readonly T[], keyOf: (one: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const one of list) counts[keyOf(one)] = (counts[keyOf(one)] ?? 0) + 1
  return counts
}
