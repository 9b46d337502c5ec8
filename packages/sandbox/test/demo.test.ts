import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { promisify } from 'node:util'
import { decodeQR } from 'qr/decode.js'
import { createClient } from '../../../examples/demo/client.ts'
import { ADMIN_TOKEN, world } from '../../server/test/support/world.ts'
import { banner } from '../src/banner.ts'
import { runDemo } from './run-demo.ts'

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

test('[http.9] the demo asks again when the service is busy, and gives up after five times', async (t) => {
  let [asked, busy] = [0, 2]
  const server = createServer((_, response) => {
    asked += 1
    if (busy-- > 0) response.writeHead(503, { 'retry-after': '0' })
    response.end('done')
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const client = createClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'token')
  assert.deepEqual([await client.get('/'), asked], ['done', 3])
  busy = 9
  await assert.rejects(client.get('/'))
  assert.equal(asked, 3 + 5)
})

test('[config.5] the demo lists its banks if --bank is invalid', async (t) => {
  const { exitCode, stderr } = await runDemo(t, {}, '--bank', 'other')
  assert.equal(exitCode, 1)
  assert.match(stderr, /--bank is one of pixgate, efi, api-pix/)
})

test('[sandbox.5] the demo fails with a reason if the bank refuses', async (t) => {
  const pix = await world(t)
  await pix.bank('PUT', '/control/behavior', { cashIn: 'reject' })
  const { exitCode, stderr } = await runDemo(t, { PIXGATE_URL: pix.url, PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN })
  assert.equal(exitCode, 1)
  assert.match(stderr, /partner_refused/)
})

test('[sandbox.4] the commands of the banner work as they stand', async (t) => {
  const { url } = await world(t)
  const shown = banner({ url, adminToken: ADMIN_TOKEN, hasControls: true, hasDemo: false, people: [] })
  assert.ok(!shown.includes('npm run'))
  const { stdout } = await promisify(execFile)('sh', ['-c', shown.slice(shown.indexOf('KEY='))])
  assert.match(stdout, /"status":"PAID"/)
})

test('[operators.8] with a separate operator port, the banner shows it, and its commands and the demo use it', async (t) => {
  const { url, operatorUrl } = await world(t, { PIXGATE_OPERATOR_PORT: '0' })
  assert.notEqual(url, operatorUrl)
  const shown = banner({ url, operatorUrl, adminToken: ADMIN_TOKEN, hasControls: true, hasDemo: true, people: [] })
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
