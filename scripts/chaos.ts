import { parseArgs } from 'node:util'
import { chaos } from '../packages/server/test/chaos/chaos.ts'
import { lackingIn } from '../packages/server/test/chaos/conditions.ts'
import { bankKinds, connectors } from '../packages/server/test/chaos/plan.ts'
import { isGood, reportText } from '../packages/server/test/chaos/report.ts'

/**
 * `npm run chaos`: two servers, two workers and a bank, killed, stopped and lied to for ten minutes; then the bank's book
 * against ours, to the centavo. Ends with 1 where a difference has no case. See docs/guides/chaos.md.
 *
 * `npm run chaos -- --seed 7 --minutes 2 --bank efi --bank lying`; with `--operations 1000` it ends with 1 too where fewer charges and
 * payouts were made, or where something of what it was to go through never happened.
 */
const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    minutes: { type: 'string', default: '10' },
    bank: { type: 'string', multiple: true, default: [] },
    operations: { type: 'string' },
    keep: { type: 'string' },
  },
})
const [connector = 'pixgate', bankKind = 'truthful'] = [chosen(connectors), chosen(bankKinds)]
const strangers = options.bank.filter((name) => name !== connector && name !== bankKind)
if (strangers.length > 0)
  throw new Error(`--bank is one of ${connectors.join(', ')}, and one of ${bankKinds.join(', ')}`)
const report = await chaos({
  seed: Number(options.seed),
  connector,
  bankKind,
  forMs: Number(options.minutes) * 60_000,
  ...(options.keep === undefined ? {} : { keepIn: options.keep }),
  onProgress: (what) => process.stderr.write(`${what}\n`),
})
const lacking = options.operations === undefined ? [] : lackingIn(report, { operations: Number(options.operations) })
console.log([reportText(report), ...lacking.map((what) => `✘ ${what}`)].join('\n'))
if (!isGood(report) || lacking.length > 0) process.exitCode = 1
process.exit()

/** Which of these was asked for. */
function chosen<Name extends string>(names: readonly Name[]): Name | undefined {
  return names.find((name) => options.bank.includes(name))
}
