import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { EVERYTHING, NOT_EXERCISED } from './test-run/exercised.ts'
import { type Failure, killAll, type Outcome, runGroups } from './test-run/run.ts'

/**
 * `npm test` runs the tests of every rule and story. `npm run test:deep` (`--deep`) runs the drills: crashes, kills, chaos,
 * simulation, fuzzing, deployment.
 *
 * Words choose the files whose path contains one of them: `npm test -- money cash-in --test-name-pattern=fees`. Drills
 * print their seed; `--seed` repeats one, and `--minutes` runs a sample that the seed chooses.
 */
const { values: options, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    deep: { type: 'boolean', default: false },
    /** Only tests whose name matches. */
    'test-name-pattern': { type: 'string' },
    /** Runs that many days from now. */
    clock: { type: 'string' },
    /** Crash drills lose every piece of bytes, instead of some. */
    'every-piece': { type: 'boolean', default: false },
    /** Runs drills in an order that the seed chooses, for so many minutes. */
    minutes: { type: 'string' },
    /** Number of the slowest files to list. */
    slowest: { type: 'string', default: '10' },
    /** By default derived from the commit. */
    seed: { type: 'string' },
  },
})

const TESTS = options.deep
  ? ['packages/*/test/**/*.deep.ts', 'scripts/test/**/*.deep.ts']
  : ['packages/*/test/**/*.test.ts', 'scripts/test/**/*.test.ts']

/** Files per process. */
const GROUP_SIZE = 24

/** Loaded before every process of the tests: shifts its clock. */
const SHIFTED_CLOCK = fileURLToPath(new URL('../packages/server/test/support/shifted-clock.ts', import.meta.url))

const SILENCE_MS = options.deep ? 30 * 60_000 : 3 * 60_000

const seed = options.seed === undefined ? seedOfCommit() : Number(options.seed)
const startedAt = performance.now()
const files = globSync(TESTS)
  .sort()
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      process.exitCode = 1
      killAll()
    })
  }
  if (options.deep) console.log(`seed ${seed}`)
  if (options.clock !== undefined) {
    process.env.PIXGATE_TEST_CLOCK_DAYS = options.clock
    process.env.NODE_OPTIONS = `--import=${SHIFTED_CLOCK}`
  }
  // The database's clock is shifted as the environment says when this is loaded.
  const { globalSetup, globalTeardown } = await import('../packages/server/test/support/database-cluster.ts')
  await globalSetup()
  try {
    const outcome = await runGroups(options.deep ? shuffled(files).map((file) => [file]) : grouped(files), {
      environment: {
        ...process.env,
        PIXGATE_TEST_SEED: String(seed),
        ...(options['every-piece'] && { PIXGATE_TEST_EVERY_PIECE: '1' }),
      },
      // Tests also wait for I/O, so more processes than cores are useful. Drills use several processes themselves.
      concurrency: options.deep ? 2 : availableParallelism() + 2,
      namePattern: options['test-name-pattern'],
      silenceMs: SILENCE_MS,
      stopAfterMs: options.minutes === undefined ? undefined : Number(options.minutes) * 60_000 - elapsedMs(),
      onFailure: printFailure,
      onFiles: printProgress,
    })
    printSummary(outcome)
    const unused = words.length === 0 && !options.deep && !options['test-name-pattern'] ? notExercised(outcome) : []
    if (outcome.failures.length > 0 || unused.length > 0) process.exitCode = 1
  } finally {
    killAll()
    await globalTeardown()
  }
}

function elapsedMs(): number {
  return performance.now() - startedAt
}

/** Neighbours share a process, since they use the same modules. The last ones come first: scenarios take longest. */
function grouped(all: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(all.length / GROUP_SIZE) }, (_, index) =>
    all.slice(index * GROUP_SIZE, (index + 1) * GROUP_SIZE),
  ).toReversed()
}

/** The order of a sample: another one for each seed. */
function shuffled(all: readonly string[]): readonly string[] {
  if (options.minutes === undefined) return all
  const order = new Map(all.map((file) => [file, hashOf(`${seed} ${file}`)]))
  return all.toSorted((one, other) => (order.get(one) ?? 0) - (order.get(other) ?? 0))
}

/** FNV-1a. */
function hashOf(text: string): number {
  return [...text].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0, 0x811c9dc5)
}

function seedOfCommit(): number {
  try {
    return Number.parseInt(
      execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], { encoding: 'utf8' }).slice(0, 7),
      16,
    )
  } catch {
    return 1
  }
}

let [finished, printedAt] = [0, 0]

function printProgress(done: number): void {
  finished = done
  const line = `${done} of ${files.length} files, ${Math.round(elapsedMs() / 1_000)} s`
  if (process.stdout.isTTY) process.stdout.write(`\r${line} `)
  else if (elapsedMs() - printedAt > 15_000) {
    console.log(line)
    printedAt = elapsedMs()
  }
}

function printFailure({ file, name, text }: Failure): void {
  console.log(`\n✖ ${name}\n  ${file}\n${text.replaceAll(/^/gm, '  ')}`)
  if (options.deep) console.log(`  Repeat: npm run test:deep -- ${file} --seed=${seed}`)
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1).padStart(6)
}

function printSummary({ passed, failures, skipped, files: durations, notes, unfinished }: Outcome): void {
  const slowest = [...durations].toSorted(([, one], [, other]) => other.durationMs - one.durationMs)
  console.log(
    `\n${finished - unfinished.length} of ${files.length} files in ${Math.round(elapsedMs() / 1_000)} s. The slowest:`,
  )
  for (const [file, { durationMs, cpuMs }] of options.deep ? slowest : slowest.slice(0, Number(options.slowest))) {
    console.log(`${seconds(durationMs)} s, CPU ${seconds(cpuMs)} s  ${file}`)
  }
  if (options.deep) for (const { file, text } of notes) console.log(`  ${file}: ${text}`)
  for (const file of unfinished) console.log(`stopped, not judged: ${file}`)
  for (const { name, reason } of skipped) console.log(`skipped: ${name}: ${reason}`)
  if (failures.length > 1) {
    console.log('\nFailed:')
    for (const { file, name } of failures) console.log(`✖ ${file}: ${name}`)
  }
  console.log(`\n${passed} passed, ${failures.length} failed, ${skipped.length} skipped`)
}

/** Names that no test exercised, and outdated exceptions. */
function notExercised({ exercised }: Outcome): readonly string[] {
  const missing = EVERYTHING.filter((name) => !exercised.has(name) && !NOT_EXERCISED.has(name))
  const listed = [...NOT_EXERCISED].filter((name) => exercised.has(name) || !EVERYTHING.includes(name))
  if (missing.length > 0) console.log(`Not exercised by any test:\n  ${missing.join('\n  ')}`)
  if (listed.length > 0)
    console.log(`Exercised, or unknown, and still listed in exercised.ts:\n  ${listed.join('\n  ')}`)
  return [...missing, ...listed]
}

if (files.length === 0) {
  console.error(`No ${options.deep ? 'drill' : 'test'} has ${words.join(' or ')} in its path.`)
  process.exitCode = 1
} else {
  await main()
}
