import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { readSandboxConfig, sandboxVariables } from '../../sandbox/src/config.ts'
import { type Bank, connector, lacking } from '../src/banks/bank.ts'
import { banks } from '../src/banks/banks.ts'
import { pixgateBankConfig, pixgateBankVariables } from '../src/banks/pixgate/config.ts'
import { consoleUrlOf, databaseUrlFault, readConfig, serviceVariables } from '../src/config.ts'
import {
  type Environment,
  readVariables,
  secret,
  type Variable,
  type Variables,
  variables,
} from '../src/platform/variables.ts'
import { certificateOf, endedCertificate } from './support/certificates.ts'
import { CANARY, configFaults, faultyVariables, PRODUCTION } from './support/environment.ts'
import { limitsOf } from './support/limits.ts'

const table: Variables = { ...serviceVariables, ...pixgateBankVariables }

const rows: readonly (Variable & { readonly name: string })[] = Object.entries(table).map(([name, row]) => ({
  name,
  ...row,
}))

/** One value for each secret. */
const ALL_SECRETS: Environment = {
  ...PRODUCTION,
  PIXGATE_ADMIN_TOKEN_PREVIOUS: `${CANARY}-admin-previous`,
  PIXGATE_METRICS_TOKEN: `${CANARY}-metrics`,
  PIXGATE_METRICS_TOKEN_PREVIOUS: `${CANARY}-metrics-previous`,
  PIXGATE_ENCRYPTION_KEY_PREVIOUS: `${CANARY}-encryption-previous`,
  PIXGATE_PARTNER_SECRET_PREVIOUS: `${CANARY}-previous`,
  PIXGATE_PARTNER_INBOUND_API_KEY: `${CANARY}-inbound`,
  PIXGATE_PARTNER_INBOUND_API_KEY_PREVIOUS: `${CANARY}-inbound-previous`,
  PIXGATE_ALERT_SMTP_URL: `smtps://pixgate:${CANARY}@smtp.example`,
  PIXGATE_ALERT_WEBHOOK_URLS: `https://hooks.slack.com/services/${CANARY}`,
}

/** What production wants beside a static key of the bank. */
const ADDRESSES: Environment = { PIXGATE_PARTNER_ADDRESSES: '203.0.113.7' }

/** What alerts by e-mail want beside the secret address of their server. */
const EMAIL: Environment = {
  PIXGATE_ALERT_EMAIL_TO: 'ana@loja.example, plantao@loja.example',
  PIXGATE_ALERT_EMAIL_FROM: 'pixgate@loja.example',
}

/** A directory that goes with the test. */
function temporaryDirectory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'pixgate-config-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

/** A bank that answers and reports nothing. */
const MUTE: Bank = {
  ...lacking,
  capabilities: new Set(),
  idempotencyWindowMs: 0,
  inbound: { routes: [], authenticate: () => 'refused', parse: () => [] },
  close: async () => undefined,
}

/** What the server needs in either mode, as production would not take it. */
const REQUIRED: Environment = {
  DATABASE_URL: 'postgres://pixgate@db.example/pixgate',
  PIXGATE_ADMIN_TOKEN: `${CANARY}-admin`,
  PIXGATE_ENCRYPTION_KEY: `${CANARY}-encryption`,
  PIXGATE_PARTNER_URL: 'http://bank.example/pix',
  PIXGATE_PARTNER_TOKEN: 'canary',
  PIXGATE_PARTNER_SECRET: 'canary',
}

const ALONE: Environment = { ...REQUIRED, PIXGATE_MODE: 'sandbox' }

/** A bank on this machine. */
const HERE: Environment = { PIXGATE_PARTNER_URL: 'http://127.0.0.1:8081' }

const faultsOf = (environment: Environment) => configFaults(readConfig, environment)
const faulty = (environment: Environment) => faultyVariables(readConfig, environment)

test('[config.1] what is not set has its default, and what is empty is not set', () => {
  const config = readConfig({ ...ALONE, ...HERE, PIXGATE_MODE: '' })
  assert.ok(Object.isFrozen(config))
  const { host, port, mode, maxValueCents, logLevel, trustProxy } = config
  assert.deepEqual(
    { host, port, mode, maxValueCents, logLevel, trustProxy },
    {
      host: '127.0.0.1',
      port: 8080,
      mode: 'sandbox',
      maxValueCents: 999_999_999_999n,
      logLevel: 'info',
      trustProxy: [],
    },
  )
  assert.deepEqual([config.bank.timeoutMs, config.bank.createBudgetMs], [3_000, 8_000])
  assert.deepEqual(config.merchant, { pixKey: 'financeiro@loja.example', name: 'Loja Exemplo', city: 'Sao Paulo' })
  assert.deepEqual(config.feeCashIn, { cents: 0n, basisPoints: 0n })
  assert.deepEqual(config.feeCashOut, { cents: 0n, basisPoints: 0n })
  assert.deepEqual(config.limits, limitsOf())
  assert.equal(config.rateLimitPerMinute, 600)
  assert.equal(config.webhookAllowPrivate, true)
  const empty = Object.fromEntries(rows.map(({ name }) => [name, '']))
  const { bank: _, ...others } = config
  assert.partialDeepStrictEqual(readConfig({ ...empty, ...ALONE, ...HERE }), others)
})

