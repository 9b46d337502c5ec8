import { type Database, statement } from '../platform/db/database.ts'

/** How often old outcomes of batches are removed. */
export const FORGET_EVERY_MS = 60 * 60 * 1_000

const forget = statement<[], { forgotten: bigint }>('engine.forget_batches', 'SELECT forget_batches() AS forgotten')

/** Removes outcomes of batches that are older than seven days: nothing of that age is still under way. @source rules#engine.13 */
export async function forgetBatches(database: Database): Promise<void> {
  await database.rows(forget, [])
}
