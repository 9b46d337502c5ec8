import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ADMIN_TOKEN, ENVIRONMENT } from './support/world.ts'

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))

test('[config.1] [logs.3] a start with a wrong configuration says all that is wrong with it, and nothing else', () => {
  const env = { PORT: 'abc', PIXGATE_MODE: 'serious' }
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM], { env, cwd: tmpdir(), encoding: 'utf8' })
  assert.equal(status, 2)
  const { level, reason } = JSON.parse(stdout)
  assert.equal(level, 'fatal')
  assert.match(reason, /PORT/)
  for (const name of [/PORT/, /PIXGATE_MODE/]) assert.match(stderr, name)
  assert.doesNotMatch(stderr, /\n\s+at /)
})

test('[config.1] an unknown role is refused with the names of all roles', () => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'boss'], { env: {}, encoding: 'utf8' })
  assert.equal(status, 2)
  assert.equal(stderr, 'pixgate: unknown role boss; it is one of all, api, worker, migrate\n')
})

/** A directory with such a `.env`, which goes with the test. */
function directoryWith(t: TestContext, text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'pixgate-main-'))
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, '.env'), text)
  return directory
}

/** What `.env` sets beside the rest that a start needs. */
const SETTINGS = `DATABASE_URL=postgres://nobody:canary@127.0.0.1:9/none
PIXGATE_ADMIN_TOKEN=${ADMIN_TOKEN}
PORT=abc
`

test('[config.6] a start reads .env in its working directory and names what it has, but no value', (t) => {
  const cwd = directoryWith(t, SETTINGS)
  const { PIXGATE_ADMIN_TOKEN: _, ...env } = { ...ENVIRONMENT, PORT: '0', PIXGATE_LOG_LEVEL: 'info' }
  const { status, stdout } = spawnSync(process.execPath, [PROGRAM, 'api'], {
    env: { ...env, PIXGATE_PARTNER_URL: 'http://127.0.0.1:9' },
    cwd,
    encoding: 'utf8',
  })
  assert.equal(status, 1, 'nobody answers at its database')
  const [line = ''] = stdout.split('\n')
  const { msg, settings } = JSON.parse(line)
  assert.deepEqual([msg, settings], ['read 2 settings from .env', ['DATABASE_URL', 'PIXGATE_ADMIN_TOKEN']])
  assert.doesNotMatch(stdout, /canary/)
})

test('[config.6] a malformed .env is a refused start', (t) => {
  const cwd = directoryWith(t, `${SETTINGS}PIXGATE_PAYMENT_MAX_CENTS 100\n`)
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM], { env: {}, cwd, encoding: 'utf8' })
  assert.equal(status, 2)
  assert.equal(stderr, 'pixgate: the configuration is not usable:\n  - .env, line 4: is not NAME=value\n')
})

test('[logs.3] a start that the database prevents says so in one line', () => {
  const env = {
    ...ENVIRONMENT,
    DATABASE_URL: 'postgres://127.0.0.1:9/pixgate',
    PIXGATE_PARTNER_URL: 'http://127.0.0.1:9',
  }
  const given = { ...env, PIXGATE_LOG_LEVEL: 'info' }
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM], {
    env: given,
    cwd: tmpdir(),
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  const { level, reason } = JSON.parse(stdout)
  assert.equal(level, 'fatal')
  for (const text of [reason, stderr]) assert.match(text, /127\.0\.0\.1:9/)
})

test('[logs.6] a process with a part of the work says so in every line, one that does all of it does not', () => {
  const env = {
    ...ENVIRONMENT,
    DATABASE_URL: 'postgres://127.0.0.1:9/pixgate',
    PIXGATE_PARTNER_URL: 'http://127.0.0.1:9',
  }
  const rolesOf = (role: string) => {
    const given = { env: { ...env, PIXGATE_LOG_LEVEL: 'info' }, cwd: tmpdir(), encoding: 'utf8' } as const
    const { stdout } = spawnSync(process.execPath, [PROGRAM, role], given)
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).role)
  }
  assert.deepEqual(['api', 'worker', 'all'].map(rolesOf), [['api'], ['worker'], [undefined]])
})
