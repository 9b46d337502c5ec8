import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Environment, Variables } from '@pixgate/server/variables'
import { CANARY, faultyVariables, PRODUCTION } from '../../server/test/support/environment.ts'
import { readSandboxConfig, serverVariables } from '../src/config.ts'
import { secretsOf } from '../src/secrets.ts'

const required = Object.entries<Variables[string]>(serverVariables).flatMap(([name, row]) =>
  row.required === undefined ? [] : [name],
)

const faulty = (environment: Environment) => faultyVariables(readSandboxConfig, environment)

test('[config.1] nothing at all is the sandbox, with its defaults', () => {
  const { given, dataDirectory, simulatorPort } = readSandboxConfig({})
  assert.deepEqual([dataDirectory, simulatorPort], [resolve('.pixgate'), undefined])
  assert.deepEqual(
    [given.PIXGATE_MODE, given.DATABASE_URL, given.PIXGATE_ADMIN_TOKEN],
    ['sandbox', undefined, undefined],
  )
  assert.deepEqual([given.HOST, given.PORT], ['127.0.0.1', 8080])
})

test('[config.1] what is set is read', () => {
  const set = { PIXGATE_DATA_DIR: 'data', PIXGATE_SIMULATOR_PORT: '0', DATABASE_URL: 'postgres://db.example/pixgate' }
  const { given, dataDirectory, simulatorPort } = readSandboxConfig(set)
  assert.deepEqual([given.DATABASE_URL, dataDirectory, simulatorPort], [set.DATABASE_URL, resolve('data'), 0])
})

test('[config.1] faults of the server’s and of the sandbox’s own variables are reported at once', () => {
  const wrong = {
    PORT: '65536',
    PIXGATE_ADMIN_TOKEN: 'canary',
    PIXGATE_SIMULATOR_PORT: '65536',
    DATABASE_URL: 'pixgate',
  }
  assert.deepEqual(faulty(wrong).sort(), Object.keys(wrong).sort())
})

test('[config.2] production gets no configuration from the sandbox: it refuses what is missing, by name', () => {
  assert.deepEqual(faulty(PRODUCTION), [])
  assert.deepEqual(faulty({ PIXGATE_MODE: 'production' }), required)
})

/** A directory that goes with the test. */
async function directory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pixgate-secrets-'))
  t.after(() => rm(path, { recursive: true }))
  return path
}

test('[config.3] secrets that are not configured are made once and kept where only their owner can read them', async (t) => {
  const dataDirectory = join(await directory(t), 'data')
  const config = readSandboxConfig({ PIXGATE_DATA_DIR: dataDirectory })
  const made = await secretsOf(config)
  for (const secret of Object.values(made)) assert.ok(secret.length >= 32)
  assert.equal(new Set(Object.values(made)).size, 4)
  assert.deepEqual(await secretsOf(config), made)
  const [file] = await readdir(dataDirectory)
  assert.equal((await stat(join(dataDirectory, file ?? ''))).mode & 0o777, 0o600)
})

test('[config.3] what is configured counts, and is not written down', async (t) => {
  const dataDirectory = await directory(t)
  const config = readSandboxConfig({ PIXGATE_DATA_DIR: dataDirectory, PIXGATE_ADMIN_TOKEN: CANARY })
  assert.equal((await secretsOf(config)).adminToken, CANARY)
  for (const file of await readdir(dataDirectory)) {
    assert.ok(!(await readFile(join(dataDirectory, file), 'utf8')).includes(CANARY))
  }
  const elsewhere = join(dataDirectory, 'production')
  await secretsOf(readSandboxConfig({ ...PRODUCTION, PIXGATE_DATA_DIR: elsewhere }))
  assert.deepEqual((await readdir(dataDirectory)).includes('production'), false, 'production keeps nothing')
})

test('[config.3] starts at the same moment agree on one set of secrets', async (t) => {
  const config = readSandboxConfig({ PIXGATE_DATA_DIR: await directory(t) })
  const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => secretsOf(config)))
  for (const other of others) assert.deepEqual(other, first)
})

test('[config.3] an incomplete file of secrets is rejected', async (t) => {
  const dataDirectory = await directory(t)
  const config = readSandboxConfig({ PIXGATE_DATA_DIR: dataDirectory })
  await secretsOf(config)
  const [file] = await readdir(dataDirectory)
  await writeFile(join(dataDirectory, file ?? ''), '')
  await assert.rejects(secretsOf(config), /sandbox-secrets\.json/)
})
