import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Environment, Variables } from '@pixgate/server/variables'
import { handedOut } from '../../server/test/banks/api-pix/certificates.ts'
import { CANARY, configFaults, faultyVariables, PRODUCTION } from '../../server/test/support/environment.ts'
import { MADE, readSandboxConfig, type SandboxConfig, serverVariables } from '../src/config.ts'
import { partnerSecretsOf, secretsOf } from '../src/secrets.ts'

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

test('[config.4] what the sandbox makes is what the server alone says that it makes', () => {
  const rows = Object.entries<Variables[string]>(serverVariables)
  const promised = rows.flatMap(([name, { isMadeBySandbox }]) => (isMadeBySandbox ? [name] : []))
  assert.deepEqual([...MADE].sort(), promised.sort())
})

/** Efí's settings as its guide has them. */
const EFI = {
  PIXGATE_BANK: 'efi',
  PIXGATE_BANK_ENVIRONMENT: 'sandbox',
  PIXGATE_BANK_CLIENT_ID: 'client',
  PIXGATE_BANK_CLIENT_SECRET: 'client-secret-of-the-tests',
  PIXGATE_BANK_CERTIFICATE: handedOut(100).pkcs12('').toString('base64'),
}

test('[config.5] the sandbox connects the bank that PIXGATE_BANK chooses, and no simulated one', () => {
  const { bank, given } = readSandboxConfig(EFI)
  assert.ok('other' in bank)
  assert.equal(bank.other.settings.credentials, 'PIXGATE_BANK_CLIENT_SECRET')
  assert.equal(given.DATABASE_URL, undefined, 'the database is still the sandbox’s to make')
  assert.ok('partner' in readSandboxConfig({ PIXGATE_BANK: 'pixgate' }).bank)
})

test('[config.5] what such a bank requires nobody makes, and nothing of the simulated one is required', () => {
  assert.deepEqual(configFaults(readSandboxConfig, { ...EFI, PIXGATE_BANK_CLIENT_ID: '' }), [
    'PIXGATE_BANK_CLIENT_ID is required',
  ])
  const { PIXGATE_PARTNER_URL, PIXGATE_PARTNER_TOKEN, PIXGATE_PARTNER_SECRET, ...production } = PRODUCTION
  const origin = { PIXGATE_BANK_CALLBACK_SECRET: `${CANARY}-callback`, PIXGATE_BANK_CLIENT_SECRET: `${CANARY}-client` }
  assert.deepEqual(faulty({ ...production, ...EFI, ...origin }), [])
})

test('[config.2] production gets no configuration from the sandbox: it refuses what is missing, by name', () => {
  assert.deepEqual(faulty(PRODUCTION), [])
  assert.deepEqual(faulty({ PIXGATE_MODE: 'production' }), required)
})

/** Those of the service, and those between it and its simulated bank. */
async function allSecrets(config: SandboxConfig) {
  assert.ok('partner' in config.bank)
  return { ...(await secretsOf(config)), ...(await partnerSecretsOf(config.bank.partner, config.dataDirectory)) }
}

/** A directory that goes with the test. */
async function directory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pixgate-secrets-'))
  t.after(() => rm(path, { recursive: true }))
  return path
}

test('[config.3] secrets that are not configured are made once and kept where only their owner can read them', async (t) => {
  const dataDirectory = join(await directory(t), 'data')
  const config = readSandboxConfig({ PIXGATE_DATA_DIR: dataDirectory })
  const made = await allSecrets(config)
  for (const secret of Object.values(made)) assert.ok(secret.length >= 32)
  assert.equal(new Set(Object.values(made)).size, 4)
  assert.deepEqual(await allSecrets(config), made)
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
  await allSecrets(readSandboxConfig({ ...PRODUCTION, PIXGATE_DATA_DIR: elsewhere }))
  assert.deepEqual((await readdir(dataDirectory)).includes('production'), false, 'production keeps nothing')
})

test('[config.3] starts at the same moment agree on one set of secrets', async (t) => {
  const config = readSandboxConfig({ PIXGATE_DATA_DIR: await directory(t) })
  const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => allSecrets(config)))
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
