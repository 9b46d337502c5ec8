import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { decodeQR } from 'qr/decode.js'
import { PROGRAM_ENVIRONMENT } from '../../server/test/support/program-environment.ts'
import { ADMIN_TOKEN, world } from '../../server/test/support/world.ts'
import { banner } from '../src/banner.ts'

const DEMO = fileURLToPath(new URL('../../../examples/demo.ts', import.meta.url))

test('[sandbox.1] [webhooks.8] the demo starts a sandbox, receives a payment, and exits with 0', async (t) => {
  const { exitCode, stdout, stderr } = await runDemo(t, {})
  assert.equal(exitCode, 0, stdout + stderr)
  assert.match(stdout, /started for this tour/)
  assert.equal(decodeQR(imageOf(stdout)), stdout.match(/^000201.*$/m)?.[0], 'the drawing is the Pix code')
})

test('[webhooks.3] the demo on a running sandbox leaves no webhook behind', async (t) => {
  const pix = await world(t, { PIXGATE_FEE_CASH_IN_CENTS: '99' })
  const { body: before } = await pix.call('GET', '/webhook')
  const { exitCode, stdout, stderr } = await runDemo(t, { PIXGATE_URL: pix.url, PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN })
  assert.equal(exitCode, 0, stdout + stderr)
  assert.match(stdout, /CASH_IN R\$\s42,50, FEE -R\$\s0,99/)
  assert.deepEqual((await pix.call('GET', '/webhook')).body, before)
})

test('[config.5] [sandbox.20] [api-pix.13] the demo goes over mTLS, tokens and callbacks to a bank that is Efí', async (t) => {
  const { exitCode, stdout, stderr } = await runDemo(t, {}, '--bank', 'efi')
  assert.equal(exitCode, 0, stdout + stderr)
  for (const line of [/✔ TLS /, /✔ webhook +the bank reached/, /✔ Payout +CONFIRMED/, /✔ QR payout +CONFIRMED/]) {
    assert.match(stdout, line)
  }
})

test('[config.5] [api-pix.13] the demo says what a bank of the standard does not do, and does the rest', async (t) => {
  const { exitCode, stdout, stderr } = await runDemo(t, {}, '--bank', 'api-pix')
  assert.equal(exitCode, 0, stdout + stderr)
  assert.match(stdout, /✔ Payout +refused with 422 not_supported_by_bank/)
  assert.match(stdout, /✔ Refund /)
})

test('[config.5] the demo names the banks that it knows', async (t) => {
  const { exitCode, stderr } = await runDemo(t, {}, '--bank', 'other')
  assert.equal(exitCode, 1)
  assert.match(stderr, /--bank is one of pixgate, efi, api-pix/)
})

test('[sandbox.5] the demo fails, and says why, where the bank refuses', async (t) => {
  const pix = await world(t)
  await pix.bank('PUT', '/control/behavior', { cashIn: 'reject' })
  const { exitCode, stderr } = await runDemo(t, { PIXGATE_URL: pix.url, PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN })
  assert.equal(exitCode, 1)
  assert.match(stderr, /partner_refused/)
})

test('[sandbox.4] the commands of the banner work as they stand', async (t) => {
  const { url } = await world(t)
  const shown = banner({ url, adminToken: ADMIN_TOKEN, hasControls: true })
  const { stdout } = await promisify(execFile)('sh', ['-c', shown.slice(shown.indexOf('KEY='))])
  assert.match(stdout, /"status":"PAID"/)
})

test('[operators.8] where operators have a port of their own, the banner shows it, and its commands and the demo go there', async (t) => {
  const { url, operatorUrl } = await world(t, { PIXGATE_OPERATOR_PORT: '0' })
  assert.notEqual(url, operatorUrl)
  const shown = banner({ url, operatorUrl, adminToken: ADMIN_TOKEN, hasControls: true })
  assert.ok(shown.includes(`Operators     ${operatorUrl}\n`))
  const { stdout } = await promisify(execFile)('sh', ['-c', shown.slice(shown.indexOf('KEY='))])
  assert.match(stdout, /"status":"PAID"/)
  const [, variables = ''] = /^ +(PIXGATE_URL=.+) npm run demo$/m.exec(shown) ?? []
  const asShown = Object.fromEntries(variables.split(' ').map((one) => one.split('=') as [string, string]))
  assert.equal((await runDemo(t, asShown)).exitCode, 0)
  // As where it was started in this directory, with these settings.
  const { port } = new URL(operatorUrl)
  const settings = { PIXGATE_URL: url, PIXGATE_OPERATOR_PORT: port, PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN }
  assert.equal((await runDemo(t, settings)).exitCode, 0)
})

/** Runs it where no sandbox was started before, so that it looks at none but those it is told of. */
async function runDemo(t: TestContext, environment: Record<string, string>, ...parameters: readonly string[]) {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-demo-test-'))
  t.after(() => rm(directory, { recursive: true }))
  const child = spawn(process.execPath, [DEMO, ...parameters], {
    env: { ...PROGRAM_ENVIRONMENT, PIXGATE_DATA_DIR: directory, ...environment },
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill())
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { exitCode, stdout, stderr }
}

const PIXELS_PER_MODULE = 4

/** The drawing as a camera sees it: every character is two modules, one above the other. */
function imageOf(output: string) {
  const lines = output.split('\n').filter((line) => /^[█▀▄ ]{20,}$/.test(line))
  const rows = lines.flatMap((line) =>
    ['█▀', '█▄'].map((light) => [...line].map((character) => light.includes(character))),
  )
  const pixels = rows.flatMap((row) =>
    Array(PIXELS_PER_MODULE).fill(row.flatMap((isLight) => Array(PIXELS_PER_MODULE).fill(isLight ? 255 : 0))),
  )
  const width = (rows[0]?.length ?? 0) * PIXELS_PER_MODULE
  return {
    width,
    height: pixels.length,
    data: Uint8Array.from(pixels.flat().flatMap((light) => [light, light, light, 255])),
  }
}
