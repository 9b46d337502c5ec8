import { type Database, statement } from '../platform/db/database.ts'

/** All SQL of the metrics. */
export interface HealthStore {
  /** How many cases are open. */
  openCases(): Promise<number>
}

const countCases = statement<[], { open: number }>(
  'health.open_cases',
  'SELECT count(*)::integer AS open FROM "case" WHERE closed_at IS NULL',
)

/** Makes the store of a database. */
export function createHealthStore(database: Database): HealthStore {
  return { openCases: async () => (await database.rows(countCases, []))[0]?.open ?? 0 }
}
