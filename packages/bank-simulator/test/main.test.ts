import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { createSecureContext } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import {
  bankDirectory,
  becomes,
  callsTo,
  chargeBy,
  PAYOUT,
  PAYOUT_ID,
  SECRET,
  settledEvents,
  TOKEN,
} from './support/bank.ts'
import { startService } from './support/receiving-gateway.ts'

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))

test('[partner-protocol] after kill -9 the book has all acknowledged requests, and event delivery resumes', async (t) => {
  const directory = await bankDirectory(t)
  const refusing = await startService(t, () => 503)
  const bank = await startProcess(t, directory, { PIXGATE_SIMULATOR_EVENTS_URL: refusing.url })
  assert.equal((await chargeBy(bank.call, 'paid')).status, 201)
  const { endToEndId } = (await bank.call('POST', '/control/charges/paid/pay')).body

  const answered: string[] = []
  const callers = Array.from({ length: 16 }, async (_, caller) => {
    for (let turn = 0; ; turn++) {
      const id = `${caller}-${turn}`
      await chargeBy(bank.call, id)
      if (answered.push(id) === 200) bank.process.kill('SIGKILL')
    }
  })
  await Promise.allSettled([...callers, once(bank.process, 'exit')])
  assert.ok(answered.length >= 200)
  await appendFile(join(directory, 'book.jsonl'), '{"fact":"charge created","at":17637')

  const service = await startService(t)
  const again = await startProcess(t, directory, { PIXGATE_SIMULATOR_EVENTS_URL: service.url })
  const [arrival] = await service.arrived(1)
  assert.equal(arrival?.event.endToEndId, endToEndId)
  const { charges, availableCents } = (await again.call('GET', '/control/book')).body
  const known = new Set(charges.map(({ id }: { id: string }) => id))
  assert.deepEqual(
    answered.filter((id) => !known.has(id)),
    [],
  )
  assert.equal(availableCents, 15_000)
})

test('[partner-protocol] after kill -9 every acknowledged payout is sent once and reported', async (t) => {
  const directory = await bankDirectory(t)
  const bank = await startProcess(t, directory)
  const answered: string[] = []
  const callers = Array.from({ length: 8 }, async (_, caller) => {
    for (let turn = 0; ; turn++) {
      const id = `${caller}-${turn}`
      await bank.call('PUT', `/payouts/${id}`, PAYOUT)
      if (answered.push(id) === 100) bank.process.kill('SIGKILL')
    }
  })
  await Promise.allSettled([...callers, once(bank.process, 'exit')])
  assert.ok(answered.length >= 100)

  const service = await startService(t)
  const again = await startProcess(t, directory, { PIXGATE_SIMULATOR_EVENTS_URL: service.url })
  const { payouts } = (await again.call('GET', '/control/book')).body
  for (const { id } of payouts) await becomes(again, `/payouts/${id}`, 'CONFIRMED')
  await settledEvents(again)
  const { entries, availableCents } = (await again.call('GET', '/control/book')).body
  assert.equal(availableCents, -payouts.length * PAYOUT.valueCents)
  const sent = entries.map(({ reference }: { reference: string }) => reference)
  assert.equal(new Set(sent).size, sent.length)
  const reported = new Set(service.received.map(({ event }) => event.externalId))
  assert.deepEqual(
    answered.filter((id) => !sent.includes(id) || !reported.has(id)),
    [],
  )
})

test('[partner-protocol] the content of an event is in the bank’s book even if the bank is killed when the event arrives', async (t) => {
  const directory = await bankDirectory(t)
  const arrival = Promise.withResolvers<void>()
  const service = await startService(t, () => {
    arrival.resolve()
    return new Promise(() => undefined)
  })
  const bank = await startProcess(t, directory, { PIXGATE_SIMULATOR_EVENTS_URL: service.url })
  await chargeBy(bank.call, 'paid')
  const paying = bank.call('POST', '/control/charges/paid/pay').catch(() => undefined)
  await arrival.promise
  bank.process.kill('SIGKILL')
  await Promise.all([once(bank.process, 'exit'), paying])
  const again = await startProcess(t, directory)
  const { payments } = (await again.call('GET', '/charges/paid')).body
  assert.equal(payments[0].endToEndId, service.received[0]?.event.endToEndId)
})

test('[partner-protocol] SIGTERM stops the bank cleanly; its output is one line', async (t) => {
  const bank = await startProcess(t, await bankDirectory(t))
  bank.process.kill('SIGTERM')
  await once(bank.process, 'close')
  assert.equal(bank.process.exitCode, 0)
  assert.deepEqual(bank.lines, [`{"ready":true,"port":${bank.port}}`])
})

