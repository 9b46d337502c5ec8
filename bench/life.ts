import { setTimeout as delay } from 'node:timers/promises'
import { againstCheckout } from './against.ts'
import { type After, type Benchmark, type BenchmarkOptions, scoped, type Target } from './benchmark.ts'
import { type Cost, type Measured, measureCost, medianCost } from './cost.ts'
import { type Subject, startLiving, subjects } from './lives.ts'
import { inRounds, median, NO_FIGURES } from './measure.ts'
import { startBareFastify } from './server-process.ts'

const ROUNDS = 3

/** Duration of the measurement of an idle service, whose own work is part of a payment's cost. */
const IDLE_S = 10

/**
 * Cost of each kind of payment by process, at the simulated bank under `npm start`, also as a multiple of the bare server's
 * cost of answering the same request.
 */
export const life: Benchmark = {
  name: 'life',
  summary: 'CPU time of payouts, charges and refunds from creation to notification, by process',
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

/** A row of the table: a measurement of each round, and the bare server's of the same round. */
interface Line {
  readonly name: string
  readonly rounds: readonly { readonly measured: Measured; readonly bareUs: number }[]
}

async function linesOf(after: After, subject: Subject, options: BenchmarkOptions): Promise<Line[]> {
  const bare = await startBareFastify(after)
  const living = await startLiving(after, subject)
  const idle = await measureCost(living.watched, IDLE_S, async () => {
    await delay(IDLE_S * 1_000)
    return NO_FIGURES
  })
  const counts = subject.callers.filter((count) => options.callers?.includes(count) ?? true)
  const rounds = await inRounds(options.rounds ?? ROUNDS, async () => {
    const measuredBare = await living.measureAt(bare, subject.bare)
    const byCallers: Measured[] = []
    for (const count of counts) byCallers.push(await living.measure(count))
    return { bare: measuredBare, byCallers }
  })
  return [
    lineOf(`bare ${subject.bare}, 64`, rounds, ({ bare }) => bare),
    lineOf(`idle second, ${subject.call}`, rounds, () => idle),
    ...counts.map((count, index) =>
      lineOf(`${subject.call}, ${count}`, rounds, ({ byCallers }) => byCallers[index] as Measured),
    ),
  ]
}

interface Round {
  readonly bare: Measured
  readonly byCallers: readonly Measured[]
}

function lineOf(name: string, rounds: readonly Round[], pick: (round: Round) => Measured): Line {
  return { name, rounds: rounds.map((round) => ({ measured: pick(round), bareUs: round.bare.serverUs })) }
}

const PROCESSES = { server: 'serverUs', postgres: 'postgresUs', bank: 'bankUs', client: 'clientUs' } as const

/** A process's cost of a payment as a multiple of the bare answer: median over the rounds. */
function multiple({ rounds }: Line, process: keyof typeof PROCESSES): number {
  return median(rounds.map(({ measured, bareUs }) => measured[PROCESSES[process]] / bareUs))
}

function figureOf(line: Line) {
  return {
    'load, callers': line.name,
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
      {
        what: `${name}: CPU time of the server, relative to the bare answer`,
        value: multiple(line, 'server'),
        atMost: server,
      },
      {
        what: `${name}: CPU time of PostgreSQL, relative to the bare answer`,
        value: multiple(line, 'postgres'),
        atMost: postgres,
      },
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
    ...cost('payout, 64', 'walBytes', 'bytes of WAL', 8_000),
    ...cost('payout, 64', 'statementUs', 'execution time of statements, µs', 700),
  ]
}
