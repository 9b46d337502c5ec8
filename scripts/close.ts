import { runClose } from '../packages/server/src/close.ts'
import { findDatabase } from './database-of-sandbox.ts'

/**
 * `npm run close -- --day 2026-11-22`: the program of the server, on the database in `DATABASE_URL` or the one in the data
 * directory.
 * @source rules#close.9
 */
process.exitCode = await runClose(process.argv.slice(2), 'npm run close --', findDatabase)
