import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import test, { type TestContext } from 'node:test'
import { ConfigError, configTable, describeConfig, type Environment, readConfig, type Variable } from '../src/config.ts'
import { sandboxSecrets } from '../src/sandbox-secrets.ts'

const variables: readonly Variable[] = configTable

/** A secret that is long enough, and that must never be seen. */
const CANARY = 'canary-0123456789abcdef0123456789'

/** What production needs, and nothing more. */
const PRODUCTION: Environment = {
  PIXGATE_MODE: 'production',
  DATABASE_URL: `postgres://pixgate:${CANARY}@db.example/pixgate?sslmode=verify-full`,
  PIXGATE_ADMIN_TOKEN: `${CANARY}-admin`,
  PIXGATE_ENCRYPTION_KEY: `${CANARY}-encryption`,
  PIXGATE_PARTNER_URL: 'https://bank.example/pix',
  PIXGATE_PARTNER_TOKEN: `${CANARY}-token`,
  PIXGATE_PARTNER_SECRET: `${CANARY}-partner`,
  PIXGATE_MERCHANT_PIX_KEY: 'loja@example.com',
  PIXGATE_MERCHANT_NAME: 'Loja',
  PIXGATE_MERCHANT_CITY: 'Sao Paulo',
}

function faultsOf(environment: Environment): readonly string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    for (const fault of error.faults) assert.ok(error.message.includes(fault))
    assert.ok(!error.message.includes(CANARY), 'no secret is shown')
    return error.faults
  }
}

/** The variables at fault, in the order they are told. */
const faulty = (environment: Environment) => faultsOf(environment).map((fault) => fault.split(' ')[0])

test('[config.1] nothing at all is the sandbox, with its defaults', () => {
  const config = readConfig({})
  assert.ok(Object.isFrozen(config))
  const { host, port, databaseUrl, dataDirectory, mode, adminToken, simulatorPort, maxValueCents, logLevel } = config
  assert.deepEqual(
    { host, port, databaseUrl, dataDirectory, mode, adminToken, simulatorPort, maxValueCents, logLevel },
    {
      host: '127.0.0.1',
      port: 8080,
      databaseUrl: undefined,
      dataDirectory: resolve('.pixgate'),
      mode: 'sandbox',
      adminToken: undefined,
      simulatorPort: undefined,
      maxValueCents: 999_999_999_999n,
      logLevel: 'info',
    },
  )
  assert.deepEqual([config.partner.timeoutMs, config.partner.createBudgetMs], [3_000, 8_000])
  assert.deepEqual(config.feeCashIn, { cents: 0n, basisPoints: 0n })
  assert.deepEqual(config.feeCashOut, { cents: 0n, basisPoints: 0n })
  assert.deepEqual([config.cashOutMaxCents, config.cashOutDailyMaxCents], [null, null])
  assert.equal(config.webhookAllowPrivate, true)
  assert.deepEqual(readConfig(Object.fromEntries(variables.map(({ name }) => [name, '']))), config, 'empty is unset')
})

test('[config.1] what is set is read', () => {
  const config = readConfig({
    PORT: '0',
    PIXGATE_FEE_CASH_IN_CENTS: '10',
    PIXGATE_FEE_CASH_IN_BPS: '99',
    PIXGATE_FEE_CASH_OUT_CENTS: '50',
    PIXGATE_FEE_CASH_OUT_BPS: '1',
    PIXGATE_CASH_OUT_MAX_CENTS: '1',
    PIXGATE_CASH_OUT_DAILY_MAX_CENTS: '999999999999',
    PIXGATE_MAX_VALUE_CENTS: '5000000',
    PIXGATE_SIMULATOR_PORT: '0',
    PIXGATE_WEBHOOK_ALLOW_PRIVATE: 'false',
    PIXGATE_TRUST_PROXY: ' 10.0.0.0/8, ::1 ,',
    PIXGATE_DATA_DIR: 'data',
  })
  assert.equal(config.port, 0)
  assert.deepEqual(config.feeCashIn, { cents: 10n, basisPoints: 99n })
  assert.deepEqual(config.feeCashOut, { cents: 50n, basisPoints: 1n })
  assert.deepEqual([config.cashOutMaxCents, config.cashOutDailyMaxCents], [1n, 999_999_999_999n])
  assert.equal(config.maxValueCents, 5_000_000n)
  assert.equal(config.simulatorPort, 0)
  assert.equal(config.webhookAllowPrivate, false)
  assert.deepEqual(config.trustProxy, ['10.0.0.0/8', '::1'])
  assert.equal(config.dataDirectory, resolve('data'))
})

