import type { Queries } from '../platform/db/database.ts'
import { statement } from '../platform/db/database.ts'

/** All SQL of the doctor. */

/** What a database says of itself. */
export interface AboutDatabase {
  readonly version: string
  /** Its time, epoch milliseconds. */
  readonly now: number
}

const selectAbout = statement<[], AboutDatabase>(
  'doctor.about',
  `SELECT current_setting('server_version') AS version,
          (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`,
)

/** Asks it. */
export async function readAbout(queries: Queries): Promise<AboutDatabase> {
  const [about] = await queries.rows(selectAbout, [])
  if (about === undefined) throw new Error('the database says nothing of itself')
  return about
}
