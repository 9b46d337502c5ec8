import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { createAuthority } from '@pixgate/bank-simulator'
import { apiPixConfig, apiPixFaults, apiPixVariables } from '../../../src/banks/api-pix/config.ts'
import { presets } from '../../../src/banks/api-pix/presets.ts'
import type { Bank } from '../../../src/banks/bank.ts'
import { banks } from '../../../src/banks/banks.ts'
import { type Environment, readVariables } from '../../../src/platform/variables.ts'
import { handedOut } from './certificates.ts'

const ID = '0198c0de7a11700080005f1d3c2b1a09'
const TXID = '0198c0de7a11700080005f1d3c2b1a09'
const FROM = Date.parse('2026-11-23T10:00:00.250Z')
const TO = Date.parse('2026-11-23T11:00:00.750Z')
const MERCHANT = { pixKey: 'loja@exemplo.com.br', name: 'Loja', city: 'Sao Paulo' }

const TOLD: Environment = {
  PIXGATE_BANK_CLIENT_ID: 'client',
  PIXGATE_BANK_CLIENT_SECRET: 'secret',
  PIXGATE_BANK_APPLICATION_KEY: 'app-key',
  PIXGATE_BANK_ACCOUNT: '12345',
  PIXGATE_BANK_CALLBACK_URL: 'https://shop.example',
  PIXGATE_MERCHANT_PIX_KEY: MERCHANT.pixKey,
}

/** A request as it arrived. */
interface Arrived {
  readonly line: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

const authority = await createAuthority()

/** A bank that wants our certificate, gives tokens, and is down for everything else; what it was asked is kept. */
async function recordingBank(t: TestContext): Promise<{ readonly url: string; readonly arrived: Arrived[] }> {
  const own = await authority.issue({ name: 'bank', use: 'server', hosts: ['localhost'] })
  const arrived: Arrived[] = []
  const options = { cert: own.certificate, key: own.key, ca: authority.certificate, requestCert: true }
  const server = createServer({ ...options, rejectUnauthorized: true }, async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    arrived.push({ line: `${request.method} ${request.url}`, headers: request.headers, body })
    const isToken = request.method === 'POST'
    response.writeHead(isToken ? 200 : 503, { 'content-type': 'application/json' })
    response.end(isToken ? JSON.stringify({ access_token: 'the-token', expires_in: 3_600 }) : '{}')
  })
  server.listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  t.after(() => server.close())
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, arrived }
}

type PresetName = keyof typeof presets

/** The bank of a preset, at the recording one's host: its paths are the preset's. */
async function connected(t: TestContext, name: PresetName, more: Environment = {}) {
  const { url, arrived } = await recordingBank(t)
  const { api, token } = presets[name].addresses.production
  const at = (address: string) => url + address.slice(new URL(address).origin.length)
  const client = await authority.issue({ name: 'client', use: 'client' })
  const { variables, configure } = banks['api-pix']
  const environment = {
    ...TOLD,
    PIXGATE_BANK_PRESET: name,
    PIXGATE_BANK_ENVIRONMENT: 'production',
    PIXGATE_BANK_API_URL: at(api),
    PIXGATE_BANK_TOKEN_URL: at(token),
    PIXGATE_BANK_CERTIFICATE: client.certificate,
    PIXGATE_BANK_CERTIFICATE_KEY: client.key,
    PIXGATE_BANK_CA: authority.certificate,
    ...more,
  }
  const bank = configure(readVariables(variables, environment, { isProduction: false })).open()
  t.after(() => bank.close())
  return { bank, arrived }
}

/** A charge, its end, and a page of the statement. */
async function callEach(bank: Bank): Promise<void> {
  const times = { askedAt: FROM, expiresAt: FROM + 600_000 }
  await bank.createCharge(ID, { valueCents: 1_000n, merchant: MERCHANT, ...times })
  await bank.cancelCharge(ID)
  await bank.readStatement({ from: FROM, to: TO, cursor: null })
}

const SCOPE = 'scope=cob.read+cob.write+pix.read+pix.write+webhook.read+webhook.write'
const GRANT = 'grant_type=client_credentials'
const BASIC = `Basic ${Buffer.from('client:secret').toString('base64')}`
const PAGE = 'paginacao.paginaAtual=0&paginacao.itensPorPagina=100'
const LIST = `pix?inicio=2026-11-23T10%3A00%3A00.250Z&fim=2026-11-23T11%3A00%3A00.749Z&${PAGE}`
const WHOLE_SECONDS = `pix?inicio=2026-11-23T10%3A00%3A00Z&fim=2026-11-23T11%3A00%3A01Z&${PAGE}`

