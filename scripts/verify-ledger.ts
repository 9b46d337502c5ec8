import { verifyLedger } from '../packages/server/src/verify-ledger.ts'
import { findDatabase } from './database-of-sandbox.ts'

/**
 * `npm run verify-ledger`: the program of the server, on the database in `DATABASE_URL` or the one in the data directory.
 * @source rules#ledger.verify.3
 */
process.exitCode = await verifyLedger(process.argv.slice(2), 'npm run verify-ledger --', findDatabase)
