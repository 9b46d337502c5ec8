import { verify } from '../../src/ledger/verify/store.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'

const beginSnapshot = statement<[]>(
  'attack.begin_snapshot',
  'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY',
)

/** What the verification of the books finds. */
export async function drifts(database: Database) {
  const found = await database.transaction(async (queries) => {
    await queries.rows(beginSnapshot, [])
    return verify(queries)
  })
  return found.drifts
}
