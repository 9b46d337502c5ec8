import { parseArgs } from 'node:util'
import { FAULTS } from '../packages/server/test/sim/faults.ts'
import { nightly, plantedBugs, replay } from '../packages/server/test/sim/programme.ts'

/**
 * `npm run sim`: the core on tables and a bank in memory, driven by a seed. See docs/guides/simulation.md.
 *
 * `npm run sim -- --seed 7` tells one run, event by event; `--hours 8` runs seed after seed for a night; `--faults 1000000`
 * until so many were injected; `--planted` plants bugs one at a time, each of which must be found.
 */
const { values: options } = parseArgs({
  options: {
    seed: { type: 'string' },
    from: { type: 'string', default: '1' },
    hours: { type: 'string' },
    faults: { type: 'string', default: '1000000' },
    planted: { type: 'boolean', default: false },
  },
})

const say = (sentence: string) => console.log(sentence)
const isGood = options.planted ? await plantedBugs(say) : options.seed === undefined ? await many() : await one()
process.exitCode = isGood ? 0 : 1

async function one(): Promise<boolean> {
  const { failure, steps, operations } = await replay(Number(options.seed), say)
  say(failure ? `NOT HELD: ${failure}` : `held: ${operations} operations, ${steps} steps`)
  return failure === undefined
}

async function many(): Promise<boolean> {
  const forMs = options.hours === undefined ? undefined : Number(options.hours) * 3_600_000
  const bound = forMs === undefined ? { faults: Number(options.faults) } : { forMs }
  const { coverage, results, failed } = await nightly(Number(options.from), bound, say)
  for (const [fault, times] of coverage.faults) say(`${String(times).padStart(9)} ${FAULTS[fault]}`)
  say(`${coverage.faultCount} faults in ${results} runs`)
  for (const name of coverage.unreached) say(`NEVER REACHED: ${name}`)
  for (const { seed, failure } of failed) say(`NOT HELD: ${failure} (npm run sim -- --seed ${seed})`)
  return failed.length === 0
}
