import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { Coverage } from './coverage.ts'
import { PLANTED_BUGS, type PlantedBug } from './planted.ts'
import { type RunResult, run } from './run.ts'

/** What `npm run sim` and the tests do with runs: one in words, as many as are wanted, and planted bugs. */

/** Tells a sentence. */
export type Say = (sentence: string) => void

/** Runs a seed and tells every event. */
export function replay(seed: number, say: Say): Promise<RunResult> {
  return run(seed, { say })
}

/** How much is run. */
export type Bound = { readonly faults: number } | { readonly forMs: number }

/** What many runs came to. */
export interface Many {
  readonly coverage: Coverage
  readonly results: number
  readonly failed: readonly RunResult[]
}

/** Runs seed after seed. The first ten that fail are enough. */
export async function nightly(from: number, bound: Bound, say: Say = () => undefined): Promise<Many> {
  const coverage = new Coverage()
  const end = coverage.watch()
  const failed: RunResult[] = []
  const until = 'forMs' in bound ? performance.now() + bound.forMs : Number.POSITIVE_INFINITY
  const faults = 'faults' in bound ? bound.faults : Number.POSITIVE_INFINITY
  let results = 0
  for (; performance.now() < until && coverage.faultCount < faults && failed.length < 10; results++) {
    const result = await run(from + results, { coverage })
    if (result.failure !== undefined) failed.push(result)
    if (results % 1_000 === 999) say(`${results + 1} runs, ${coverage.faultCount} faults, ${failed.length} not held`)
  }
  end()
  return { coverage, results, failed }
}

/** Within this each bug must be found. */
const FIND_WITHIN_MS = 60_000

/** What was found of a planted bug. */
export interface Found {
  readonly bug: PlantedBug
  readonly seed?: number
  readonly invariant?: string
  readonly message?: string
}

/** Plants one bug and looks for it, in a process of its own. */
export async function findPlanted(number: number): Promise<Found> {
  const bug = PLANTED_BUGS[number]
  if (!bug) throw new Error(`there is no bug ${number}`)
  const script = fileURLToPath(new URL('./plant.ts', import.meta.url))
  const child = spawn(process.execPath, [script, String(number), String(FIND_WITHIN_MS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { bug, ...JSON.parse((await text(child.stdout)) || '{}') }
}

/** Plants all bugs, one at a time. @returns whether each was found, and as what it is */
export async function plantedBugs(say: Say): Promise<boolean> {
  let areAll = true
  for (const number of PLANTED_BUGS.keys()) {
    const startedAt = performance.now()
    const found = await findPlanted(number)
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    if (!isFound(found)) areAll = false
    say(
      `${found.bug.name}: ${isFound(found) ? `${found.invariant}, seed ${found.seed}, ${seconds} s` : `NOT FOUND ${found.message ?? ''}`}`,
    )
  }
  return areAll
}

/** Whether a planted bug was found, and as what it is. */
export function isFound({ bug, invariant }: Found): boolean {
  return (bug.finds as readonly (string | undefined)[]).includes(invariant)
}