test('[config.1] every fault is told at once, each by the name of its variable', () => {
  const wrong = {
    PORT: '65536',
    PIXGATE_MODE: 'Sandbox',
    PIXGATE_ADMIN_TOKEN: 'canary',
    PIXGATE_PARTNER_URL: 'bank.example',
    PIXGATE_PARTNER_TIMEOUT_MS: '99',
    PIXGATE_PARTNER_CREATE_BUDGET_MS: '8s',
    PIXGATE_MERCHANT_NAME: 'x'.repeat(26),
    PIXGATE_MERCHANT_CITY: 'x'.repeat(16),
    PIXGATE_FEE_CASH_IN_BPS: '10001',
    PIXGATE_FEE_CASH_OUT_CENTS: '10000001',
    PIXGATE_FEE_CASH_OUT_BPS: '-1',
    PIXGATE_CASH_OUT_MAX_CENTS: '0',
    PIXGATE_CASH_OUT_DAILY_MAX_CENTS: '1000000000000',
    PIXGATE_MAX_VALUE_CENTS: '0',
    PIXGATE_WEBHOOK_ALLOW_PRIVATE: 'yes',
    PIXGATE_TRUST_PROXY: 'proxy.example',
    PIXGATE_LOG_LEVEL: 'verbose',
  }
  assert.deepEqual(faulty(wrong).sort(), Object.keys(wrong).sort())
})

test('[config.1] numbers are whole and plain', () => {
  for (const text of ['-1', '1.5', '1e3', '0x10', ' 80', '80 ', '8_080', 'NaN', '９', '1'.repeat(16)]) {
    assert.deepEqual(faulty({ PORT: text }), ['PORT'], text)
  }
})

test('[config.1] addresses of proxies, of the bank and of the database are what they must be', () => {
  for (const text of ['10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/', '10.0.0.0/8/8', '::1/129', '1.2.3', 'true', '*']) {
    assert.deepEqual(faulty({ PIXGATE_TRUST_PROXY: text }), ['PIXGATE_TRUST_PROXY'], text)
  }
  for (const text of ['10.0.0.1', '10.0.0.0/0', '10.0.0.0/32', 'fd00::/8', '::1/128']) {
    assert.deepEqual(faulty({ PIXGATE_TRUST_PROXY: text }), [], text)
  }
  for (const text of ['localhost:8081', '/pix', 'ftp://bank.example', 'file:///etc/passwd']) {
    assert.deepEqual(faulty({ PIXGATE_PARTNER_URL: text }), ['PIXGATE_PARTNER_URL'], text)
  }
  for (const text of ['pixgate', 'mysql://db.example/pixgate', `db.example:${CANARY}`]) {
    assert.deepEqual(faulty({ DATABASE_URL: text }), ['DATABASE_URL'], text)
  }
  for (const text of ['postgres://db/pixgate', 'postgresql:///pixgate?host=/var/run/postgresql']) {
    assert.deepEqual(faulty({ DATABASE_URL: text }), [], text)
  }
})

test('[config.2] production starts with what it needs, and refuses what is missing, by name', () => {
  assert.deepEqual(faulty(PRODUCTION), [])
  const { PIXGATE_MODE, ...required } = PRODUCTION
  assert.deepEqual(faulty({ PIXGATE_MODE }).sort(), Object.keys(required).sort())
  assert.deepEqual(
    variables.filter((variable) => variable.requiredInProduction).map(({ name }) => name),
    Object.keys(required).sort((one, other) => order(one) - order(other)),
  )
  assert.equal(readConfig(PRODUCTION).webhookAllowPrivate, false)
})

function order(name: string): number {
  return variables.findIndex((variable) => variable.name === name)
}

