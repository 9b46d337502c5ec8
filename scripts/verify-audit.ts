import { verifyAuditTrail } from '../packages/server/src/verify-audit.ts'
import { findAuditDatabase } from './database-of-sandbox.ts'

/**
 * `npm run verify-audit`: the program of the server, on the database in `DATABASE_URL` or the one in the data directory.
 * @source rules#audit.4
 */
process.exitCode = await verifyAuditTrail(process.argv.slice(2), 'npm run verify-audit --', findAuditDatabase)
