import type { After, Benchmark, Findings } from './benchmark.ts'
import { startContestant } from './contestant.ts'
import { openEngine } from './contestants/engine.ts'
import { fund } from './contestants/reserve.ts'
import { type Figures, from, inRounds, ratio, tableOf } from './measure.ts'
import { startPostgres } from './postgres.ts'
import { twoProcessTargets } from './two-processes.ts'

const ROUNDS = 5

/** Reservations on one balance, compared with one transaction per request; then two engines on one balance. */
export const engine: Benchmark = {
  name: 'engine',
  summary: 'reservations on one balance without HTTP, against one transaction per request',
  run: async (after) => {
    const measureRound = await startContestants(after)
    return findings(await inRounds(ROUNDS, measureRound))
  },
}

/** The measurements of a round, in this order. */
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

function findings(rounds: readonly Round[]): Findings {
  return {
    figures: tableOf(rounds),
    targets: [
      {
        what: 'one caller: p50 relative to a transaction',
        value: ratio(rounds, 'p50Ms', 'engine, 1', 'transaction, 1'),
        atMost: 1.3,
      },
      {
        what: '64 callers: rate relative to one transaction per request',
        value: ratio(rounds, 'perSecond', 'engine, 64', 'transaction, 64'),
        atLeast: 10,
      },
      ...twoProcessTargets('engine', rounds),
    ],
  }
}
