import type { Database } from '../../platform/db/database.ts'
import { isBehind, lockFeed, placeNext } from './store.ts'

/** Some hundred milliseconds, for which nothing is fanned out. */
const AT_ONCE = 2_000

/**
 * Gives places to the next of what was fanned out without one: before there was a feed, or by a process that knows none.
 * @returns whether there may be more
 * @source rules#feed.2
 */
export async function placeLate(database: Database): Promise<boolean> {
  if (!(await isBehind(database))) return false
  return database.transaction(async (queries) => {
    // A statement of its own: the next one sees all that was done under this lock before.
    await lockFeed(queries)
    return (await placeNext(queries, AT_ONCE)) === AT_ONCE
  })
}
