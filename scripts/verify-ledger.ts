import { parseArgs } from 'node:util'
import { readSandboxConfig } from '../packages/sandbox/src/config.ts'
import { startEmbeddedPostgres } from '../packages/sandbox/src/postgres/embedded-postgres.ts'
import { runningPostgres } from '../packages/sandbox/src/postgres/running.ts'
import { reportJson, reportText } from '../packages/server/src/ledger/verify/report.ts'
import { trialBalance, verify } from '../packages/server/src/ledger/verify/store.ts'
import { withSnapshot } from '../packages/server/src/platform/db/snapshot.ts'

/**
 * `npm run verify-ledger`: recomputes the books and prints a trial balance, from the database in `DATABASE_URL` or the
 * one in the data directory. Ends with 0 where the books are right, 1 where they have drifted, 2 where it could not
 * look. `-- --at 2026-11-21T00:00:00Z` takes the trial balance at an instant; `-- --json` prints for machines.
 * @source rules#ledger.verify.3
 */
const USAGE = 'Usage: npm run verify-ledger -- [--at 2026-11-21T00:00:00Z] [--json]'

async function main(): Promise<number> {
  const { at, json } = readArguments()
  const { url, stop } = await findDatabase()
  try {
    const [verification, totals] = await withSnapshot({ url, name: 'pixgate verify-ledger' }, async (queries) => [
      await verify(queries),
      await trialBalance(queries, at),
    ])
    const report = json ? reportJson : reportText
    console.log(report(verification, totals, at ?? verification.at))
    return verification.faults === 0 ? 0 : 1
  } finally {
    await stop()
  }
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/

/** @throws Error that says how it is used */
function readArguments(): { at: number | null; json: boolean } {
  const options = { at: { type: 'string' }, json: { type: 'boolean', default: false } } as const
  const { at: text, json } = parseArgs({ options }).values
  const at = text === undefined ? null : Date.parse(text)
  if (text !== undefined && (!INSTANT.test(text) || Number.isNaN(at)))
    throw new Error(`${text} is no instant. ${USAGE}`)
  return { at, json }
}

async function findDatabase(): Promise<{ url: string; stop: () => Promise<void> }> {
  const { given, dataDirectory } = readSandboxConfig(process.env)
  const url = given.DATABASE_URL ?? (await runningPostgres(dataDirectory))
  if (url === undefined)
    throw new Error(`there is no database in ${dataDirectory}; set DATABASE_URL or PIXGATE_DATA_DIR`)
  return url === 'stopped' ? startEmbeddedPostgres({ dataDirectory }) : { url, stop: async () => undefined }
}

process.exitCode = await main().catch((error: Error) => {
  console.error(`verify-ledger: ${error.message}`)
  return 2
})
