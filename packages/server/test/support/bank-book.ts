import type { Database } from '../../src/platform/db/database.ts'
import { underOurIds } from './order-ids.ts'
import { ask, type BankBook } from './process-world.ts'
import { PARTNER_TOKEN } from './world.ts'

/** The bank's own account of what happened, under our ids. @throws Error where it is not there */
export async function bookAt(bankUrl: string, database: Database): Promise<BankBook> {
  const answer = await ask(`${bankUrl}/control/book`, PARTNER_TOKEN, 'GET')
  if (answer?.status !== 200) throw new Error('the bank has no book')
  return underOurIds(database, answer.body)
}
