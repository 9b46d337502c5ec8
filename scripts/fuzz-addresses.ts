import { parseArgs } from 'node:util'
import { runCampaign } from '../packages/server/test/receiver-addresses/campaign.ts'

/**
 * `npm run fuzz-addresses`: makes up 300,000 addresses of receivers, registers each as production does, and delivers to each.
 * Ends with 1 where one leads to a listener at this machine or anything was tried to reach. Nothing leaves this machine.
 *
 * `--cases 1000000` tries as many, `--seed 7` the same ones again.
 */
const CASES = 300_000

const { values: options } = parseArgs({ options: { seed: { type: 'string' }, cases: { type: 'string' } } })
const seed = Number(options.seed ?? Date.now() % 2 ** 31)
const startedAt = Date.now()
console.log(`seed ${seed}`)
const { cases, registered, deliveries, connections, findings } = await runCampaign({
  seed,
  cases: Number(options.cases ?? CASES),
  onProgress: (report) => process.stderr.write(`\r${report.cases} addresses, ${report.findings.length} findings `),
})
console.log(`\n${cases} addresses in ${((Date.now() - startedAt) / 1_000).toFixed(0)} s, ${registered} registered`)
for (const [outcome, count] of deliveries) console.log(`${outcome} × ${count}`)
for (const finding of findings.slice(0, 100)) console.log(`\n✘ ${finding}`)
const isClean = findings.length === 0 && connections === 0
console.log(isClean ? '\n✔ no canary was reached' : `\n${findings.length} findings, ${connections} connections`)
if (!isClean) process.exitCode = 1
