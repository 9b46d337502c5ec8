import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import {
  apiPixConfig,
  apiPixFaults,
  apiPixVariables,
  efiConfig,
  efiFaults,
  efiVariables,
} from '../../../src/banks/api-pix/config.ts'
import { readBankTls } from '../../../src/banks/certificates.ts'
import { readVariables } from '../../../src/platform/variables.ts'
import { handedOut } from './certificates.ts'

const GOOD = handedOut(100)
const ENDED = handedOut(-1)
const OTHER = handedOut(100)

const CREDENTIALS = {
  PIXGATE_BANK_ENVIRONMENT: 'sandbox',
  PIXGATE_BANK_CLIENT_ID: 'client',
  PIXGATE_BANK_CLIENT_SECRET: 'secret',
  PIXGATE_BANK_CERTIFICATE: GOOD.pkcs12('').toString('base64'),
}

function fileOf(t: TestContext, content: string | Buffer): string {
  const folder = mkdtempSync(join(tmpdir(), 'pixgate-bank-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'certificate')
  writeFileSync(path, content)
  return path
}

/** How a certificate is given, and what is wrong with it. */
const forms: [name: string, given: (t: TestContext) => Record<string, string>, faults: string[]][] = [
  ['PKCS#12 in Base64', () => ({ PIXGATE_BANK_CERTIFICATE: GOOD.pkcs12('').toString('base64') }), []],
  ['PKCS#12 in a file', (t) => ({ PIXGATE_BANK_CERTIFICATE: fileOf(t, GOOD.pkcs12('')) }), []],
  ['PKCS#12 sealed in the old way', (t) => ({ PIXGATE_BANK_CERTIFICATE: fileOf(t, GOOD.pkcs12('', '3des')) }), []],
  [
    'PKCS#12 with its passphrase',
    () => ({
      PIXGATE_BANK_CERTIFICATE: GOOD.pkcs12('open').toString('base64'),
      PIXGATE_BANK_CERTIFICATE_PASSPHRASE: 'open',
    }),
    [],
  ],
  [
    'a pair in PEM',
    (t) => ({ PIXGATE_BANK_CERTIFICATE: fileOf(t, GOOD.cert), PIXGATE_BANK_CERTIFICATE_KEY: GOOD.key }),
    [],
  ],
  ['a pair in one PEM', (t) => ({ PIXGATE_BANK_CERTIFICATE: fileOf(t, GOOD.cert + GOOD.key) }), []],
  [
    'a wrong passphrase',
    () => ({
      PIXGATE_BANK_CERTIFICATE: GOOD.pkcs12('open').toString('base64'),
      PIXGATE_BANK_CERTIFICATE_PASSPHRASE: 'shut',
    }),
    ['PIXGATE_BANK_CERTIFICATE does not open with its passphrase'],
  ],
  [
    'no such file',
    () => ({ PIXGATE_BANK_CERTIFICATE: '/nowhere/at/all' }),
    ['PIXGATE_BANK_CERTIFICATE names a file that cannot be read: no such file or directory'],
  ],
  [
    'no certificate',
    (t) => ({ PIXGATE_BANK_CERTIFICATE: fileOf(t, 'hello') }),
    ['PIXGATE_BANK_CERTIFICATE is no PKCS#12'],
  ],
  [
    'PEM without its key',
    () => ({ PIXGATE_BANK_CERTIFICATE: GOOD.cert }),
    ['PIXGATE_BANK_CERTIFICATE in PEM needs PIXGATE_BANK_CERTIFICATE_KEY'],
  ],
  [
    'the key of another',
    () => ({ PIXGATE_BANK_CERTIFICATE: GOOD.cert, PIXGATE_BANK_CERTIFICATE_KEY: OTHER.key }),
    ['PIXGATE_BANK_CERTIFICATE_KEY is not the key of the first certificate in PIXGATE_BANK_CERTIFICATE'],
  ],
]
for (const [name, given, faults] of forms) {
  test(`[api-pix.10] the certificate as ${name}`, (t) => {
    const read = readBankTls(given(t))
    assert.deepEqual(read.faults, faults)
    if (faults.length > 0) return
    assert.match(read.tls.cert ?? '', /BEGIN CERTIFICATE/)
    assert.match(read.tls.key ?? '', /BEGIN PRIVATE KEY/)
    assert.deepEqual(
      read.certificates.map(({ of }) => of),
      ['client'],
    )
  })
}

test('[api-pix.10] a certificate that has expired is named with its day', () => {
  const [fault = ''] = readBankTls({ PIXGATE_BANK_CERTIFICATE: ENDED.pkcs12('').toString('base64') }).faults
  assert.match(fault, /^PIXGATE_BANK_CERTIFICATE: the certificate has expired on \d{4}-\d{2}-\d{2}$/)
})

test('[api-pix.10] the only trusted authorities may be Base64 too', () => {
  const { tls } = readBankTls({ PIXGATE_BANK_CA: Buffer.from(OTHER.cert).toString('base64') })
  assert.equal(tls.ca, OTHER.cert)
})

test('[api-pix.12] Efí’s address follows its environment, unless another one is given', () => {
  const read = (more: object) =>
    efiConfig(readVariables(efiVariables, { ...CREDENTIALS, ...more }, { isProduction: false })).addresses
  assert.equal(read({}).api, 'https://pix-h.api.efipay.com.br/v2')
  assert.equal(read({ PIXGATE_BANK_ENVIRONMENT: 'production' }).token, 'https://pix.api.efipay.com.br/oauth/token')
  assert.equal(read({ PIXGATE_BANK_API_URL: 'https://localhost:1/v2' }).api, 'https://localhost:1/v2')
})

test('[api-pix.12] any other bank is a preset, or two addresses', () => {
  const needed = 'PIXGATE_BANK_PRESET is required, or both PIXGATE_BANK_API_URL and PIXGATE_BANK_TOKEN_URL'
  const faults = (more: object) => apiPixFaults({ ...CREDENTIALS, ...more })
  assert.deepEqual(faults({}), [needed])
  assert.deepEqual(faults({ PIXGATE_BANK_API_URL: 'https://bank.example/v2' }), [needed])
  assert.deepEqual(faults({ PIXGATE_BANK_PRESET: 'efi' }), [])
  const addresses = {
    PIXGATE_BANK_API_URL: 'https://bank.example/api/v2',
    PIXGATE_BANK_TOKEN_URL: 'https://bank.example/token',
  }
  assert.deepEqual(faults(addresses), [])
  const values = readVariables(apiPixVariables, { ...CREDENTIALS, ...addresses }, { isProduction: false })
  assert.deepEqual(apiPixConfig(values).addresses, {
    api: addresses.PIXGATE_BANK_API_URL,
    token: addresses.PIXGATE_BANK_TOKEN_URL,
  })
})

test('[api-pix.12] the sandbox refuses a bank of production', () => {
  const real = { ...CREDENTIALS, PIXGATE_BANK_ENVIRONMENT: 'production' }
  assert.deepEqual(efiFaults(real), ['PIXGATE_BANK_ENVIRONMENT must be sandbox, unless PIXGATE_MODE is production'])
})

test('[api-pix.12] production needs one proof of the origin of callbacks', () => {
  const production = { ...CREDENTIALS, PIXGATE_MODE: 'production' }
  assert.match(efiFaults(production)[0] ?? '', /^one of PIXGATE_BANK_CALLBACK_SECRET, .* is required in production$/)
  for (const proof of [
    { PIXGATE_BANK_CALLBACK_SECRET: 'x' },
    { PIXGATE_BANK_CALLBACK_SECRET_FILE: '/run/secret' },
    { PIXGATE_BANK_ADDRESSES: '192.0.2.1' },
    { PIXGATE_BANK_CALLBACKS_BEHIND_MTLS: 'true' },
  ]) {
    assert.deepEqual(efiFaults({ ...production, ...proof }), [])
  }
})
