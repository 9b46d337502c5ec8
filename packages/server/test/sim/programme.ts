import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CORPUS } from './corpus.ts'
import { Coverage } from './coverage.ts'
import { PLANTED_BUGS, type PlantedBug } from './planted.ts'
import { type RunResult, run } from './run.ts'
import { played, SCENES } from './scenes.ts'
import { NEVER, RARE } from './unreached.ts'
import type { Say } from './world.ts'

/** What `npm run sim` and the tests do with runs: one in words, as many as are wanted, and planted bugs. */

/** Runs a seed and tells every event. */
export function replay(seed: number, say: Say): Promise<RunResult> {
  return run(seed, { say })
}

/** Plays the scenes whose name has these words, and tells every event. @throws Error as {@link played} does */
export async function replayScenes(words: string, say: Say): Promise<void> {
  for (const scene of SCENES.filter(({ name }) => name.includes(words))) {
    say(scene.name)
    await played(scene, say)
  }
}

/** How much is run. */
export type Bound = { readonly faults: number } | { readonly forMs: number }

/** What many runs came to. */
export interface Many {
  readonly coverage: Coverage
  readonly results: number
  readonly failed: readonly RunResult[]
}

/** The seeds that reach what is rare, each once. */
export function corpusSeeds(): number[] {
  return [...new Set(Object.values(CORPUS))]
}

/** Runs these seeds, then seed after seed. The first ten that fail are enough. */
export async function nightly(
  from: number,
  bound: Bound,
  { say = () => undefined, first = [] }: { readonly say?: Say; readonly first?: readonly number[] } = {},
): Promise<Many> {
  const coverage = new Coverage()
  const end = coverage.watch()
  const failed: RunResult[] = []
  const until = 'forMs' in bound ? performance.now() + bound.forMs : Number.POSITIVE_INFINITY
  const faults = 'faults' in bound ? bound.faults : Number.POSITIVE_INFINITY
  let results = 0
  const isEnough = () => performance.now() >= until || coverage.faultCount >= faults
  for (; (results < first.length || !isEnough()) && failed.length < 10; results++) {
    const result = await run(first[results] ?? from + results - first.length, { coverage })
    // A run never lets the event loop turn: whoever watches this process is heard between two.
    await turn()
    if (result.failure !== undefined) failed.push(result)
    if (results % 1_000 === 999) say(`${results + 1} runs, ${coverage.faultCount} faults, ${failed.length} not held`)
  }
  end()
  return { coverage, results, failed }
}

/** Distances from the first seed of {@link inTwo} at which its two processes begin, and where it goes on. */
const BEGINNINGS = [0, 100_000] as const
const GOING_ON = 200_000

/** Plays every scene. @returns what they reach @throws Error as {@link played} does */
export async function playScenes(): Promise<Coverage> {
  const coverage = new Coverage()
  for (const scene of SCENES) coverage.add(await played(scene))
  return coverage
}

/**
 * Plays the scenes; runs the corpus, then so many faults with those of the corpus, in two processes; while something is not reached
 * that has to be, at most a third of them more.
 */
export async function inTwo(faults: number, firstSeed: number): Promise<Many> {
  const seeds = corpusSeeds()
  const halves = await Promise.all(
    BEGINNINGS.map((distance, place) =>
      halfOf(
        firstSeed + distance,
        faults / BEGINNINGS.length,
        seeds.filter((_, index) => index % BEGINNINGS.length === place),
      ),
    ),
  )
  const coverage = await playScenes()
  for (const { coverage: counts } of halves) coverage.add(counts)
  const failed = halves.flatMap((half) => half.failed)
  const results = halves.reduce((sum, half) => sum + half.results, 0)
  const all = { coverage, results, failed }
  return failed.length === 0 && lackingOf(coverage).length > 0 ? goneOn(all, faults / 3, firstSeed + GOING_ON) : all
}

/** Seed after seed until nothing is lacking, or there were as many faults more. */
async function goneOn(all: Many, faults: number, from: number): Promise<Many> {
  const { coverage } = all
  const failed = [...all.failed]
  const until = coverage.faultCount + faults
  const end = coverage.watch()
  let results = 0
  for (; lackingOf(coverage).length > 0 && coverage.faultCount < until && failed.length === 0; results++) {
    const result = await run(from + results, { coverage })
    if (result.failure !== undefined) failed.push(result)
  }
  end()
  return { coverage, results: all.results + results, failed }
}

async function halfOf(from: number, faults: number, seeds: readonly number[]): Promise<Many> {
  const script = fileURLToPath(new URL('./half.ts', import.meta.url))
  const child = spawn(process.execPath, [script, String(from), String(faults), ...seeds.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { counts, results, failed } = JSON.parse(await text(child.stdout))
  const coverage = new Coverage()
  const [rows, cases, decisions] = [new Map(counts.rows), new Map(counts.cases), new Map(counts.decisions)]
  coverage.add({ rows, cases, decisions, faults: new Map(counts.faults) } as Coverage)
  return { coverage, results, failed }
}

/** What is to be done where something is never reached. */
export const HOW_TO_REACH =
  'never reached: it wants a scene, or, where the order of chance was changed on purpose, `npm run sim -- --find` searches new seeds for the corpus'

/** What has to be reached, and was not. */
export function lackingOf({ unreached }: Coverage): string[] {
  return unreached.filter((name) => !Object.hasOwn(NEVER, name) && !RARE.has(name))
}

/** What was reached, and is said never to be. */
export function belying({ reached }: Coverage): string[] {
  return Object.keys(NEVER).filter((name) => reached.has(name))
}

/** What is said never to be reached, or to be reached by a seed or scene, and does not exist. */
export function unknownNames({ names }: Coverage): string[] {
  const named = [...Object.keys(NEVER), ...RARE, ...Object.keys(CORPUS), ...SCENES.flatMap(({ reaches }) => reaches)]
  return named.filter((name) => !names.has(name))
}

/** Each bug must be found by one of so many seeds. */
const SEEDS_MAX = 100

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
  const child = spawn(process.execPath, [script, String(number), String(SEEDS_MAX)], {
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
