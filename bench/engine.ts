import type { After, Benchmark, Findings } from './benchmark.ts'
import { startContestant } from './contestant.ts'
import { openEngine } from './contestants/engine.ts'
import { fund } from './contestants/reserve.ts'
import { type Figures, inRounds, type Load, median, tableOf } from './measure.ts'
import { startPostgres } from './postgres.ts'

const ROUNDS = 5

/** Reserves on one hot balance, against one transaction per request; then two engines on one balance. */
export const engine: Benchmark = {
  name: 'engine',
  summary: 'reserves on one hot balance, straight at the engine, against one transaction per request; T7b',
  run: async (after) => {
    const measureRound = await startContestants(after)
    return findings(await inRounds(ROUNDS, measureRound))
  },
}

/** What one round measures, in this order: what is compared stands side by side. */
interface Round {
  readonly 'transaction, 1': Figures
  readonly 'engine, 1': Figures
  readonly 'transaction, 64': Figures
  readonly 'engine, 64': Figures
  readonly 'transaction, 256': Figures
  readonly 'engine, 256': Figures
  readonly 'engine, 256 beside 1': Figures
  readonly 'engine, 1 beside 256': Figures
  readonly 'engine, 256 beside 256': Figures
  readonly 'engine, the other 256': Figures
}

async function startContestants(after: After): Promise<() => Promise<Round>> {
  const createDatabase = await startPostgres(after)
  const createFunded = async (name: string) => {
    const url = await createDatabase(name)
    const { engine, database } = openEngine(url)
    await engine.execute(fund())
    await database.close()
    return url
  }
  const url = await createFunded('engine')
  const one = await startContestant(after, 'engine', url)
  const other = await startContestant(after, 'engine', url)
  const transaction = await startContestant(after, 'transaction', await createFunded('transaction'))

  return async () => {
    const apart = {
      'transaction, 1': await transaction.measure(from(1)),
      'engine, 1': await one.measure(from(1)),
      'transaction, 64': await transaction.measure(from(64)),
      'engine, 64': await one.measure(from(64)),
      'transaction, 256': await transaction.measure(from(256)),
      'engine, 256': await one.measure(from(256)),
    }
    const [busy, quiet] = await Promise.all([one.measure(from(256)), other.measure(from(1))])
    const [first, second] = await Promise.all([one.measure(from(256)), other.measure(from(256))])
    return {
      ...apart,
      'engine, 256 beside 1': busy,
      'engine, 1 beside 256': quiet,
      'engine, 256 beside 256': first,
      'engine, the other 256': second,
    }
  }
}

function from(callers: number): Load {
  return { callers, warmUpMs: 500, measuredMs: 2_000 }
}

function findings(rounds: readonly Round[]): Findings {
  const compare = (ratio: (round: Round) => number) => median(rounds.map(ratio))
  return {
    figures: tableOf(rounds),
    targets: [
      {
        what: 'one caller: latency against a transaction',
        value: compare((round) => round['engine, 1'].p50Ms / round['transaction, 1'].p50Ms),
        atMost: 1.3,
      },
      {
        what: '64 callers: speed against a transaction each',
        value: compare((round) => round['engine, 64'].perSecond / round['transaction, 64'].perSecond),
        atLeast: 10,
      },
      {
        id: 'T7b',
        what: '256 callers beside a process with 1: speed against alone',
        value: compare((round) => round['engine, 256 beside 1'].perSecond / round['engine, 256'].perSecond),
        atLeast: 0.8,
      },
      {
        id: 'T7b',
        what: 'two processes with 256 callers each: speed together against one alone',
        value: compare(
          (round) =>
            (round['engine, 256 beside 256'].perSecond + round['engine, the other 256'].perSecond) /
            round['engine, 256'].perSecond,
        ),
        atLeast: 1.2,
      },
    ],
  }
}
