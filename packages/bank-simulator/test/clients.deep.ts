import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CLIENT, KEYS, startApiPixBank, WINDOW } from './support/api-pix.ts'
import { type Answer, bankDirectory, TOKEN } from './support/bank.ts'
import { startReceiver } from './support/callback-receiver.ts'

/**
 * Other people's clients at the simulated bank. None of them is a dependency: `PYTHON` is a Python with
 * `efipay` and `pypix-api` (default `python3`), `EFI_SDK` the entry file of another version of Efí's Node SDK.
 */
const PYTHON = process.env.PYTHON ?? 'python3'

const EFI_HOST = 'pix-h.api.efipay.com.br'

const ORDERS = {
  txid: '0198c0de7a11700080005f1d3c2b1a09',
  returnId: 'devolucao1',
  idEnvio: '0198c0de8b22700080002c3d4e5f6a7b',
  window: Object.fromEntries(new URLSearchParams(WINDOW)),
  charge: { calendario: { expiracao: 3_600 }, valor: { original: '123.45' } },
}

const run = promisify(execFile)

/** How a client differs from the others. */
interface Style {
  readonly pathPrefix?: string
  readonly passphrase?: string
  readonly extra?: object
}

/** Runs a client's program at a bank without overdraft. @returns what the program printed */
async function results(
  t: TestContext,
  [command = '', ...args]: readonly string[],
  { pathPrefix = '', passphrase = '', extra = {} }: Style = {},
): Promise<Answer['body']> {
  const directory = await bankDirectory(t)
  const certificatesDirectory = join(directory, 'certificates')
  const listening = { port: 0, certificatesDirectory, client: CLIENT, keys: KEYS, certificateNames: [EFI_HOST] }
  const bank = await startApiPixBank(t, { hasOverdraft: false, apiPix: { ...listening, pathPrefix, passphrase } })
  const receiver = await startReceiver(t, bank.apiPix)
  const { port, url, files } = bank.apiPix
  const both = join(directory, 'both.pem')
  await writeFile(
    both,
    (await Promise.all([files.clientCertificate, files.clientKey].map((it) => readFile(it)))).join(''),
  )
  const order = {
    port,
    url: `https://localhost:${port}`,
    tokenUrl: `${url}/oauth/token`,
    client: CLIENT,
    certificate: both,
    pkcs12: files.clientPkcs12,
    passphrase,
    pixKey: KEYS[1],
    webhookUrl: receiver.url,
    control: { url: bank.url, headers: { authorization: `Bearer ${TOKEN}` } },
    orders: ORDERS,
    ...extra,
  }
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: files.ca, REQUESTS_CA_BUNDLE: files.ca }
  const usesPkcs12 = command === process.execPath
  const argument = JSON.stringify({ ...order, ...(usesPkcs12 && { certificate: files.clientPkcs12 }) })
  const { stdout } = await run(command, [...args, argument], { env, timeout: 120_000, maxBuffer: 1e7 })
  const [, payment, afterReturn] = await receiver.arrived(3)
  assert.equal(payment?.body.pix[0].txid, ORDERS.txid)
  assert.equal(afterReturn?.body.pix[0].devolucoes[0].id, ORDERS.returnId)
  return JSON.parse(stdout)
}

function assertSold({ charge, paid, returned, lists, refusals }: Answer['body']): void {
  assert.deepEqual([charge.status, paid.status, paid.pix[0].valor], ['ATIVA', 'CONCLUIDA', '123.45'])
  assert.deepEqual([returned.status, returned.valor], ['DEVOLVIDO', '23.45'])
  assert.deepEqual(lists.slice(0, 2), [1, 1])
  assert.match(refusals.unknownCharge, /\/CobNaoEncontrado$/)
  assert.equal(refusals.unknownPath, 'about:blank')
}

function assertSent({ charge, code, image, sent, lists, saldo, refusals }: Answer['body']): void {
  assert.equal(code, charge.pixCopiaECola)
  assert.match(image, /^data:image\//)
  assert.deepEqual([sent.status, sent.valor, lists[2], saldo], ['REALIZADO', '10.00', 1, '90.00'])
  assert.equal(refusals.beyondBalance, 'saldo_insuficiente')
}

async function hasPython(module: string): Promise<boolean> {
  return run(PYTHON, ['-c', `import ${module}`]).then(
    () => true,
    () => false,
  )
}

const program = (name: string) => fileURLToPath(new URL(`clients/${name}`, import.meta.url))

const LONG = { timeout: 300_000 }

const efiSdk = process.env.EFI_SDK

for (const sdk of efiSdk === undefined ? [undefined] : [undefined, efiSdk]) {
  test(
    `[sandbox.14] [sandbox.18] Efí’s Node SDK${sdk ? ' of another version' : ''} sells, refunds and sends`,
    LONG,
    async (t) => {
      const said = await results(t, [process.execPath, program('efi-sdk.mjs')], { extra: { sdk } })
      assertSold(said)
      assertSent(said)
    },
  )
}

test('[sandbox.14] [sandbox.18] Efí’s Python SDK sells, refunds and sends', LONG, async (t) => {
  if (!(await hasPython('efipay'))) return t.skip(`${PYTHON} has no efipay`)
  const said = await results(t, [PYTHON, program('efipay_sdk.py')])
  assertSold(said)
  assertSent(said)
})

for (const [style, pathPrefix, basePath] of [
  ['sicredi', '/api', '/api'],
  ['inter', '/pix', '/pix/v2'],
  ['sicoob', '/pix/api', '/pix/api/v2'],
] as const) {
  test(`[sandbox.14] pypix-api sells and refunds as at ${style}`, LONG, async (t) => {
    if (!(await hasPython('pypix_api'))) return t.skip(`${PYTHON} has no pypix_api`)
    const passphrase = 'segredo'
    const said = await results(t, [PYTHON, program('pypix.py')], { pathPrefix, passphrase, extra: { style, basePath } })
    assertSold(said)
    assert.equal(said.location, said.charge.location)
  })
}
