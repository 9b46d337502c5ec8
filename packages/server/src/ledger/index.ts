export { createLedgerHandlers, cursorAfter, cursorVersion, entryId, journalMeaning } from './ledger.ts'
export { createLedgerVerifier } from './verify/verifier.ts'
