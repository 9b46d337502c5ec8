import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type ApiPixOptions, startSimulator } from '@pixgate/bank-simulator'
import { banks } from '../../../src/banks/banks.ts'
import { examineBank } from '../../../src/doctor/doctor.ts'
import type { Finding } from '../../../src/platform/finding.ts'
import { type Environment, readVariables } from '../../../src/platform/variables.ts'
import { type LyingBank, lyingBank } from '../../support/lying-bank.ts'
import { standardBank } from '../../support/standard-bank.ts'
import { wallNow } from '../../support/wall-clock.ts'
import { closedPort } from '../pixgate/scripted-bank.ts'
import { handedOut } from './certificates.ts'

const ID = '0198c0de7a11700080005f1d3c2b1a09'
const clock = { now: wallNow }

/** Every address that the bank calls answers 2xx. */
async function takingAddress(t: TestContext): Promise<string> {
  const server = createServer((request, response) => request.resume().on('end', () => response.end()))
  server.listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A bank, and what it is reached with. */
async function bankOf(t: TestContext, client: Partial<ApiPixOptions['client']> = {}, reach?: LyingBank['reachBank']) {
  const directory = mkdtempSync(join(tmpdir(), 'pixgate-bank-'))
  const standard = standardBank('efi', await takingAddress(t))
  const { listening } = standard
  const simulator = await startSimulator({
    port: 0,
    dataDirectory: directory,
    token: 'token',
    secret: 'secret',
    warn: () => undefined,
    apiPix: { ...listening, client: { ...listening.client, ...client }, certificatesDirectory: directory },
  })
  t.after(async () => {
    await simulator.stop()
    rmSync(directory, { recursive: true })
  })
  return { simulator, environment: standard.environment(simulator.apiPix, reach) }
}

/** Findings: each check with its result. */
async function found(environment: Environment, registers = false): Promise<readonly Finding[]> {
  const { variables, configure } = banks.efi
  const bank = configure(readVariables(variables, environment, { isProduction: false }))
  return examineBank(bank, clock, { registers, newId: () => ID })
}

const marks = (findings: readonly Finding[]) => findings.map(({ isOk, check }) => `${isOk ? '✔' : '✘'} ${check}`)

const AROUND = ['✔ certificate', '✔ certificate', '✔ certificate', '✔ clock']

test('[api-pix.13] without faults every step passes, the webhook is registered, and a charge is created and cancelled', async (t) => {
  const { environment, simulator } = await bankOf(t)
  const way = ['✔ preset', '✔ token', '✔ connection', '✔ scopes']
  assert.deepEqual(marks(await found(environment)), [...way, '✘ webhook', '✔ charge', ...AROUND])
  assert.equal(simulator.book.charges.get(ID.replaceAll('-', ''))?.status, 'CANCELLED')
  assert.deepEqual(marks(await found(environment, true)).slice(0, 5), [...way, '✔ webhook'])
  assert.deepEqual(marks(await found(environment)).slice(0, 5), [...way, '✔ webhook'])
})

test('[api-pix.13] a webhook at another address, or an unreachable one, is reported', async (t) => {
  const { environment } = await bankOf(t)
  await found(environment, true)
  const elsewhere = { ...environment, PIXGATE_BANK_CALLBACK_URL: await closedPort() }
  const webhook = async (registers: boolean) =>
    (await found(elsewhere, registers)).find(({ check }) => check === 'webhook')?.says ?? ''
  assert.match(await webhook(false), /the bank calls another address/)
  assert.match(await webhook(true), /not registered: the bank answers 400, WebhookOperacaoInvalida, .*ECONNREFUSED/)
})

test('[api-pix.13] the secret in the webhook address is masked in every spelling of the address', async (t) => {
  const { reachBank, tell } = await lyingBank(t)
  const { environment } = await bankOf(t, {}, reachBank)
  const secret = String(environment.PIXGATE_BANK_CALLBACK_SECRET)
  for (const address of [`https://loja.example/api?hmac=${secret}`, `https%3A%2F%2Floja.example%3Fhmac%3D${secret}`]) {
    const type = 'https://pix.bcb.gov.br/api/v2/error/WebhookOperacaoInvalida'
    for (const more of [{ detail: `A URL ${address} falhou` }, { violacoes: [{ razao: `"${address}"` }] }]) {
      const body = { type, title: 'Webhook inválido', status: 400, ...more }
      tell(({ method, path }) => (method === 'PUT' && path.includes('/webhook/') ? { status: 400, body } : undefined))
      const webhook = (await found(environment, true)).find(({ check }) => check === 'webhook')
      assert.match(webhook?.says ?? '', /^not registered: the bank answers 400, .*loja\.example.*hmac(?:=|%3D)…/)
      assert.ok(!webhook?.says.includes(secret))
    }
  }
})

test('[api-pix.13] a missing scope is reported, and the later steps still run', async (t) => {
  const { environment } = await bankOf(t, { scopes: ['cob.read', 'cob.write', 'webhook.read', 'webhook.write'] })
  const findings = await found(environment)
  const scopes = findings.find(({ check }) => check === 'scopes')
  assert.match(scopes?.says ?? '', /^pix\.read, pix\.write, pix\.send, .* missing: allow them/)
  assert.ok(findings.some(({ check }) => check === 'charge'))
})

const OTHER = handedOut(100)

/** A fault, and the step that finds it: no later step runs. */
const faults: [
  name: string,
  change: (environment: Environment) => Promise<Environment> | Environment,
  step: string,
  says: RegExp,
][] = [
  [
    'a name that does not resolve',
    () => ({ PIXGATE_BANK_API_URL: 'https://bank.invalid/v2' }),
    'connection',
    /^the bank at bank\.invalid .*does not resolve: check PIXGATE_BANK_API_URL/,
  ],
  [
    'nobody there',
    async () => ({
      PIXGATE_BANK_API_URL: `${(await closedPort()).replace('http://127.0.0.1', 'https://localhost')}/v2`,
    }),
    'connection',
    /refuses connections: check PIXGATE_BANK_API_URL/,
  ],
  [
    'an authority that is not trusted',
    () => ({ PIXGATE_BANK_CA: OTHER.cert }),
    'token',
    /has a certificate of an authority that is not trusted here: check PIXGATE_BANK_CA/,
  ],
  [
    'a certificate of another bank’s',
    () => ({ PIXGATE_BANK_CERTIFICATE: OTHER.pkcs12('').toString('base64'), PIXGATE_BANK_CERTIFICATE_PASSPHRASE: '' }),
    'token',
    /the bank refuses the certificate that we show it|cuts the connection/,
  ],
  [
    'a wrong secret',
    () => ({ PIXGATE_BANK_CLIENT_SECRET: 'another' }),
    'token',
    /^the bank answers 401 to the request for a token: check PIXGATE_BANK_CLIENT_ID/,
  ],
]
for (const [name, change, step, says] of faults) {
  test(`[api-pix.13] ${name} is found at the step ${step}, and no later step runs`, async (t) => {
    const { environment } = await bankOf(t)
    const findings = await found({ ...environment, ...(await change(environment)) })
    const last = findings.filter(({ check }) => check !== 'certificate' && check !== 'clock').at(-1)
    assert.deepEqual([last?.check, last?.isOk], [step, false])
    assert.match(last?.says ?? '', says)
    assert.doesNotMatch(JSON.stringify(findings), /client-secret-of-the-tests|callback-secret/)
  })
}
