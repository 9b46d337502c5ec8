import { setTimeout as delay } from 'node:timers/promises'
import { againstCheckout } from './against.ts'
import { type After, type Benchmark, type BenchmarkOptions, scoped, type Target } from './benchmark.ts'
import { type Cost, type Measured, measureCost, medianCost } from './cost.ts'
import { type Subject, startLiving, subjects } from './lives.ts'
import { inRounds, median, NOBODY_SAW } from './measure.ts'
import { measureRows } from './rows.ts'
import { startBareFastify } from './yardstick.ts'

const ROUNDS = 3

/** What a service does by itself is a part of what a payment costs: the larger, the fewer there are in a second. */
const IDLE_S = 10

/**
 * What a payment costs, by process: each kind of payment by our own protocol at the simulated bank, as `npm start` runs it, and
 * as multiples of what the bare server's answer to such a request costs it.
 */
export const life: Benchmark = {
  name: 'life',
  summary: 'what a payout, a charge, a refund costs from its creation to its notification, by process',
  options: ['rounds', 'callers', 'of', 'against'],
  run: async (after, options) => {
    if (options.against !== undefined) return againstCheckout(after, options.against, options)
    const lines: Line[] = []
    for (const subject of subjects) {
      if (options.of?.includes(subject.call) === false) continue
      lines.push(...(await scoped(after, (afterwards) => linesOf(afterwards, subject, options))))
    }
    return { figures: lines.map(figureOf), targets: targetsOf(lines) }
  },
}

/** One line of the table: a measurement of each round, and the bare server's of the same round. */
interface Line {
  readonly name: string
  readonly rounds: readonly { readonly measured: Measured; readonly bareUs: number }[]
}

async function linesOf(after: After, subject: Subject, options: BenchmarkOptions): Promise<Line[]> {
  const bare = await startBareFastify(after)
  const living = await startLiving(after, subject)
  const exchanges = await subject.exchanges?.(after, living.callers)
  const idle = await measureCost(living.watched, IDLE_S, async () => {
    await delay(IDLE_S * 1_000)
    return NOBODY_SAW
  })
  const counts = subject.callers.filter((count) => options.callers?.includes(count) ?? true)
  const rounds = await inRounds(options.rounds ?? ROUNDS, async () => {
    const measuredBare = await living.measureAt(bare, subject.bare)
    const ofExchanges = exchanges && (await living.measureAt(exchanges, subject.call))
    const byCallers: Measured[] = []
    for (const count of counts) byCallers.push(await living.measure(count))
    return { bare: measuredBare, exchanges: ofExchanges, byCallers }
  })
  const rows = subject.hasRows && (await measureRows(living))
  return [
    lineOf(`bare ${subject.bare}, 64`, rounds, ({ bare }) => bare),
    ...(exchanges
      ? [lineOf(`exchanges of a ${subject.call} alone, 64`, rounds, (round) => round.exchanges as Measured)]
      : []),
    ...(rows ? [lineOf(`rows of a ${subject.call} alone`, rounds, () => rows)] : []),
    lineOf(`a second without any ${subject.call}`, rounds, () => idle),
    ...counts.map((count, index) =>
      lineOf(`${subject.call}, ${count}`, rounds, ({ byCallers }) => byCallers[index] as Measured),
    ),
  ]
}

interface Round {
  readonly bare: Measured
  readonly exchanges: Measured | undefined
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