/** Requests to each bank, written down by hand from the source of its preset. */
const asked: Readonly<
  Record<
    PresetName,
    {
      readonly token: readonly [line: string, authorization: string | undefined, body: string]
      readonly calls: readonly [put: string, patch: string, list: string]
      readonly headers?: Readonly<Record<string, RegExp>>
    }
  >
> = {
  efi: {
    token: [
      'POST /oauth/token',
      BASIC,
      '{"grant_type":"client_credentials","scope":"cob.read cob.write pix.read pix.write webhook.read webhook.write"}',
    ],
    calls: [`PUT /v2/cob/${TXID}`, `PATCH /v2/cob/${TXID}`, `GET /v2/${LIST}`],
  },
  'banco-do-brasil': {
    token: ['POST /oauth/token', BASIC, `${GRANT}&${SCOPE}`],
    calls: [
      `PUT /pix/v2/cob/${TXID}?gw-dev-app-key=app-key`,
      `PATCH /pix/v2/cob/${TXID}?gw-dev-app-key=app-key`,
      `GET /pix/v2/${LIST}&gw-dev-app-key=app-key`,
    ],
  },
  inter: {
    token: ['POST /oauth/v2/token', undefined, `${GRANT}&client_id=client&client_secret=secret&${SCOPE}`],
    calls: [`PUT /pix/v2/cob/${TXID}`, `PATCH /pix/v2/cob/${TXID}`, `GET /pix/v2/${LIST}`],
    headers: { 'x-conta-corrente': /^12345$/ },
  },
  itau: {
    token: ['POST /api/oauth/token', undefined, `${GRANT}&client_id=client&client_secret=secret`],
    calls: [
      `PUT /pix_recebimentos/v2/cob/${TXID}`,
      `PATCH /pix_recebimentos/v2/cob/${TXID}`,
      `GET /pix_recebimentos/v2/${LIST}`,
    ],
    headers: { 'x-itau-apikey': /^client$/, 'x-itau-correlationid': /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ },
  },
  santander: {
    token: [
      'POST /oauth/token?grant_type=client_credentials',
      undefined,
      `${GRANT}&client_id=client&client_secret=secret`,
    ],
    calls: [`PUT /api/v1/cob/${TXID}`, `PATCH /api/v2/cob/${TXID}`, `GET /api/v1/${WHOLE_SECONDS}`],
  },
  sicoob: {
    token: [
      'POST /auth/realms/cooperado/protocol/openid-connect/token',
      undefined,
      `${GRANT}&client_id=client&${SCOPE}`,
    ],
    calls: [`PUT /pix/api/v2/cob/${TXID}`, `PATCH /pix/api/v2/cob/${TXID}`, `GET /pix/api/v2/${LIST}`],
    headers: { client_id: /^client$/ },
  },
  sicredi: {
    token: ['POST /oauth/token', BASIC, `${GRANT}&${SCOPE}`],
    calls: [`PUT /api/v2/cob/${TXID}`, `PATCH /api/v2/cob/${TXID}`, `GET /api/v2/${LIST}`],
  },
}

/** Headers that some bank wants of us; no other bank gets them. */
const ADDED = ['x-conta-corrente', 'x-itau-apikey', 'x-itau-correlationid', 'client_id', 'x-skip-mtls-checking']

for (const [name, { token, calls, headers = {} }] of Object.entries(asked)) {
  test(`[api-pix.14] ${name} gets requests in its own form`, async (t) => {
    const { bank, arrived } = await connected(t, name as PresetName)
    await callEach(bank)
    const [first, ...others] = arrived
    assert.deepEqual([first?.line, first?.headers.authorization, first?.body], token)
    assert.deepEqual(
      others.map(({ line }) => line),
      calls,
    )
    for (const call of others) {
      assert.equal(call.headers.authorization, 'Bearer the-token')
      assert.deepEqual(
        ADDED.filter((header) => call.headers[header] !== undefined),
        Object.keys(headers),
      )
      for (const [header, pattern] of Object.entries(headers)) assert.match(String(call.headers[header]), pattern)
    }
  })
}

