import { parseArgs } from 'node:util'
import { runCampaign } from '../packages/server/test/fuzz/campaign.ts'
import { documentedOperations } from '../packages/server/test/fuzz/documented-operations.ts'
import { answersIn, type Report, successOf } from '../packages/server/test/fuzz/findings.ts'
import { complaintsAboutSlowClients } from '../packages/server/test/fuzz/slow-clients.ts'
import { startSandbox } from './fuzz/sandbox.ts'

/**
 * `npm run fuzz` starts a sandbox and sends it 100,000 valid and invalid requests, generated from the OpenAPI document. Ends
 * with 1 if an answer contradicts the document, an invalid request succeeds, or the log has a failure or a secret.
 *
 * `npm run fuzz -- --minutes 10` sends as many as there is time for, `--operation createCashIn` those of one operation;
 * `--seed 7 --case 4711` sends one of them again.
 */
const CASES = 100_000

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    cases: { type: 'string' },
    minutes: { type: 'string' },
    operation: { type: 'string' },
    case: { type: 'string' },
  },
})
const seed = Number(options.seed)
const minutes = Number(options.minutes ?? Number.POSITIVE_INFINITY)
const cases = Number(options.cases ?? (options.minutes === undefined ? CASES : Number.MAX_SAFE_INTEGER))

const sandbox = await startSandbox()
console.log(`seed ${seed}`)
const startedAt = Date.now()
try {
  const campaign = runCampaign({
    target: sandbox,
    operations: documentedOperations,
    ...(options.operation === undefined ? {} : { operation: options.operation }),
    seed,
    from: Number(options.case ?? 0),
    cases: options.case === undefined ? cases : 1,
    until: startedAt + minutes * 60_000,
    onProgress: (report) => process.stderr.write(`\r${answersIn(report)} answers, ${report.findings.size} findings `),
  })
  const slowness = options.case === undefined ? complaintsAboutSlowClients(sandbox.port) : []
  const [report, complaints] = await Promise.race([sandbox.lost, Promise.all([campaign, slowness])])
  const seconds = (Date.now() - startedAt) / 1_000
  printAnswers(report, seconds)
  printFindings([
    ...[...report.findings.values()].map(({ count, text }) => `${count} × ${text}`),
    ...complaints,
    ...[...sandbox.suspiciousLines].map((line) => `in the log: ${line}`),
  ])
} finally {
  await sandbox.stop()
}

function printAnswers(report: Report, seconds: number): void {
  const answers = answersIn(report)
  console.log(`\n${answers} answers in ${seconds.toFixed(0)} s, ${Math.round(answers / seconds)} a second\n`)
  for (const [operation, statuses] of [...report.answers].sort()) {
    const counts = [...statuses].sort(([one], [other]) => one - other).map(([status, count]) => `${status} × ${count}`)
    const success = `${Math.round(successOf(statuses) * 100)} %`
    console.log(`${operation.padEnd(32)}${success.padStart(5)}  ${counts.join(', ')}`)
  }
}

function printFindings(findings: readonly string[]): void {
  for (const finding of findings) console.log(`\n✘ ${finding}`)
  console.log(findings.length === 0 ? '\n✔ no findings' : `\n${findings.length} findings`)
  if (findings.length > 0) process.exitCode = 1
}
