import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { runCampaign } from '../packages/server/test/fuzz/campaign.ts'
import { readDocument } from '../packages/server/test/fuzz/document.ts'
import { answersIn, type Report } from '../packages/server/test/fuzz/findings.ts'
import { startSandbox } from './fuzz/sandbox.ts'

/**
 * `npm run fuzz`: starts a sandbox of its own and sends it requests, right and wrong ones, made from the OpenAPI document.
 * Ends with 1 where an answer is not as the document says, something invalid succeeds, or the log tells of a failure.
 *
 * `npm run fuzz -- --seed 7 --case 4711` sends one case again.
 */
const { values: given } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    cases: { type: 'string', default: '100000' },
    /** Ends the run also where cases are left; without `--cases` as many are sent as there is time for. */
    minutes: { type: 'string' },
    /** Only this one. */
    case: { type: 'string' },
    /** Only this operation, by its operationId. */
    operation: { type: 'string' },
    document: { type: 'string', default: 'docs/generated/openapi.json' },
  },
})

const seed = Number(given.seed)
const operations = readDocument(await readFile(given.document, 'utf8'))
const chosen = operations.filter(({ id }) => given.operation === undefined || id === given.operation)
const startedAt = Date.now()
const sandbox = await startSandbox()
console.log(`seed ${seed}`)

try {
  const campaign = runCampaign({
    target: sandbox,
    operations: chosen,
    seed,
    from: Number(given.case ?? 0),
    cases: given.case === undefined ? Number(given.cases) : 1,
    until: given.minutes === undefined ? Number.POSITIVE_INFINITY : startedAt + Number(given.minutes) * 60_000,
    onProgress: (soFar) =>
      process.stderr.write(`\r${answersIn(soFar)} cases, ${soFar.findings.size} kinds of findings `),
  })
  tell(await Promise.race([sandbox.lost, campaign]))
} finally {
  await sandbox.stop()
}

function tell(report: Report): void {
  for (const [operation, statuses] of [...report.answers].sort()) {
    const counts = [...statuses].sort(([one], [other]) => one - other).map(([status, count]) => `${status} × ${count}`)
    console.log(`${operation.padEnd(32)}${counts.join(', ')}`)
  }
  for (const { count, text } of report.findings.values()) console.log(`\n✘ ${count} × ${text}`)
  for (const line of new Set(sandbox.suspiciousLines)) console.log(`\n✘ in the log: ${line}`)
}