test('[config.1] what is set is read', () => {
  const config = readConfig({
    ...ALONE,
    PORT: '0',
    PIXGATE_FEE_CASH_IN_CENTS: '10',
    PIXGATE_FEE_CASH_IN_BPS: '99',
    PIXGATE_FEE_CASH_OUT_CENTS: '50',
    PIXGATE_FEE_CASH_OUT_BPS: '1',
    PIXGATE_PAYMENT_MAX_CENTS: '1',
    PIXGATE_HOUR_MAX_CENTS: 'none',
    PIXGATE_DAY_MAX_CENTS: '999999999999',
    PIXGATE_NIGHT_MAX_CENTS: '2',
    PIXGATE_NEW_RECIPIENT_MAX_CENTS: '3',
    PIXGATE_NEW_RECIPIENT_HOURS: '0',
    PIXGATE_MAX_VALUE_CENTS: '5000000',
    PIXGATE_WEBHOOK_ALLOW_PRIVATE: 'false',
    PIXGATE_TRUST_PROXY: ' 10.0.0.0/8, ::1 ,',
  })
  assert.equal(config.databaseUrl, ALONE.DATABASE_URL)
  assert.deepEqual([config.adminToken, config.encryptionKeys.current], [`${CANARY}-admin`, `${CANARY}-encryption`])
  assert.equal(config.port, 0)
  assert.deepEqual(config.feeCashIn, { cents: 10n, basisPoints: 99n })
  assert.deepEqual(config.feeCashOut, { cents: 50n, basisPoints: 1n })
  const caps = { paymentCents: 1n, hourCents: null, dayCents: 999_999_999_999n, nightCents: 2n, newRecipientCents: 3n }
  assert.deepEqual(config.limits, { caps, newRecipientMs: 0 })
  assert.equal(config.maxValueCents, 5_000_000n)
  assert.equal(config.webhookAllowPrivate, false)
  assert.deepEqual(config.trustProxy, ['10.0.0.0/8', '::1'])
})

test('[config.4] the server alone names a required variable that is missing, and what would provide it', () => {
  const faults = faultsOf({})
  assert.deepEqual(
    faults,
    Object.keys(REQUIRED).map(
      (name) => `${name} is required; the sandbox, which npm start runs in a checkout, brings its own`,
    ),
  )
  assert.deepEqual(faulty({ ...ALONE, DATABASE_URL: '', PORT: 'x' }).sort(), ['DATABASE_URL', 'PORT'])
})

test('[config.1] every fault is reported at once, each by the name of its variable', () => {
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
    PIXGATE_PAYMENT_MAX_CENTS: '0',
    PIXGATE_HOUR_MAX_CENTS: 'None',
    PIXGATE_DAY_MAX_CENTS: '1000000000000',
    PIXGATE_MAX_VALUE_CENTS: '0',
    PIXGATE_WEBHOOK_ALLOW_PRIVATE: 'yes',
    PIXGATE_TRUST_PROXY: 'proxy.example',
    PIXGATE_LOG_LEVEL: 'verbose',
  }
  assert.deepEqual(faulty({ ...ALONE, ...wrong }).sort(), Object.keys(wrong).sort())
})

test('[config.1] a fault says what is accepted, and never what was given', () => {
  assert.deepEqual(
    faultsOf({ ...ALONE, ...{ PORT: 'canary-0', PIXGATE_PARTNER_TIMEOUT_MS: '99', PIXGATE_LOG_LEVEL: 'canary' } }),
    [
      'PORT must be a whole number from 0 to 65535',
      'PIXGATE_LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
      'PIXGATE_PARTNER_TIMEOUT_MS must be a whole number of milliseconds from 100 to 10000',
    ],
  )
  assert.deepEqual(
    faultsOf({
      ...PRODUCTION,
      DATABASE_URL: `postgres://${CANARY}@db.example/pixgate`,
      PIXGATE_PARTNER_TOKEN: 'canary',
      PIXGATE_TRUST_PROXY: '::/0',
      PIXGATE_WEBHOOK_ALLOW_PRIVATE: 'true',
    }),
    [
      'DATABASE_URL must be an address with sslmode=verify-full, or one on this machine',
      'PIXGATE_WEBHOOK_ALLOW_PRIVATE must be false: webhooks could reach private addresses',
      'PIXGATE_TRUST_PROXY must be addresses or CIDRs that together are at most one /8 of public IPv4 and one /19 of public IPv6',
      'PIXGATE_PARTNER_TOKEN must be at least 32 characters of printable ASCII, with no blank at its ends',
    ],
  )
})

