import { Session } from 'node:inspector/promises'
import type { Database } from '../packages/server/src/platform/db/database.ts'
import type { Benchmark } from './benchmark.ts'
import { openEngine, reserve } from './contestants/engine.ts'
import { fund } from './contestants/reserve.ts'
import { percent, selfTimes } from './cpu-profile.ts'
import { measure } from './measure.ts'
import { startPostgres } from './postgres.ts'

const LOAD = { callers: 64, warmUpMs: 2_000, measuredMs: 8_000 }

/** How many functions the table names. */
const LINES = 12

/** Where the time of the engine's process goes, with 64 callers. It runs in this process, so that it can be watched. */
export const engineProfile: Benchmark = {
  name: 'engine-profile',
  summary: 'where the time of the engine goes: waiting for the database, and the functions that cost most',
  run: async (after) => {
    const url = await (await startPostgres(after))('profile')
    const waits: number[] = []
    const { engine, ids, database } = openEngine(url, (real) => timed(real, waits))
    after(() => database.close())
    await engine.execute(fund())

    const session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    waits.length = 0
    const startedAt = performance.now()
    const { perSecond } = await measure(() => engine.execute(reserve(ids)), LOAD)
    const elapsedMs = performance.now() - startedAt
    const { profile } = await session.post('Profiler.stop')
    const waitedMs = waits.reduce((sum, ms) => sum + ms, 0)
    return {
      figures: [
        { where: 'reserves per second', share: Math.round(perSecond) },
        { where: 'reserves per statement', share: round((perSecond * elapsedMs) / 1_000 / waits.length) },
        { where: 'milliseconds per statement', share: round(waitedMs / waits.length) },
        { where: 'a statement is at the database', share: percent(waitedMs / elapsedMs) },
        ...selfTimes(profile).slice(0, LINES),
      ],
      targets: [],
    }
  },
}

/** A database that notes how long each statement takes. */
function timed(database: Database, waits: number[]): Database {
  return {
    ...database,
    rows: async (query, parameters) => {
      const startedAt = performance.now()
      const rows = await database.rows(query, parameters)
      waits.push(performance.now() - startedAt)
      return rows
    },
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
