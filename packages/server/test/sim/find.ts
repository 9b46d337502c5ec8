import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { CORPUS } from './corpus.ts'
import { Coverage } from './coverage.ts'
import { corpusSeeds, inTwo, lackingOf } from './programme.ts'
import { run } from './run.ts'
import { SCENES } from './scenes.ts'
import { type Say, World } from './world.ts'

/** Looks for seeds whose runs reach what is rare: `npm run sim -- --find`, which writes them into corpus.ts. */

/** Where the search begins: no other run has these seeds, so that a kept one counts once. */
const FIRST_SEED = 300_001
/** So many seeds each of the two processes tries before they compare what they have. */
const ROUND = 500
/** After so many rounds the search gives up. */
const ROUNDS = 8

/**
 * Keeps each seed of the corpus that reaches its entry, searches one for each other entry, and for whatever neither corpus and scenes
 * nor so many faults reach, and writes corpus.ts; what a scene is played for needs no seed.
 * @param faults 0: none is looked for but those whose seed reaches them no more
 * @returns whether everything that can be reached is
 */
export async function refindCorpus(faults: number, say: Say): Promise<boolean> {
  const kept = await stillReached()
  const staged = new Set(SCENES.flatMap(({ reaches }) => reaches))
  const names = [...new Coverage().names].filter((name) => !staged.has(name))
  const gone = names.filter((name) => Object.hasOwn(CORPUS, name) && !kept.has(name))
  say(`${kept.size} entries are reached by their seeds, ${gone.length} are no more`)
  const lacking = faults > 0 ? lackingOf((await inTwo(faults, 1)).coverage) : []
  const wanted = [...new Set([...gone, ...lacking])]
  const found = await findSeeds(wanted, ROUNDS, say)
  const entries = names.flatMap((name) => {
    const seed = kept.get(name) ?? found.get(name)
    return seed === undefined ? [] : [[name, seed] as const]
  })
  await writeFile(fileURLToPath(new URL('./corpus.ts', import.meta.url)), corpusSource(entries))
  const missing = wanted.filter((name) => !found.has(name))
  for (const name of missing)
    say(`NO SEED reaches ${name}: it wants a scene, or a line with its reason in unreached.ts`)
  return missing.length === 0
}

/** The corpus as a file. */
function corpusSource(entries: readonly (readonly [name: string, seed: number])[]): string {
  const lines = entries.map(([name, seed]) => `  '${name}': ${seed.toLocaleString('en').replaceAll(',', '_')},\n`)
  return `/**
 * Seeds that reach what a million faults hardly ever do, by the names that coverage.ts gives. Written by \`npm run sim -- --find\`,
 * never by hand.
 */
export const CORPUS: Readonly<Record<string, number>> = {
${lines.join('')}}
`
}

/** The entries that their seeds reach. */
async function stillReached(): Promise<Map<string, number>> {
  const kept = new Map<string, number>()
  for (const seed of corpusSeeds()) {
    const reached = await reachedBy(seed)
    for (const [name, of] of Object.entries(CORPUS)) if (of === seed && reached.has(name)) kept.set(name, seed)
  }
  return kept
}

/**
 * Looks in two processes for seeds that reach each of these.
 * @param rounds how often a thousand seeds are tried before the search gives up
 * @returns by name, the first seed that reaches it and whose invariants hold; without those that none reached
 */
async function findSeeds(names: readonly string[], rounds: number, say: Say): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (let round = 0; round < rounds && found.size < names.length; round++) {
    const left = names.filter((name) => !found.has(name))
    const from = FIRST_SEED + 2 * ROUND * round
    const halves = await Promise.all([from, from + ROUND].map((first) => searched(left, first)))
    for (const [name, seed] of halves.flat()) found.set(name, Math.min(seed, found.get(name) ?? seed))
    say(`${found.size} of ${names.length} found in ${2 * ROUND * (round + 1)} seeds`)
  }
  return found
}

async function searched(names: readonly string[], from: number): Promise<[string, number][]> {
  const script = fileURLToPath(new URL('./search.ts', import.meta.url))
  const child = spawn(process.execPath, [script, String(from), String(ROUND)], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(names.join('\n'))
  return JSON.parse(await text(child.stdout))
}

/** Seed after seed: the first that reaches each of these. What is rare takes a bank that lies: others are not tried. */
export async function firstSeeds(names: readonly string[], from: number, count: number): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (let seed = from; seed < from + count && found.size < names.length; seed++) {
    if (new World(seed).nature === 'truthful') continue
    const reached = await reachedBy(seed)
    for (const name of names) if (!found.has(name) && reached.has(name)) found.set(name, seed)
  }
  return found
}

/** What the run of a seed reaches; nothing where it does not hold. */
async function reachedBy(seed: number): Promise<ReadonlySet<string>> {
  const coverage = new Coverage()
  const end = coverage.watch()
  const { failure } = await run(seed, { coverage })
  end()
  return failure === undefined ? coverage.reached : new Set()
}