test('[webhooks.26] networks for endpoints are private, have a port, and leave out metadata and the ports of the service', () => {
  const NAME = 'PIXGATE_WEBHOOK_ALLOWED_NETWORKS'
  const of = (value: string, more: Environment = {}) => faultsOf({ ...PRODUCTION, ...more, [NAME]: value })
  const { webhookAllowedNetworks } = readConfig({
    ...PRODUCTION,
    [NAME]: ' 10.20.0.0/16:8443 ,[fd12:3456::/48]:443,192.168.7.9:1024,',
  })
  assert.deepEqual(webhookAllowedNetworks, [
    { network: '10.20.0.0/16', port: 8_443 },
    { network: 'fd12:3456::/48', port: 443 },
    { network: '192.168.7.9', port: 1_024 },
  ])
  assert.deepEqual(readConfig(PRODUCTION).webhookAllowedNetworks, [])
  const malformed = ['10.20.0.0/16', '10.20.0.0/33:443', '10.20.0.0/16:', 'erp.internal:443', 'fd12::/48:443', '*:443']
  const reserved = [
    '127.0.0.1',
    '127.0.0.0/8',
    '169.254.169.254',
    '169.254.0.0/16',
    '0.0.0.0',
    '0.0.0.0/8',
    '0.0.0.0/0',
  ]
  const reserved6 = [
    '::1',
    '::',
    '::/0',
    'fe80::/10',
    'ff02::/16',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a00:1',
  ]
  const wide = ['8.8.8.8', '8.0.0.0/5', '10.0.0.0/7', '172.0.0.0/8', '168.63.129.16', '2606:4700::/32', '::ffff:0:0/96']
  const metadata = ['100.100.100.200', '100.64.0.0/10', 'fd00:ec2::254', 'fd00::/8', 'fd20:ce::/32', 'fd00:42::42']
  const entries = [...reserved, ...reserved6, ...wide, ...metadata].map((network) =>
    network.includes(':') ? `[${network}]:8443` : `${network}:8443`,
  )
  const ports = ['10.0.0.1:80', '10.0.0.1:0', '10.0.0.1:1023', '10.0.0.1:65536', '10.0.0.1:99999']
  for (const entry of [...malformed, ...entries, ...ports]) {
    const faults = of(`10.20.0.0/16:8443,${entry}`)
    assert.equal(faults.length, 1, entry)
    assert.match(faults[0] ?? '', /^PIXGATE_WEBHOOK_ALLOWED_NETWORKS entry 2 must /, entry)
  }
  assert.match(of('8.8.8.8:443,10.0.0.1:8443,::1').join(), /entry 1 must .+; entry 3 must /)
  assert.deepEqual(of('[::ffff:10.20.0.0/112]:8443'), [], 'a mapped private network is one of IPv4')

  const own = { PORT: '8443', PIXGATE_OPERATOR_PORT: '8444', PIXGATE_WORKER_PORT: '8445' }
  for (const [name, port] of Object.entries(own)) {
    assert.deepEqual(of(`10.20.0.0/16:${port}`, own), [`${NAME} must not have the port of ${name}`])
  }
  assert.deepEqual(of('10.20.0.0/16:8080'), [`${NAME} must not have the port of PORT`], 'its default')
  assert.deepEqual(of('10.20.0.0/16:8080', own), [])
})

test('[config.5] the variables of the chosen bank are read, and those of no other', () => {
  const { PIXGATE_PARTNER_URL, PIXGATE_PARTNER_TOKEN, PIXGATE_PARTNER_SECRET, ...service } = ALONE
  const opened: string[] = []
  const other = connector({
    title: 'Another bank',
    variables: variables({
      OTHER_KEY: { shape: secret(3), required: 'always', secret: true, description: 'Its key.' },
    }),
    settings: { address: 'OTHER_KEY', credentials: 'OTHER_KEY' },
    configOf: ({ OTHER_KEY }) => ({ key: OTHER_KEY, timeoutMs: 1, createBudgetMs: 2 }),
    open: ({ key }) => {
      opened.push(key)
      return MUTE
    },
  })
  const choose = (environment: Environment) =>
    readConfig({ ...service, ...environment }, new Map(), { ...banks, other })
  const { bank } = choose({ PIXGATE_BANK: 'other', OTHER_KEY: 'abc' })
  bank.open()
  assert.deepEqual([bank.timeoutMs, bank.createBudgetMs, opened], [1, 2, ['abc']])
  assert.throws(() => choose({ PIXGATE_BANK: 'other' }), /^ConfigError: .+\n {2}- OTHER_KEY is required/)
  assert.throws(() => choose({ ...ALONE, PIXGATE_BANK: 'none' }), /\n {2}- PIXGATE_BANK must be one of .*, other$/)
  const { hasIdempotentOrders, inboundApiKey, secretPrevious, url, token } = pixgateBankConfig(
    readVariables(pixgateBankVariables, ALONE, { isProduction: false }),
  )
  assert.deepEqual(
    { hasIdempotentOrders, inboundApiKey, secretPrevious, url, token },
    {
      hasIdempotentOrders: true,
      inboundApiKey: undefined,
      secretPrevious: undefined,
      url: 'http://bank.example/pix',
      token: 'canary',
    },
  )
})

