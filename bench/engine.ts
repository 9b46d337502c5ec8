import type { After, Benchmark, Findings } from './benchmark.ts'
import { startContestant } from './contestant.ts'
import { fund } from './contestants/reserve.ts'
import { openEngine } from './contestants/engine.ts'
import { type Figures, inRounds, type Load, median, medianFigures } from './measure.ts'
import { startPostgres } from './postgres.ts'

const ROUNDS = 3
const CALLERS = [1, 64, 256] as const

/** Reserves on one hot balance, against one transaction per request. */
export const engine: Benchmark = {
  name: 'engine',
  summary: 'reserves on one hot balance, straight at the engine, against one transaction per request (T7b)',
  run,
}

async function run(after: After): Promise<Findings> {
  const createDatabase = await startPostgres(after)
  const funded = async (name: string) => {
    const url = await createDatabase(name)
    const { engine, database } = openEngine(url)
    await engine.execute(fund())
    await database.close()
    return url
  }
  const shared = await funded('of_engine')
  const transaction = await startContestant(after, 'transaction', await funded('of_transaction'))
  const one = await startContestant(after, 'engine', shared)
  const other = await startContestant(after, 'engine', shared)

  const rounds = await inRounds(ROUNDS, async () => {
    const round = new Map<string, Figures>()
    for (const callers of CALLERS) {
      round.set(`transaction ${callers}`, await transaction.measure(load(callers)))
      round.set(`engine ${callers}`, await one.measure(load(callers)))
    }
    const [busy, quiet] = await Promise.all([one.measure(load(256)), other.measure(load(1))])
    const [first, second] = await Promise.all([one.measure(load(256)), other.measure(load(256))])
    return round
      .set('engine 256, beside 1', busy)
      .set('engine 1, beside 256', quiet)
      .set('engine 256, first of two', first)
      .set('engine 256, second of two', second)
  })
  console.log(rounds, median, medianFigures)
  return { figures: [], targets: [] }
}

function load(callers: number): Load {
  return { callers, warmUpMs: 1_000, measuredMs: 3_000 }
}
