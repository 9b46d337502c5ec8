import { nightly } from './programme.ts'

/**
 * A process of its own that runs these seeds of the corpus, then seed after seed until so many faults were injected, and tells on
 * its last line what it came to; see programme.ts.
 *
 * `node half.ts <first seed> <faults> [<seed of the corpus> …]`
 */
const [from = '1', faults = '0', ...seeds] = process.argv.slice(2)
const { coverage, results, failed } = await nightly(
  Number(from),
  { faults: Number(faults) },
  { first: seeds.map(Number) },
)
const { rows, cases, decisions, faults: counted } = coverage
const counts = { rows: [...rows], cases: [...cases], decisions: [...decisions], faults: [...counted] }
console.log(
  JSON.stringify({ counts, results, failed: failed.map((one) => ({ ...one, failure: String(one.failure) })) }),
)