test('[config.1] numbers are whole and plain', () => {
  for (const text of ['-1', '1.5', '1e3', '0x10', ' 80', '80 ', '8_080', 'NaN', '９', '1'.repeat(16)]) {
    assert.deepEqual(faulty({ ...ALONE, PORT: text }), ['PORT'], text)
  }
})

test('[config.1] addresses of proxies, of the bank and of the database are what they must be', () => {
  for (const text of [
    'none, 10.0.0.1',
    'None',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::1/129',
    '1.2.3',
    'true',
    '*',
  ]) {
    assert.deepEqual(faulty({ ...ALONE, PIXGATE_TRUST_PROXY: text }), ['PIXGATE_TRUST_PROXY'], text)
  }
  for (const text of ['10.0.0.1', '10.0.0.0/0', '10.0.0.0/32', 'fd00::/8', '::1/128', 'none']) {
    assert.deepEqual(faulty({ ...ALONE, PIXGATE_TRUST_PROXY: text }), [], text)
  }
  for (const text of ['localhost:8081', '/pix', 'ftp://bank.example', 'file:///etc/passwd']) {
    assert.deepEqual(faulty({ ...ALONE, PIXGATE_PARTNER_URL: text }), ['PIXGATE_PARTNER_URL'], text)
  }
  for (const text of ['pixgate', 'mysql://db.example/pixgate', `db.example:${CANARY}`]) {
    assert.deepEqual(faulty({ ...ALONE, DATABASE_URL: text }), ['DATABASE_URL'], text)
  }
  for (const text of ['postgres://db/pixgate', 'postgresql:///pixgate?host=/var/run/postgresql']) {
    assert.deepEqual(faulty({ ...ALONE, DATABASE_URL: text }), [], text)
  }
})

test('[config.11] an unusable DATABASE_URL names the part that is wrong, and shows none of it', () => {
  const PASSWORD = 'in its user or password'
  const expected = {
    'postgres://u:pa/ss@db/pix': PASSWORD,
    'postgres://u:pa#ss@db/pix': PASSWORD,
    'postgres://u:12#ss@db/pix': PASSWORD,
    'postgres://u:pa?ss@db/pix': PASSWORD,
    'postgres://u:pa@ss@db/pix': PASSWORD,
    'postgres://u:pa%ss@db/pix': PASSWORD,
    'postgres://u:pa[ss@db/pix': PASSWORD,
    'postgres://u:p@db:port/pix': 'port',
    'postgres://u:p@db:65536/pix': 'port',
    'postgres://u:p@d b/pix': 'host',
    'postgres://u:p@db1,db2/pix': 'several hosts',
    'postgres://u:p@db1:5432,db2:5432/pix': 'several hosts',
    'postgres:///pix?host=db1,db2': 'several hosts',
    'postgres://u:p@db/pix?target_session_attrs=read-write': 'target_session_attrs',
    'mysql://u:p@db/pix': 'postgres://',
  }
  for (const [address, part] of Object.entries(expected)) {
    const fault = databaseUrlFault(address) ?? ''
    assert.ok(fault.includes(part), `${address}: ${fault}`)
    assert.ok(!fault.includes('ss@') && !fault.includes('u:p'), fault)
  }
  for (const usable of [
    'postgres://u:p%2Fss@db:5432/pix',
    'postgres://u:p@[::1]:5432/pix?application_name=a',
    'postgresql://%2Fvar%2Frun%2Fpostgresql/pix',
    'postgres://u:0123456789abcdef@db/pix?sslmode=verify-full&sslrootcert=/etc/ca.pem',
  ]) {
    assert.equal(databaseUrlFault(usable), undefined, usable)
  }
})

test('[config.2] [limits.10] production starts with what it needs, and refuses what is missing, by name', () => {
  assert.deepEqual(faulty(PRODUCTION), [])
  const { PIXGATE_MODE, ...required } = PRODUCTION
  assert.deepEqual(faulty({ PIXGATE_MODE }).sort(), Object.keys(required).sort())
  assert.deepEqual(
    rows.filter(({ required }) => required !== undefined).map(({ name }) => name),
    Object.keys(required).sort((one, other) => order(one) - order(other)),
  )
  assert.equal(readConfig(PRODUCTION).webhookAllowPrivate, false)
})

function order(name: string): number {
  return rows.findIndex((row) => row.name === name)
}

