import { spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * `npm test`: every test, two files at a time.
 *
 * Words after `--` choose the files whose path contains one of them; options are node's own:
 * `npm test -- money cash-in --test-name-pattern=fees`. `--clock=400` runs them 400 days from now,
 * `--every-piece` lets a process die at every piece of bytes in place of some.
 */
const TESTS = ['packages/*/test/**/*.test.ts', 'scripts/test/**/*.test.ts']

/** Runs once before and after all tests: starts the database they share and tells its address by the environment. */
const GLOBAL_SETUP = 'packages/server/test/support/database-cluster.ts'

/** Loaded before every process of the tests: shifts its clock. */
const SHIFTED_CLOCK = fileURLToPath(new URL('../packages/server/test/support/shifted-clock.ts', import.meta.url))

const CLOCK = /^--clock=(-?\d+)$/

const EVERY_PIECE = '--every-piece'

const given = process.argv.slice(2)
const clockDays = given.map((argument) => CLOCK.exec(argument)?.[1]).find((days) => days !== undefined)
const options = given.filter(
  (argument) => argument.startsWith('-') && argument !== EVERY_PIECE && !CLOCK.test(argument),
)
const words = given.filter((argument) => !argument.startsWith('-'))
const files = globSync(TESTS).filter((file) => words.length === 0 || words.some((word) => file.includes(word)))

if (files.length === 0) {
  console.error(`No test file has ${words.join(' or ')} in its path.`)
  process.exitCode = 1
} else {
  const setup = existsSync(GLOBAL_SETUP) ? [`--test-global-setup=${GLOBAL_SETUP}`] : []
  const child = spawn(process.execPath, ['--test', '--test-concurrency=2', ...setup, ...options, ...files.sort()], {
    stdio: 'inherit',
    env: {
      ...process.env,
      ...(given.includes(EVERY_PIECE) && { PIXGATE_TEST_EVERY_PIECE: '1' }),
      ...(clockDays && { PIXGATE_TEST_CLOCK_DAYS: clockDays, NODE_OPTIONS: `--import=${SHIFTED_CLOCK}` }),
    },
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  child.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
}