test('[sandbox.20] with --api-pix the bank needs no variable and prints its URLs and the data that a client needs', async (t) => {
  const directory = await bankDirectory(t)
  const free = { PIXGATE_SIMULATOR_API_PIX_PORT: '0', PIXGATE_SIMULATOR_PAYLOAD_PORT: '0' }
  const none = {
    PIXGATE_PARTNER_TOKEN: undefined,
    PIXGATE_PARTNER_SECRET: undefined,
    PIXGATE_SIMULATOR_EVENTS_URL: undefined,
  }
  const bank = await startProcess(t, directory, { ...free, ...none }, ['--api-pix'])
  const { apiPix } = JSON.parse(bank.lines[0] ?? '')
  assert.deepEqual(Object.keys(apiPix), ['url', 'payloadUrl', 'keys', 'certificates'])
  assert.deepEqual(apiPix.keys, ['11222333000181'])
  const { ca, clientCertificate, clientKey } = apiPix.certificates
  const [caPem, cert, key] = await Promise.all([ca, clientCertificate, clientKey].map((path) => readFile(path)))
  const agent = new Agent({ connect: { ca: caPem, cert, key } })
  t.after(() => agent.destroy())
  const authorization = `Basic ${Buffer.from('pixgate:pixgate').toString('base64')}`
  const headers = { authorization, 'content-type': 'application/json' }
  const body = '{"grant_type":"client_credentials"}'
  const answer = await request(`${apiPix.url}/oauth/token`, { dispatcher: agent, method: 'POST', headers, body })
  assert.equal(answer.statusCode, 200)
  const controls = await fetch(`http://127.0.0.1:${bank.port}/control/book`, {
    headers: { authorization: 'Bearer pixgate' },
  })
  assert.equal(controls.status, 200)
})

test('[partner-protocol] the bank exits with its parent if configured to', async (t) => {
  const bank = await startProcess(t, await bankDirectory(t), { PIXGATE_SIMULATOR_EXIT_WITH_PARENT: '1' })
  bank.process.stdin?.end()
  await once(bank.process, 'close')
  assert.equal(bank.process.exitCode, 0)
})

test('[sandbox.20] variables set the address, names, path, passphrase and overdraft of the bank', async (t) => {
  const directory = await bankDirectory(t)
  const bank = await startProcess(
    t,
    directory,
    {
      PIXGATE_SIMULATOR_API_PIX_PORT: '0',
      PIXGATE_SIMULATOR_PAYLOAD_PORT: '0',
      PIXGATE_SIMULATOR_HOST: '0.0.0.0',
      PIXGATE_SIMULATOR_CERTIFICATE_NAMES: 'bank, bank.internal',
      PIXGATE_SIMULATOR_PATH_PREFIX: '/pix',
      PIXGATE_SIMULATOR_PASSPHRASE: '',
    },
    ['--api-pix'],
  )
  const { url, certificates } = JSON.parse(bank.lines[0] ?? '').apiPix
  assert.match(url, /^https:\/\/localhost:\d+\/pix$/)
  createSecureContext({ pfx: await readFile(certificates.clientPkcs12), passphrase: '' })
  const server = new X509Certificate(await readFile(join(directory, 'certificates', 'server.pem')))
  assert.ok(server.checkHost('bank.internal'))
  const refused = await bank.call('PUT', `/payouts/${PAYOUT_ID}`, PAYOUT)
  assert.deepEqual([refused.status, refused.body.errorCode], [422, 'insufficient_balance'])
})

for (const [name, value, message] of [
  ['PIXGATE_PARTNER_TOKEN', '', 'PIXGATE_PARTNER_TOKEN is not set'],
  ['PIXGATE_SIMULATOR_PORT', '80x', 'PIXGATE_SIMULATOR_PORT is not a port'],
] as const) {
  test(`[partner-protocol] the bank does not start with ${name}=${value}`, async (t) => {
    const child = spawnBank(t, await bankDirectory(t), { [name]: value })
    const said: Buffer[] = []
    child.stderr?.on('data', (data: Buffer) => said.push(data))
    await once(child, 'close')
    assert.equal(child.exitCode, 1)
    assert.equal(Buffer.concat(said).toString(), `bank-simulator: ${message}\n`)
  })
}

async function startProcess(
  t: TestContext,
  directory: string,
  environment: Record<string, string | undefined> = {},
  options: readonly string[] = [],
) {
  const child = spawnBank(t, directory, environment, options)
  const lines: string[] = []
  assert.ok(child.stdout)
  const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  child.stderr?.resume()
  await Promise.race([
    once(output, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('the bank did not start'))),
  ])
  const { port } = JSON.parse(lines[0] ?? '')
  return { process: child, port, lines, call: callsTo(`http://127.0.0.1:${port}`) }
}

function spawnBank(
  t: TestContext,
  directory: string,
  environment: Record<string, string | undefined>,
  options: readonly string[] = [],
): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, ...options], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PIXGATE_SIMULATOR_PORT: '0',
      PIXGATE_SIMULATOR_DATA_DIR: directory,
      PIXGATE_SIMULATOR_EVENTS_URL: 'http://127.0.0.1:1',
      PIXGATE_PARTNER_TOKEN: TOKEN,
      PIXGATE_PARTNER_SECRET: SECRET,
      ...environment,
    },
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}