test('[config.2] production refuses what is safe in the sandbox only', () => {
  const short = 'canary'
  const unsafe = {
    PIXGATE_ADMIN_TOKEN: [short],
    PIXGATE_ENCRYPTION_KEY: [short],
    PIXGATE_PARTNER_TOKEN: [short, CANARY.slice(0, 31)],
    PIXGATE_PARTNER_SECRET: [short],
    PIXGATE_PARTNER_SECRET_PREVIOUS: [short],
    PIXGATE_PARTNER_INBOUND_API_KEY: [short],
    PIXGATE_WEBHOOK_ALLOW_PRIVATE: ['true'],
    PIXGATE_TRUST_PROXY: ['0.0.0.0/0', '::/0', '0.0.0.0/0,::/0', '10.0.0.1, 10.0.0.0/000', ','],
    PIXGATE_RATE_LIMIT_PER_MINUTE: ['0'],
    PIXGATE_LOG_LEVEL: ['silent', 'fatal'],
    PIXGATE_PARTNER_URL: ['http://bank.example', 'HTTP://bank.example', ' http://bank.example', 'http:bank.example'],
  }
  for (const [name, values] of Object.entries(unsafe)) {
    for (const value of values) assert.deepEqual(faulty({ ...PRODUCTION, ...ADDRESSES, [name]: value }), [name], value)
  }
})