test('[config.2] production refuses what is safe in the sandbox only', () => {
  const short = 'canary'
  const unsafe = {
    PIXGATE_ADMIN_TOKEN: [short],
    PIXGATE_ENCRYPTION_KEY: [short],
    PIXGATE_PARTNER_TOKEN: [short, 'x'.repeat(31)],
    PIXGATE_PARTNER_SECRET: [short],
    PIXGATE_PARTNER_SECRET_PREVIOUS: [short],
    PIXGATE_PARTNER_INBOUND_API_KEY: [short],
    PIXGATE_WEBHOOK_ALLOW_PRIVATE: ['true'],
    PIXGATE_TRUST_PROXY: ['0.0.0.0/0', '::/0', '0.0.0.0/0,::/0', '10.0.0.1, 10.0.0.0/000'],
    PIXGATE_PARTNER_URL: ['http://bank.example', 'HTTP://bank.example', ' http://bank.example', 'http:bank.example'],
  }
  for (const [name, values] of Object.entries(unsafe)) {
    for (const value of values) assert.deepEqual(faulty({ ...PRODUCTION, [name]: value }), [name], value)
  }
})

test('[config.2] production reaches a database elsewhere by TLS only, and wants to know whose it is', () => {
  const of = (url: string) => faulty({ ...PRODUCTION, DATABASE_URL: url })
  const remote = `postgresql://pix:${CANARY}@db.example.com/pix`
  for (const query of [
    '',
    '?sslmode=disable',
    '?sslmode=prefer',
    '?sslmode=require',
    '?sslmode=verify-ca',
    '?sslmode=no-verify',
    '?sslmode=Verify-Full',
    '?sslmode=verify-full&sslmode=disable',
    '?ssl=true',
  ]) {
    assert.deepEqual(of(`${remote}${query}`), ['DATABASE_URL'], query)
  }
  assert.deepEqual(of(`${remote}?uselibpqcompat=true&sslmode=verify-full`), [])
  for (const elsewhere of [
    'postgresql:///pix',
    'postgresql://localhost.example.com/pix',
    'postgresql://127.0.0.1.example.com/pix',
    'postgresql://128.0.0.1/pix',
    'postgresql://[::2]/pix',
    'postgresql://localhost/pix?host=db.example.com',
    'postgresql://localhost/pix?host=/run&host=db.example.com',
    'postgresql://localhost@db.example.com/pix',
    'postgresql://db%2fexample/pix',
    'postgresql:///pix?host=%252fvar',
  ]) {
    assert.deepEqual(of(elsewhere), ['DATABASE_URL'], elsewhere)
  }
  for (const here of [
    'postgresql://localhost/pix',
    'postgresql://LOCALHOST:5433/pix',
    'postgresql://127.1.2.3/pix?sslmode=disable',
    'postgresql://[::1]:5432/pix',
    'postgresql:///pix?host=/var/run/postgresql',
    'postgresql://%2Fvar%2Frun%2Fpostgresql/pix',
    'postgresql://db.example.com/pix?host=127.0.0.1',
  ]) {
    assert.deepEqual(of(here), [], here)
  }
})

test('[config.2] the sandbox takes a database, proxies and secrets that production refuses', () => {
  const sandbox = { ...PRODUCTION, PIXGATE_MODE: 'sandbox', PIXGATE_PARTNER_TOKEN: 'canary' }
  const loose = { DATABASE_URL: 'postgres://db.example/pixgate', PIXGATE_TRUST_PROXY: '0.0.0.0/0' }
  const shared = { PIXGATE_ENCRYPTION_KEY: CANARY, PIXGATE_ADMIN_TOKEN: CANARY }
  assert.deepEqual(faulty({ ...sandbox, ...loose, ...shared }), [])
})

test('[config.2] production refuses one value for two secrets, and names both', () => {
  const names = variables.filter(({ name, secret }) => secret && name !== 'DATABASE_URL').map(({ name }) => name)
  assert.equal(names.length, 6)
  for (const [at, name] of names.entries()) {
    for (const other of names.slice(0, at)) {
      const [fault, ...more] = faultsOf({ ...PRODUCTION, [name]: CANARY, [other]: CANARY })
      assert.equal(fault, `${name} has the value of ${other}: every secret needs one of its own`)
      assert.deepEqual(more, [])
    }
  }
  const same = Object.fromEntries(names.map((name) => [name, CANARY]))
  assert.deepEqual(faulty({ ...PRODUCTION, ...same }), names.slice(1))
})

