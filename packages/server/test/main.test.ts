import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))

test('[config.1] a start with a wrong configuration says all that is wrong with it, and nothing else', () => {
  const env = { PORT: 'abc', PIXGATE_MODE: 'serious' }
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM], { env, encoding: 'utf8' })
  assert.equal(status, 2)
  assert.match(stderr, /PORT must be/)
  assert.match(stderr, /PIXGATE_MODE must be/)
  assert.doesNotMatch(stderr, /\n\s+at /)
})

test('[config.1] an unknown role is refused with the names of all roles', () => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'boss'], { env: {}, encoding: 'utf8' })
  assert.equal(status, 2)
  assert.equal(stderr, 'pixgate: unknown role boss; it is one of all, api, worker, migrate\n')
})