test('[config.2] production connects to a remote database by TLS only, and verifies its identity', () => {
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
  const names = rows.filter(({ name, secret }) => secret && !/_URLS?$/.test(name)).map(({ name }) => name)
  assert.equal(names.length, 11)
  for (const [at, name] of names.entries()) {
    for (const other of names.slice(0, at)) {
      const [fault, ...more] = faultsOf({ ...PRODUCTION, ...ADDRESSES, [name]: CANARY, [other]: CANARY })
      assert.equal(fault, `${name} has the value of ${other}: every secret needs one of its own`)
      assert.deepEqual(more, [])
    }
  }
  const same = Object.fromEntries(names.map((name) => [name, CANARY]))
  assert.deepEqual(faulty({ ...PRODUCTION, ...ADDRESSES, ...same }), names.slice(1))
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

test('[config.1] whatever has a secret’s name is a secret', () => {
  for (const { name, secret } of rows) {
    assert.equal(
      secret ?? false,
      /TOKEN|SECRET|_KEY(_PREVIOUS)?$|DATABASE_URL|MIGRATION_URL|SMTP_URL|WEBHOOK_URLS/.test(name) &&
        !name.endsWith('PIX_KEY'),
      name,
    )
  }
})

test('[cash-in.credits.2] from R$ 1.000,00 on payments are queried in the sandbox, and every one in production', () => {
  assert.deepEqual(readConfig(ALONE).credits, { verifyFromCents: 1_000_00n })
  assert.deepEqual(readConfig({ ...ALONE, PIXGATE_VERIFY_CREDITS_FROM_CENTS: '1' }).credits, { verifyFromCents: 1n })
  assert.deepEqual(readConfig(PRODUCTION).credits, { verifyFromCents: 0n })
  for (const PIXGATE_VERIFY_CREDITS_FROM_CENTS of ['1', '100000']) {
    assert.throws(
      () => readConfig({ ...PRODUCTION, PIXGATE_VERIFY_CREDITS_FROM_CENTS }),
      /PIXGATE_VERIFY_CREDITS_FROM_CENTS/,
    )
  }
})

test('[config.7] an unknown PIXGATE_ variable is refused with the nearest known name, with all other faults', () => {
  const unknown = {
    PIXGATE_PAYMENT_MAX_CENT: '100000',
    PIXGATE_NEWRECIPIENT_MAX_CENTS: '1',
    pixgate_mode: 'production',
    PIXGATE_PARTNER_TOKNE: 'canary',
    PIXGATE_ADMIN_TOKEN_FLIE: '/run/secrets/admin',
    PIXGATE_PORT_FILE: '/run/secrets/port',
    PIXGATE_ZEBRA: 'blue',
  }
  assert.deepEqual(faultsOf({ ...ALONE, ...unknown, PORT: 'x' }), [
    'PORT must be a whole number from 0 to 65535',
    'PIXGATE_PAYMENT_MAX_CENT is unknown; did you mean PIXGATE_PAYMENT_MAX_CENTS?',
    'PIXGATE_NEWRECIPIENT_MAX_CENTS is unknown; did you mean PIXGATE_NEW_RECIPIENT_MAX_CENTS?',
    'pixgate_mode is unknown; did you mean PIXGATE_MODE?',
    'PIXGATE_PARTNER_TOKNE is unknown; did you mean PIXGATE_PARTNER_TOKEN?',
    'PIXGATE_ADMIN_TOKEN_FLIE is unknown; did you mean PIXGATE_ADMIN_TOKEN_FILE?',
    'PIXGATE_PORT_FILE is unknown',
    'PIXGATE_ZEBRA is unknown',
  ])
  assert.deepEqual(faulty({ ...ALONE, PIXGATE_PAYMENT_MAX_CENT: '' }), [], 'what is empty is not set')
})

test('[config.7] what another program of this project reads is known; so are other connectors’ variables, and the tests’', () => {
  const elsewhere = Object.fromEntries(Object.keys(sandboxVariables).map((name) => [name, '1']))
  const more = { PIXGATE_URL: 'http://127.0.0.1', PIXGATE_TEST_ANYTHING: '1', PATH: '/bin', PIXGATED: '1' }
  assert.deepEqual(faulty({ ...ALONE, ...elsewhere, ...more }), [])
  const row = { shape: secret(), secret: true, description: 'Its key.' } as const
  const other = connector({
    title: 'Another bank',
    variables: variables({ PIXGATE_OTHER_KEY: row }),
    settings: { address: 'PIXGATE_OTHER_KEY', credentials: 'PIXGATE_OTHER_KEY' },
    configOf: () => ({ timeoutMs: 1, createBudgetMs: 2 }),
    open: () => MUTE,
  })
  const set = { ...ALONE, PIXGATE_OTHER_KEY: CANARY }
  assert.doesNotThrow(() => readConfig(set, new Map(), { ...banks, other }))
  assert.deepEqual(faulty(set), ['PIXGATE_OTHER_KEY'])
})

test('[config.7] a name in the file that nothing reads is refused, and only what begins with PIXGATE_ is repeated', () => {
  const lines = {
    PIXGATE_PAYMENT_MAX_CENT: '1',
    DATABSE_URL: 'postgres://db.example/pixgate',
    PRT: '1',
    bXktc2VjcmV0LW15LXNlY3JldC1teS1zZWNyZXQ: '',
    NODE_OPTIONS: '--trace-warnings',
    PIXGATE_PARTNER_TOKNE: '',
    ...Object.fromEntries(Object.keys({ ...table, ...sandboxVariables }).map((name) => [name, ''])),
    PIXGATE_ADMIN_TOKEN_FILE: '',
    PIXGATE_SIMULATOR_DATA_DIR: 'bank',
    PIXGATE_URL: 'http://127.0.0.1:8080',
    PIXGATE_TEST_ANYTHING: '1',
  }
  const places = new Map(Object.keys(lines).map((name, index) => [name, `.env, line ${index + 1}`]))
  const faults = configFaults((environment) => readConfig(environment, places), { ...lines, ...ALONE })
  assert.deepEqual(faults, [
    'PIXGATE_PAYMENT_MAX_CENT is unknown; did you mean PIXGATE_PAYMENT_MAX_CENTS?',
    'PIXGATE_PARTNER_TOKNE is unknown; did you mean PIXGATE_PARTNER_TOKEN?',
    '.env, line 2: unknown setting; did you mean DATABASE_URL?',
    '.env, line 3: unknown setting; did you mean PORT?',
    '.env, line 4: unknown setting',
    '.env, line 5: unknown setting',
  ])
  const { DATABSE_URL, NODE_OPTIONS } = lines
  assert.deepEqual(faulty({ ...ALONE, DATABSE_URL, NODE_OPTIONS }), [], 'the environment is not ours alone')
})

test('[config.9] a bank on another machine needs a mode that was chosen', () => {
  const { PIXGATE_MODE: _, ...unchosen } = ALONE
  for (const url of ['https://bank.example', 'http://10.0.0.1:8081', 'http://127.0.0.1.example', 'http://[::2]']) {
    assert.deepEqual(faultsOf({ ...unchosen, PIXGATE_PARTNER_URL: url }), [
      'PIXGATE_MODE must be set, to production or to sandbox, where PIXGATE_PARTNER_URL is on another machine',
    ])
    assert.deepEqual(faulty({ ...unchosen, PIXGATE_PARTNER_URL: url, PIXGATE_MODE: 'sandbox' }), [])
  }
  for (const url of ['http://localhost:8081', 'http://127.0.0.1', 'http://[::1]:8081']) {
    assert.deepEqual(faulty({ ...unchosen, PIXGATE_PARTNER_URL: url }), [], url)
  }
})

test('[alerts.7] alerts are off where nothing is set, and e-mail needs its three settings', () => {
  const { email, webhooks, language } = readConfig(ALONE).alerts
  assert.deepEqual([email, webhooks, language], [undefined, [], 'pt-BR'])
  const all = { ...EMAIL, PIXGATE_ALERT_SMTP_URL: `smtp://mail.example` }
  assert.deepEqual(readConfig({ ...ALONE, ...all }).alerts.email, {
    from: 'pixgate@loja.example',
    to: ['ana@loja.example', 'plantao@loja.example'],
    smtpUrl: 'smtp://mail.example',
  })
  for (const name of Object.keys(all)) assert.deepEqual(faulty({ ...ALONE, ...all, [name]: '' }), [name])
})

test('[alerts.7] an address that cannot be used, or would add a header, is refused without being shown', () => {
  const isRefused = (name: string, value: string, environment: Environment = ALONE) => {
    const all = { ...environment, ...EMAIL, PIXGATE_ALERT_SMTP_URL: 'smtp://mail.example', [name]: value }
    assert.deepEqual(faulty(all), [name], value)
  }
  for (const value of [
    `https://mail.example`,
    `smtp://user:${CANARY}`,
    `smtps://mail.example/?tls.rejectUnauthorized=false#${CANARY}`,
    `smtps://user:${CANARY}%@mail.example`,
  ]) {
    isRefused('PIXGATE_ALERT_SMTP_URL', value)
  }
  for (const value of ['loja.example', 'Ana <ana@loja.example>', 'a@loja.example\r\nBcc: b@loja.example']) {
    isRefused('PIXGATE_ALERT_EMAIL_TO', value)
    isRefused('PIXGATE_ALERT_EMAIL_FROM', value)
  }
  for (const value of [
    `https://chat.example/${CANARY}`,
    `slack:ftp://chat.example/${CANARY}`,
    `https://hooks.slack.com/services/a,teams:https://user:${CANARY}@chat.example/`,
  ]) {
    isRefused('PIXGATE_ALERT_WEBHOOK_URLS', value)
  }
  isRefused('PIXGATE_ALERT_WEBHOOK_URLS', 'slack:http://chat.example/', PRODUCTION)
})

test('[alerts.7] the service of a webhook is known by its host, or said', () => {
  const PIXGATE_ALERT_WEBHOOK_URLS = [
    'https://hooks.slack.com/services/T0/B0/x',
    'https://discord.com/api/webhooks/1/x',
    'https://loja.webhook.office.com/webhookb2/x',
    'slack:https://mattermost.loja.example/hooks/x',
  ].join(', ')
  assert.deepEqual(
    readConfig({ ...ALONE, PIXGATE_ALERT_WEBHOOK_URLS }).alerts.webhooks.map(({ kind }) => kind),
    ['slack', 'discord', 'teams', 'slack'],
  )
})

test('[alerts.5] links lead to the console by its name, else to this machine, or nowhere', () => {
  const urlOf = (environment: Environment) => consoleUrlOf(readConfig({ ...ALONE, ...environment }))
  assert.equal(urlOf({}), 'http://127.0.0.1:8080/console')
  assert.equal(urlOf({ PIXGATE_OPERATOR_PORT: '8090' }), 'http://127.0.0.1:8090/console')
  assert.equal(urlOf({ PIXGATE_CONSOLE_HOSTS: 'pix.example' }), 'https://pix.example/console')
  assert.equal(urlOf({ PIXGATE_CONSOLE: 'false' }), undefined)
})

test('[config.8] every secret may stand in a file, and line breaks at its end do not count', (t) => {
  const directory = temporaryDirectory(t)
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  // The owner's login is none of a server's: migration.test.ts.
  const secrets = rows.filter(({ name, secret }) => secret && name !== 'PIXGATE_MIGRATION_URL').map(({ name }) => name)
  const files = secrets.map((name) => [`${name}_FILE`, file(name, `${ALL_SECRETS[name]}\r\n\n`)])
  const others = Object.entries({ ...PRODUCTION, ...ADDRESSES, ...EMAIL }).filter(([name]) => !secrets.includes(name))
  const config = readConfig(Object.fromEntries([...others, ...files]))
  assert.equal(config.adminToken, ALL_SECRETS.PIXGATE_ADMIN_TOKEN)
  assert.equal(config.databaseUrl, ALL_SECRETS.DATABASE_URL)
  const same = Object.fromEntries([...others, ...files, ['PIXGATE_ENCRYPTION_KEY_FILE', files[1]?.[1]]])
  assert.deepEqual(faultsOf(same), [
    'PIXGATE_ENCRYPTION_KEY has the value of PIXGATE_ADMIN_TOKEN: every secret needs one of its own',
  ])
})

test('[config.1] [config.8] a secret that no header can carry is refused by its name, wherever it stands', (t) => {
  const path = join(temporaryDirectory(t), 'secret')
  const [TOKEN, ANY] = ['of printable ASCII, without blanks', 'printable ASCII, with no blank at its ends']
  const carried = {
    PIXGATE_ADMIN_TOKEN: `at least 32 characters ${TOKEN}`,
    PIXGATE_ADMIN_TOKEN_PREVIOUS: `at least 32 characters ${TOKEN}`,
    PIXGATE_METRICS_TOKEN: `at least 32 characters ${TOKEN}`,
    PIXGATE_METRICS_TOKEN_PREVIOUS: `at least 32 characters ${TOKEN}`,
    PIXGATE_PARTNER_TOKEN: ANY,
    PIXGATE_PARTNER_INBOUND_API_KEY: ANY,
    PIXGATE_PARTNER_INBOUND_API_KEY_PREVIOUS: ANY,
  }
  for (const [name, accepted] of Object.entries(carried)) {
    const { [name]: _, ...others } = ALONE
    const good = `${CANARY}-${name}`
    const unsendable = [
      `${good}\n${good}`,
      `\ufeff${good}`,
      `${good} `,
      ` ${good}`,
      `${good}\t`,
      `${good}\r\n`,
      `${good}é`,
      `${good}\0`,
    ]
    for (const value of unsendable) {
      assert.deepEqual(faultsOf({ ...others, [name]: value }), [`${name} must be ${accepted}`], JSON.stringify(value))
    }
    for (const text of [
      `${good}\n${good}\n`,
      `\ufeff${good}\n`,
      `${good} \n`,
      Buffer.from([...Buffer.from(good), 0xff]),
    ]) {
      writeFileSync(path, text)
      assert.deepEqual(faultsOf({ ...others, [`${name}_FILE`]: path }), [`${name} must be ${accepted}`])
    }
    assert.deepEqual(faultsOf({ ...others, [name]: good }), [])
  }
  assert.deepEqual(faulty({ ...ALONE, PIXGATE_ADMIN_TOKEN: `${CANARY} ${CANARY}` }), ['PIXGATE_ADMIN_TOKEN'])
  const rest = { PIXGATE_PARTNER_TOKEN: `${CANARY} ${CANARY}`, PIXGATE_ENCRYPTION_KEY: ` é ${CANARY} ` }
  assert.deepEqual(faulty({ ...ALONE, ...rest }), [], 'what can be sent, and what is not')
})

test('[config.8] a secret that is set twice, or whose file is missing, unreadable or empty, is refused by its path', (t) => {
  const directory = temporaryDirectory(t)
  const empty = join(directory, 'empty')
  writeFileSync(empty, '\n')
  const { PIXGATE_ENCRYPTION_KEY: _, PIXGATE_PARTNER_TOKEN: __, PIXGATE_PARTNER_SECRET: ___, ...rest } = ALONE
  const files = {
    PIXGATE_ADMIN_TOKEN_FILE: empty,
    PIXGATE_ENCRYPTION_KEY_FILE: join(directory, 'missing'),
    PIXGATE_PARTNER_TOKEN_FILE: directory,
    PIXGATE_PARTNER_SECRET_FILE: empty,
  }
  assert.deepEqual(faultsOf({ ...rest, ...files }), [
    'PIXGATE_ADMIN_TOKEN and PIXGATE_ADMIN_TOKEN_FILE are both set; set one of them',
    `PIXGATE_ENCRYPTION_KEY_FILE names ${files.PIXGATE_ENCRYPTION_KEY_FILE}, which cannot be read: no such file or directory`,
    `PIXGATE_PARTNER_TOKEN_FILE names ${directory}, which cannot be read: illegal operation on a directory`,
    `PIXGATE_PARTNER_SECRET_FILE names ${empty}, which is empty`,
  ])
})

test('[partner.11] [config.1] a file of TLS that cannot be used is refused by the name of its variable, with nothing of it', (t) => {
  const [one, other, ended] = [certificateOf(t, 'one.example'), certificateOf(t, 'other.example'), endedCertificate(t)]
  const [CERTIFICATE, KEY, CA] = [
    'PIXGATE_PARTNER_CLIENT_CERTIFICATE_FILE',
    'PIXGATE_PARTNER_CLIENT_KEY_FILE',
    'PIXGATE_PARTNER_CA_BUNDLE_FILE',
  ] as const
  const missing = `${one.path}-missing`
  const withPassphrase = `${one.keyPath}-locked`
  const locked = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: CANARY } as const
  writeFileSync(withPassphrase, createPrivateKey(one.key).export(locked))
  const cases: readonly (readonly [environment: Environment, ...faults: string[]])[] = [
    [{ [CERTIFICATE]: one.path, [KEY]: one.keyPath, [CA]: one.path }],
    [{ [CERTIFICATE]: one.path }, `${CERTIFICATE} needs ${KEY}`],
    [{ [KEY]: one.keyPath }, `${KEY} needs ${CERTIFICATE}`],
    [
      { [CERTIFICATE]: missing, [KEY]: missing, [CA]: missing },
      `${CERTIFICATE} names ${missing}, which cannot be read: no such file or directory`,
      `${KEY} names ${missing}, which cannot be read: no such file or directory`,
      `${CA} names ${missing}, which cannot be read: no such file or directory`,
    ],
    [
      { [CERTIFICATE]: one.keyPath, [KEY]: one.path, [CA]: one.keyPath },
      `${CERTIFICATE} names ${one.keyPath}, which is no certificate in PEM`,
      `${KEY} names ${one.path}, which is no private key in PEM without a passphrase`,
      `${CA} names ${one.keyPath}, which is no certificate in PEM`,
    ],
    [
      { [CERTIFICATE]: one.path, [KEY]: withPassphrase },
      `${KEY} names ${withPassphrase}, which is no private key in PEM without a passphrase`,
    ],
    [
      { [CERTIFICATE]: one.path, [KEY]: other.keyPath },
      `${KEY} is not the key of the first certificate in ${CERTIFICATE}`,
    ],
    [
      { [CERTIFICATE]: ended.path, [KEY]: ended.keyPath, [CA]: ended.path },
      `${CERTIFICATE}: the certificate has expired on 2020-01-02`,
      `${CA}: the certificate has expired on 2020-01-02`,
    ],
  ]
  for (const [environment, ...faults] of cases) {
    assert.deepEqual(faultsOf({ ...ALONE, ...environment }), faults)
    assert.deepEqual(configFaults(readSandboxConfig, { PIXGATE_MODE: 'sandbox', ...environment }), faults)
  }
  const bundle = `${ended.path}-and-another`
  writeFileSync(bundle, ended.cert + one.cert)
  assert.deepEqual(faultsOf({ ...ALONE, [CA]: bundle }), [], 'an authority that ended may stand beside its successor')
})
