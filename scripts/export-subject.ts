import { exportSubject } from '../packages/server/src/export-subject.ts'
import { findDatabase } from './database-of-sandbox.ts'

/**
 * `npm run export-subject`: the program of the server, on the database in `DATABASE_URL` or the one in the data directory.
 * @source rules#privacy.7
 */
process.exitCode = await exportSubject(process.argv.slice(2), 'npm run export-subject --', findDatabase)
