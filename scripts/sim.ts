import { parseArgs } from 'node:util'
import { FAULTS } from '../packages/server/test/sim/faults.ts'
import { refindCorpus } from '../packages/server/test/sim/find.ts'
import {
  belying,
  corpusSeeds,
  HOW_TO_REACH,
  lackingOf,
  nightly,
  plantedBugs,
  playScenes,
  replay,
  replayScenes,
} from '../packages/server/test/sim/programme.ts'

/**
 * `npm run sim`: the core on tables and a bank in memory, driven by a seed. See docs/guides/simulation.md.
 *
 * `npm run sim -- --seed 7` tells one run, event by event; `--hours 8` runs seed after seed for a night; `--faults 1000000`
 * until so many were injected; `--scene refused` tells the scenes whose name has this word; `--planted` plants bugs one at a
 * time, each of which must be found; `--find` searches seeds for
 * what is rare and has none that reaches it, and writes them into corpus.ts.
 */
const { values: options } = parseArgs({
  options: {
    seed: { type: 'string' },
    scene: { type: 'string' },
    from: { type: 'string', default: '1' },
    hours: { type: 'string' },
    faults: { type: 'string', default: '1000000' },
    planted: { type: 'boolean', default: false },
    find: { type: 'boolean', default: false },
  },
})

/** After so many faults everything that has to be is to be reached. */
const ENOUGH = 1_000_000

const say = (sentence: string) => console.log(sentence)
process.exitCode = (await isGood()) ? 0 : 1

function isGood(): Promise<boolean> {
  if (options.planted) return plantedBugs(say)
  if (options.find) return refindCorpus(Number(options.faults), say)
  if (options.scene !== undefined) return replayScenes(options.scene, say).then(() => true)
  return options.seed === undefined ? many() : one()
}

async function one(): Promise<boolean> {
  const { failure, steps, operations } = await replay(Number(options.seed), say)
  say(failure ? `NOT HELD: ${failure}` : `held: ${operations} operations, ${steps} steps`)
  return failure === undefined
}

async function many(): Promise<boolean> {
  const forMs = options.hours === undefined ? undefined : Number(options.hours) * 3_600_000
  const bound = forMs === undefined ? { faults: Number(options.faults) } : { forMs }
  const isEnough = forMs !== undefined || Number(options.faults) >= ENOUGH
  const first = isEnough ? corpusSeeds() : []
  const { coverage, results, failed } = await nightly(Number(options.from), bound, { say, first })
  coverage.add(await playScenes())
  for (const [fault, times] of coverage.faults) say(`${String(times).padStart(9)} ${FAULTS[fault]}`)
  say(`${coverage.faultCount} faults in ${results} runs`)
  const lacking = isEnough ? lackingOf(coverage) : []
  const belied = belying(coverage)
  for (const name of coverage.unreached) say(`${lacking.includes(name) ? 'NEVER' : 'not'} reached: ${name}`)
  for (const name of belied) say(`REACHED, and unreached.ts says that it never is: ${name}`)
  if (lacking.length > 0) say(HOW_TO_REACH)
  for (const { seed, failure } of failed) say(`NOT HELD: ${failure} (npm run sim -- --seed ${seed})`)
  return failed.length === 0 && lacking.length === 0 && belied.length === 0
}
