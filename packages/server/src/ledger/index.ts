import type { Database } from '../platform/db/database.ts'
import { createLedgerHandlers, type LedgerHandlers } from './routes.ts'
import { createLedgerStore } from './store.ts'

export { entryId } from './entry-id.ts'
export { createLedgerVerifier } from './verify/verifier.ts'

/** The ledger as the merchant reads it. */
export async function createLedgerModule(database: Database): Promise<{ readonly handlers: LedgerHandlers }> {
  const store = createLedgerStore(database)
  return { handlers: createLedgerHandlers(store, await store.accountId()) }
}
