import { join } from 'node:path'
import { limits } from '@pixgate/spec'
import { type After, type Benchmark, type BenchmarkOptions, scoped, type Target } from './benchmark.ts'
import { type Call, type CallerLoad, type Callers, startCallers } from './callers.ts'
import { storeCharges } from './charges.ts'
import {
  bankPidOf,
  type Cost,
  type Measured,
  measureCost,
  medianCost,
  WATCHED,
  type Watched,
  watchDatabase,
} from './cost.ts'
import { inRounds, median } from './measure.ts'
import { paidCharges } from './paid-charges.ts'
import { fund } from './payouts.ts'
import { type Pixgate, startPixgate } from './pixgate.ts'
import { temporaryDirectory } from './postgres.ts'
import { startBareFastify } from './yardstick.ts'

const ROUNDS = 3

/** How many payments are made at each number of callers: some seconds' worth. */
const PAYMENTS: Readonly<Record<number, number>> = { 1: 300, 16: 1_500, 64: 4_000, 256: 4_000 }

/** Requests are over so soon that it takes more of them for the kernel to count. */
const REQUESTS = 20_000

const WARM_UP = 0.25

/** Charges of which one after the other is read: in no cache of the service. */
const STORED = 100_000

/** What life is lived under: every limit is looked at and none is met. */
export const LIMITED = {
  PIXGATE_RATE_LIMIT_PER_MINUTE: '1000000',
  PIXGATE_PAYMENT_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_HOUR_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_DAY_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_NIGHT_MAX_CENTS: String(limits.valueMaxCents),
  // Who is paid was paid before, by one payout: of a new recipient only so many payouts are counted.
  PIXGATE_NEW_RECIPIENT_MAX_CENTS: String(limits.valueMaxCents),
  PIXGATE_NEW_RECIPIENT_HOURS: '0',
  // As by default. Charges are so small that few reach it.
  PIXGATE_UNVERIFIED_CREDITS_MAX_CENTS: '1000000',
}

/**
 * What a payment costs, by process: each kind of payment by our own protocol at the simulated bank, as `npm start` runs it, and
 * as multiples of what the bare server's answer to such a request costs it.
 */
export const life: Benchmark = {
  name: 'life',
  summary: 'what a payout, a charge, a refund costs from its creation to its notification, by process',
  options: ['rounds', 'callers', 'of'],
  run: async (after, options) => {
    const lines: Line[] = []
    for (const subject of subjects) {
      if (options.of?.includes(subject.call) === false) continue
      lines.push(...(await scoped(after, (afterwards) => linesOf(afterwards, subject, options))))
    }
    return { figures: lines.map(figureOf), targets: targetsOf(lines) }
  },
}

/** What is measured on a service of its own, so that nothing is left of the one before. */
interface Subject {
  readonly call: Call
  /** The request of the bare server. */
  readonly bare: Call
  readonly callers: readonly number[]
  /** Whether only a process that answers requests is there. */
  readonly isApi?: boolean
  /** @returns ids of charges, where the call is about some */
  prepare(pixgate: Pixgate, callers: Callers): Promise<readonly string[] | undefined>
}

const LIFE_CALLERS = [1, 16, 64, 256] as const

async function funded(pixgate: Pixgate, callers: Callers): Promise<undefined> {
  const { url, apiKey } = pixgate
  await fund(pixgate)
  await callers.run({ call: 'payout', url, apiKey, callers: 1, payments: 1 })
}

const subjects: readonly Subject[] = [
  { call: 'payout', bare: 'payout created', callers: LIFE_CALLERS, prepare: funded },
  { call: 'charge', bare: 'charge created', callers: LIFE_CALLERS, prepare: async () => undefined },
  { call: 'refund', bare: 'refund created', callers: LIFE_CALLERS, prepare: paidCharges },
  { call: 'payout created', bare: 'payout created', callers: [64], isApi: true, prepare: funded },
  {
    call: 'GET by id',
    bare: 'charge created',
    callers: [64],
    prepare: async (pixgate) => (await storeCharges(pixgate, STORED)).map(({ id }) => id),
  },
]

/** One line of the table: a measurement of each round, and the bare server's of the same round. */
interface Line {
  readonly name: string
  readonly rounds: readonly { readonly measured: Measured; readonly bareUs: number }[]
}

