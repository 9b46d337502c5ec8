export { createLedgerHandlers, entryId } from './ledger.ts'
export { createLedgerVerifier } from './verify/verifier.ts'