test('[api-pix.14] an id that must be unique differs on each call', async (t) => {
  const { bank, arrived } = await connected(t, 'itau')
  await callEach(bank)
  const ids = arrived.slice(1).map(({ headers }) => headers['x-itau-correlationid'])
  assert.equal(new Set(ids).size, 3)
})

test('[api-pix.14] the account header is left out for a contract with a single account', async (t) => {
  const { bank, arrived } = await connected(t, 'inter', { PIXGATE_BANK_ACCOUNT: '' })
  await callEach(bank)
  assert.ok(arrived.every(({ headers }) => headers['x-conta-corrente'] === undefined))
})

for (const [isBehind, shown] of [
  ['false', 'true'],
  ['true', undefined],
] as const) {
  test(`[api-pix.14] an address ${isBehind === 'true' ? 'that asks for a certificate' : 'without mTLS'} is registered at Efí as that`, async (t) => {
    const { bank, arrived } = await connected(t, 'efi', { PIXGATE_BANK_CALLBACKS_BEHIND_MTLS: isBehind })
    await bank.examine?.({ registers: true })
    const registration = arrived.find(({ line }) => line.startsWith('PUT /v2/webhook/'))
    assert.ok(registration, 'an address is registered')
    assert.equal(registration.headers['x-skip-mtls-checking'], shown)
  })
}

const CERTIFICATE = handedOut(100).pkcs12('').toString('base64')

/** Settings, and their faults. */
const settings: [name: string, environment: Environment, faults: readonly string[]][] = [
  ['all that it needs', { PIXGATE_BANK_PRESET: 'banco-do-brasil' }, []],
  [
    'no key of the application',
    { PIXGATE_BANK_PRESET: 'banco-do-brasil', PIXGATE_BANK_APPLICATION_KEY: '' },
    ['PIXGATE_BANK_APPLICATION_KEY is required by Banco do Brasil'],
  ],
  [
    'the key of the application in a file',
    {
      PIXGATE_BANK_PRESET: 'banco-do-brasil',
      PIXGATE_BANK_APPLICATION_KEY: '',
      PIXGATE_BANK_APPLICATION_KEY_FILE: '/run/key',
    },
    [],
  ],
  [
    'no secret',
    { PIXGATE_BANK_PRESET: 'sicredi', PIXGATE_BANK_CLIENT_SECRET: '' },
    ['PIXGATE_BANK_CLIENT_SECRET is required by Sicredi'],
  ],
  [
    'no secret, of a bank that gives out none',
    {
      PIXGATE_MODE: 'production',
      PIXGATE_BANK_PRESET: 'sicoob',
      PIXGATE_BANK_ENVIRONMENT: 'production',
      PIXGATE_BANK_CLIENT_SECRET: '',
      PIXGATE_BANK_CALLBACK_SECRET: 'x',
    },
    [],
  ],
  [
    'a sandbox that follows no standard',
    { PIXGATE_BANK_PRESET: 'itau' },
    [
      'PIXGATE_BANK_ENVIRONMENT must be production for Itaú, or both PIXGATE_BANK_API_URL and PIXGATE_BANK_TOKEN_URL set: nothing else of it follows the standard',
    ],
  ],
  [
    'a sandbox of its own',
    {
      PIXGATE_BANK_PRESET: 'itau',
      PIXGATE_BANK_API_URL: 'https://bank.example/v2',
      PIXGATE_BANK_TOKEN_URL: 'https://bank.example/token',
    },
    [],
  ],
]
for (const [name, environment, faults] of settings) {
  test(`[api-pix.14] a preset with ${name}`, () => {
    const given = {
      ...TOLD,
      PIXGATE_BANK_ENVIRONMENT: 'sandbox',
      PIXGATE_BANK_CERTIFICATE: CERTIFICATE,
      ...environment,
    }
    assert.deepEqual(apiPixFaults(given), faults)
  })
}

test('[api-pix.14] no preset was tried at its bank, and each warns about it', () => {
  for (const [name, { name: called, sources }] of Object.entries(presets)) {
    const environment = {
      ...TOLD,
      PIXGATE_BANK_PRESET: name,
      PIXGATE_BANK_ENVIRONMENT: 'production',
      PIXGATE_BANK_CERTIFICATE: CERTIFICATE,
    }
    const { warning = '' } = apiPixConfig(readVariables(apiPixVariables, environment, { isProduction: false }))
    assert.match(warning, new RegExp(`^${called}: .* not tried against the bank itself$`))
    assert.ok(sources.length > 0, `${called} is told somewhere`)
  }
})
