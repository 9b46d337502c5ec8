import { checkBank } from '../packages/server/src/doctor/doctor.ts'

/**
 * `npm run bank-check`: the program of the server.
 * @source rules#api-pix.13
 */
process.exitCode = await checkBank(process.argv.slice(2), 'npm run bank-check --')