async function linesOf(after: After, subject: Subject, options: BenchmarkOptions): Promise<Line[]> {
  const bare = await startBareFastify(after)
  const log = join(await temporaryDirectory(after), 'log')
  const pixgate = await startPixgate(after, { settings: LIMITED, postgres: WATCHED, log })
  const callers = await startCallers(after)
  const database = await watchDatabase(after, pixgate)
  await callers.subscribeTo(pixgate)
  const charges = await subject.prepare(pixgate, callers)
  if (subject.isApi) await pixgate.stop()
  const { url, pid, apiKey } = subject.isApi ? await pixgate.startApi() : pixgate
  await database.client.query('CHECKPOINT')

  const loadOf = (count: number): CallerLoad => ({
    ...{ call: subject.call, url, apiKey, callers: count, payments: paymentsOf(subject, count) },
    ...(charges && { charges }),
  })
  const bareLoad = { ...loadOf(64), call: subject.bare, url: bare.url, payments: REQUESTS }
  const counts = subject.callers.filter((count) => options.callers?.includes(count) ?? true)
  const bankPid = subject.isApi ? undefined : bankPidOf(pixgate)
  const watched = { serverPid: pid, clientPid: callers.pid, bankPid, database }
  const watchedBare = { serverPid: bare.pid, clientPid: callers.pid }
  const rounds = await inRounds(options.rounds ?? ROUNDS, async () => {
    const byCallers: Measured[] = []
    const measuredBare = await measureWarm(callers, watchedBare, bareLoad)
    for (const count of counts) byCallers.push(await measureWarm(callers, watched, loadOf(count)))
    return { bare: measuredBare, byCallers }
  })
  return [
    lineOf(`bare ${subject.bare}, 64`, rounds, ({ bare }) => bare),
    ...counts.map((count, index) =>
      lineOf(`${subject.call}, ${count}`, rounds, ({ byCallers }) => byCallers[index] as Measured),
    ),
  ]
}

function paymentsOf({ call }: Subject, callers: number): number {
  return call === 'payout created' || call === 'GET by id' ? REQUESTS : (PAYMENTS[callers] ?? callers * 20)
}

async function measureWarm(callers: Callers, watched: Watched, load: CallerLoad): Promise<Measured> {
  await callers.run({ ...load, payments: Math.ceil(load.payments * WARM_UP) })
  return measureCost(watched, load.payments, () => callers.run(load))
}

interface Round {
  readonly bare: Measured
  readonly byCallers: readonly Measured[]
}

function lineOf(name: string, rounds: readonly Round[], pick: (round: Round) => Measured): Line {
  return { name, rounds: rounds.map((round) => ({ measured: pick(round), bareUs: round.bare.serverUs })) }
}

const PROCESSES = { server: 'serverUs', postgres: 'postgresUs', bank: 'bankUs', client: 'clientUs' } as const

/** What a process spends on a payment as a multiple of the bare answer: the median of the rounds' ratios. */
function multiple({ rounds }: Line, process: keyof typeof PROCESSES): number {
  return median(rounds.map(({ measured, bareUs }) => measured[PROCESSES[process]] / bareUs))
}

function figureOf(line: Line) {
  return {
    'who, callers': line.name,
    'server ×': multiple(line, 'server'),
    'postgres ×': multiple(line, 'postgres'),
    'bank ×': multiple(line, 'bank'),
    'client ×': multiple(line, 'client'),
    ...medianCost(line.rounds.map(({ measured }) => measured)),
  }
}

function targetsOf(lines: readonly Line[]): Target[] {
  const lineOfName = (name: string) => lines.filter((line) => line.name === name)
  const multiples = (name: string, server: number, postgres: number) =>
    lineOfName(name).flatMap((line) => [
      { what: `${name}: the server's CPU time, of the bare answer`, value: multiple(line, 'server'), atMost: server },
      { what: `${name}: PostgreSQL's, of the bare answer`, value: multiple(line, 'postgres'), atMost: postgres },
    ])
  const cost = (name: string, figure: keyof Cost, what: string, atMost: number) =>
    lineOfName(name).map(({ rounds }) => ({
      ...{ what: `${name}: ${what}`, atMost },
      value: medianCost(rounds.map(({ measured }) => measured))[figure],
    }))
  return [
    ...multiples('payout, 64', 7, 4),
    ...multiples('charge, 64', 9, 5),
    ...multiples('GET by id, 64', 1.4, 0.5),
    ...multiples('payout created, 64', 2.2, 1.8),
    ...cost('payout, 64', 'walBytes', 'bytes of PostgreSQL’s log', 8_000),
    ...cost('payout, 64', 'statementUs', 'microseconds of statements', 700),
  ]
}
