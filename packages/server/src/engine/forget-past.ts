import { type Database, statement } from '../platform/db/database.ts'

/** How often what is over is removed. */
export const FORGET_EVERY_MS = 60 * 60 * 1_000

const forget = statement<[]>('engine.forget_past', 'SELECT forget_batches(), forget_allowances()')

/**
 * Removes outcomes of batches that are older than seven days, as nothing of that age is still under way, and what was used
 * of allowances in windows that are over.
 * @source rules#engine.13, rules#limits.5
 */
export async function forgetPast(database: Database): Promise<void> {
  await database.rows(forget, [])
}
