export { createLedgerHandlers, cursorAfter, cursorVersion, entryId } from './ledger.ts'
export { createLedgerVerifier } from './verify/verifier.ts'
