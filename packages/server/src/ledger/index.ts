import type { Database } from '../platform/db/database.ts'
import { createLedgerHandlers, createLedgerStore, type LedgerHandlers } from './ledger.ts'

export { entryId } from './ledger.ts'
export { createLedgerVerifier } from './verify/verifier.ts'

export async function createLedgerModule(database: Database): Promise<{ readonly handlers: LedgerHandlers }> {
  const store = createLedgerStore(database)
  return { handlers: createLedgerHandlers(store, await store.accountId()) }
}