test('[config.2] production tells all that is unsafe at once', () => {
  const unsafe = {
    DATABASE_URL: 'postgresql://pix@db.example.com/pix?sslmode=disable',
    PIXGATE_ENCRYPTION_KEY: PRODUCTION.PIXGATE_ADMIN_TOKEN,
    PIXGATE_PARTNER_TOKEN: 'canary',
    PIXGATE_TRUST_PROXY: '0.0.0.0/0,::/0',
    PIXGATE_WEBHOOK_ALLOW_PRIVATE: 'true',
  }
  assert.deepEqual(faulty({ ...PRODUCTION, ...unsafe }).sort(), Object.keys(unsafe).sort())
})

test('[config.1] what is shown of the configuration shows no secret', () => {
  const shown = describeConfig({ ...PRODUCTION, PIXGATE_PARTNER_SECRET_PREVIOUS: CANARY })
  assert.ok(!JSON.stringify(shown).includes('canary'))
  assert.equal(shown.PIXGATE_ADMIN_TOKEN, '***')
  assert.equal(shown.DATABASE_URL, '***')
  assert.equal(shown.PIXGATE_PARTNER_INBOUND_API_KEY, '', 'and tells which are not set')
  assert.equal(shown.PIXGATE_PARTNER_URL, 'https://bank.example/pix')
  assert.equal(shown.PORT, '8080')
  assert.deepEqual(
    Object.keys(shown),
    variables.map(({ name }) => name),
  )
})

test('[config.1] whatever has a secret’s name is a secret', () => {
  for (const { name, secret } of variables) {
    assert.equal(secret ?? false, /TOKEN|SECRET|_KEY$|DATABASE_URL/.test(name) && !name.endsWith('PIX_KEY'), name)
  }
})

async function directory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'pixgate-secrets-'))
  t.after(() => rm(path, { recursive: true }))
  return path
}

test('[config.3] secrets that are not configured are made once and kept where only their owner can read them', async (t) => {
  const dataDirectory = join(await directory(t), 'data')
  const config = readConfig({ PIXGATE_DATA_DIR: dataDirectory })
  const made = await sandboxSecrets(config)
  for (const secret of Object.values(made)) assert.ok(secret.length >= 32)
  assert.equal(new Set(Object.values(made)).size, 4)
  assert.deepEqual(await sandboxSecrets(config), made)
  const [file] = await readdir(dataDirectory)
  assert.equal((await stat(join(dataDirectory, file ?? ''))).mode & 0o777, 0o600)
})

test('[config.3] what is configured counts, and is not written down', async (t) => {
  const dataDirectory = await directory(t)
  const config = readConfig({ PIXGATE_DATA_DIR: dataDirectory, PIXGATE_ADMIN_TOKEN: CANARY })
  assert.equal((await sandboxSecrets(config)).adminToken, CANARY)
  for (const file of await readdir(dataDirectory)) {
    assert.ok(!(await readFile(join(dataDirectory, file), 'utf8')).includes(CANARY))
  }
  const elsewhere = join(dataDirectory, 'production')
  await sandboxSecrets(readConfig({ ...PRODUCTION, PIXGATE_DATA_DIR: elsewhere }))
  assert.deepEqual((await readdir(dataDirectory)).includes('production'), false, 'production keeps nothing')
})

test('[config.3] starts at the same moment agree on one set of secrets', async (t) => {
  const config = readConfig({ PIXGATE_DATA_DIR: await directory(t) })
  const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => sandboxSecrets(config)))
  for (const other of others) assert.deepEqual(other, first)
})

test('[config.3] a file of secrets that is not whole is not taken for one', async (t) => {
  const dataDirectory = await directory(t)
  const config = readConfig({ PIXGATE_DATA_DIR: dataDirectory })
  await sandboxSecrets(config)
  const [file] = await readdir(dataDirectory)
  await writeFile(join(dataDirectory, file ?? ''), '')
  await assert.rejects(sandboxSecrets(config), /sandbox-secrets\.json/)
})

test('[cash-in.credits.3] what may be credited unverified is ten times what is always verified, unless it is set', () => {
  assert.deepEqual(readConfig({}).credits, { verifyFromCents: 1_000_00n, unverifiedMaxCents: 10_000_00n })
  const from = { PIXGATE_VERIFY_CREDITS_FROM_CENTS: '500' }
  assert.equal(readConfig(from).credits.unverifiedMaxCents, 50_00n)
  const set = { ...from, PIXGATE_UNVERIFIED_CREDITS_MAX_CENTS: '7' }
  assert.equal(readConfig(set).credits.unverifiedMaxCents, 7n)
})
