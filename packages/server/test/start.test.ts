import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { type Endpoint, endpoints } from '@pixgate/spec'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { createDatabaseClock } from '../src/platform/clock.ts'
import { realPause } from '../src/platform/jobs/pause.ts'
import type { Stop } from '../src/process.ts'
import { reserveAddress, start } from '../src/start.ts'
import { capturedLog } from './support/captured-log.ts'
import { certificateOf } from './support/certificates.ts'
import { connectionsEnd, testDatabase } from './support/database.ts'
import { seriesIn } from './support/metrics.ts'
import { wallNow } from './support/wall-clock.ts'
import { ADMIN_TOKEN, ENCRYPTION_KEY, ENVIRONMENT, PARTNER_SECRET, PARTNER_TOKEN } from './support/world.ts'

const MINUTE_MS = 60_000

const logger = pino({ level: 'silent' })

const configured = (databaseUrl: string, encryptionKey = ENCRYPTION_KEY) =>
  readConfig({
    DATABASE_URL: databaseUrl,
    PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN,
    PIXGATE_ENCRYPTION_KEY: encryptionKey,
    // Nobody listens there: there is nothing to do at the bank.
    PIXGATE_PARTNER_URL: 'http://127.0.0.1:9',
    PIXGATE_PARTNER_TOKEN: PARTNER_TOKEN,
    PIXGATE_PARTNER_SECRET: PARTNER_SECRET,
  })

test('[EX-4] a process whose wall clock is an hour fast has the database’s time when its workers start', async (t) => {
  const { url } = await testDatabase(t)
  const clock = createDatabaseClock(() => wallNow() + 60 * MINUTE_MS)
  const readings: number[] = []
  const now = () => {
    const nowMs = clock.now()
    readings.push(nowMs)
    return nowMs
  }
  const dependencies = { clock: { ...clock, now }, pause: realPause, random: Math.random, logger }
  const stops: Stop[] = []
  try {
    const startedAt = wallNow()
    await start('worker', configured(url), dependencies, stops)
    assert.ok(readings.length > 0, 'the workers look for what is due')
    for (const nowMs of readings) assert.ok(Math.abs(nowMs - startedAt) < MINUTE_MS, `${nowMs - startedAt} ms off`)
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
})

test('[health.3] [config.10] a start that is refused leaves nothing open at the database', async (t) => {
  const { url } = await testDatabase(t)
  const dependencies = { clock: createDatabaseClock(), pause: realPause, random: Math.random, logger }
  const stops: Stop[] = []
  await start('api', { ...configured(url), port: 0 }, dependencies, stops)
  for (const stop of stops.splice(0).reverse()) await stop()
  const wrong = { ...configured(url, 'another key of 32 characters, or more than that'), port: 0 }
  await assert.rejects(start('api', wrong, dependencies, stops), /PIXGATE_ENCRYPTION_KEY is not the one/)
  assert.deepEqual(stops, [])
  await connectionsEnd(url, 'pixgate %')
})

test('[config.10] an address that cannot be listened on is told by its setting', async () => {
  const refused = (host: string, port = 0) => reserveAddress('all', { host, port })
  await assert.rejects(refused('192.0.2.1'), {
    name: 'StartupError',
    message: 'HOST is 192.0.2.1, which is no address of this machine',
  })
  await assert.rejects(refused('host.invalid'), {
    name: 'StartupError',
    message: 'HOST is host.invalid, which is a name that does not resolve',
  })
  const taken = net.createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as net.AddressInfo
  await assert.rejects(refused('127.0.0.1', port), { message: `port ${port} is taken; set PORT to another one` })
  taken.close()
})

test('[config.10] only a process that listens names a port when it is ready', async (t) => {
  const { url } = await testDatabase(t)
  for (const role of ['worker', 'api'] as const) {
    const log = capturedLog()
    const dependencies = { clock: createDatabaseClock(), pause: realPause, random: Math.random, logger: log.logger }
    const stops: Stop[] = []
    await start(role, { ...configured(url), port: 0 }, dependencies, stops)
    const ready = await log.line('ready', { role })
    for (const stop of stops.reverse()) await stop()
    assert.deepEqual(['port' in ready, ready.port !== 0], [role === 'api', true])
  }
})
/** A worker on a database of its own, with what it logs; it ends with the test. */
async function startWorkerProcess(t: TestContext, environment: Record<string, string>) {
  const { url } = await testDatabase(t)
  const log = capturedLog()
  const stops: Stop[] = []
  t.after(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  const config = readConfig({
    ...ENVIRONMENT,
    DATABASE_URL: url,
    PIXGATE_PARTNER_URL: 'http://127.0.0.1:9',
    ...environment,
  })
  const given = { clock: createDatabaseClock(), pause: realPause, random: Math.random, logger: log.logger }
  await start('worker', config, given, stops)
  const { port } = await log.line('ready')
  return { url: `http://127.0.0.1:${port}`, port, config, log }
}

test('[health.6] [metrics.4] a worker answers how it fares at a port of its own, and nothing else', async (t) => {
  const token = 'metrics-token-of-the-tests-0123456789'
  const { url } = await startWorkerProcess(t, { PIXGATE_WORKER_PORT: '0', PIXGATE_METRICS_TOKEN: token })
  const ask = async (path: string, bearer?: string) => {
    const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
    const response = await fetch(url + path, { headers })
    return { status: response.status, text: await response.text() }
  }
  assert.equal((await ask('/healthz')).status, 200)
  assert.partialDeepStrictEqual(JSON.parse((await ask('/readyz')).text), { status: 'ready' })
  assert.equal((await ask('/metrics')).status, 401)
  assert.equal((await ask('/metrics', ADMIN_TOKEN)).status, 200)
  const series = seriesIn((await ask('/metrics', token)).text)
  assert.equal(series('pixgate_worker_failures_total{worker="delivery"}'), 0)
  assert.equal(series('pixgate_deliveries_ended_total{state="failed"}'), 0)
  assert.ok(series('pixgate_ledger_verified_timestamp_seconds'), 'who verifies says since when')
  for (const path of ['/', '/docs', '/openapi.json', '/api/pix/cash-in', '/operator/cash-out-switch']) {
    assert.equal((await ask(path, ADMIN_TOKEN)).status, 404, path)
  }
})

test('[production.8] a start on a Node.js whose time is over by the database’s clock says so, and any other does not', async (t) => {
  const { url } = await testDatabase(t)
  const warnings = async (nowMs: number) => {
    const log = capturedLog('warn')
    const clock = { ...createDatabaseClock(), now: () => nowMs }
    const stops: Stop[] = []
    await start(
      'api',
      { ...configured(url), port: 0 },
      { clock, pause: realPause, random: Math.random, logger: log.logger },
      stops,
    )
    for (const stop of stops.reverse()) await stop()
    return log.lines
      .filter(({ msg }) => msg.includes('Node.js'))
      .map(({ level, version, lastDay }) => [level, version, lastDay])
  }
  const lastDay = Date.UTC(2028, 3, 30)
  assert.deepEqual(await warnings(lastDay), [])
  const isKnown = process.versions.node.startsWith('24.')
  assert.deepEqual(
    await warnings(lastDay + 24 * 60 * MINUTE_MS),
    isKnown ? [['warn', process.versions.node, '2028-04-30']] : [],
  )
})

test('[partner.12] a process tells at its start, and measures, that our certificate for the bank expires', async (t) => {
  const certificate = certificateOf(t, 'gateway.example')
  const { url, log } = await startWorkerProcess(t, {
    PIXGATE_WORKER_PORT: '0',
    PIXGATE_PARTNER_CLIENT_CERTIFICATE_FILE: certificate.path,
    PIXGATE_PARTNER_CLIENT_KEY_FILE: certificate.keyPath,
  })
  const { level, daysLeft, expiresAt } = await log.line('our certificate for the bank expires soon')
  assert.deepEqual([level, daysLeft], ['error', 1])
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
  const series = seriesIn(await response.text())
  assert.equal(
    series('pixgate_bank_certificate_expires_timestamp_seconds{owner="client"}'),
    Date.parse(String(expiresAt)) / 1_000,
  )
})

test('[health.6] a worker opens no port where none is set, and refuses one that is taken by its name', async (t) => {
  assert.equal((await startWorkerProcess(t, {})).port, undefined)
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => taken.close())
  const port = String((taken.address() as AddressInfo).port)
  await assert.rejects(startWorkerProcess(t, { PIXGATE_WORKER_PORT: port }), {
    name: 'StartupError',
    message: `port ${port} is taken; set PIXGATE_WORKER_PORT to another one`,
  })
})

test('[operators.8] the operator’s endpoints are answered at a port of their own, and there alone', async (t) => {
  const { url } = await testDatabase(t)
  const log = capturedLog()
  const stops: Stop[] = []
  const config = { ...configured(url), port: 0, operatorPort: 0 }
  const given = { clock: createDatabaseClock(), pause: realPause, random: Math.random, logger: log.logger }
  await start('api', config, given, stops)
  t.after(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  const { port, operatorPort } = await log.line('ready')
  assert.notEqual(port, operatorPort)
  const ask = async (port: unknown, method: string, path: string, token = ADMIN_TOKEN) => {
    const headers = { authorization: `Bearer ${token}` }
    const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers })
    return status
  }
  const ofOperators: readonly Endpoint[] = Object.values(endpoints)
  for (const { id, method, path } of ofOperators.filter(({ auth, tag }) => auth === 'admin' && tag !== 'Health')) {
    assert.equal(await ask(port, method, path), 404, id)
    assert.notEqual(await ask(operatorPort, method, path.replace('{id}', 'nobody'), 'nobody'), 404, id)
  }
  assert.equal(await ask(operatorPort, 'POST', '/api-key/generate'), 201)
  assert.equal(await ask(operatorPort, 'GET', '/organization/balance'), 404)
  assert.equal(await ask(port, 'GET', '/organization/balance'), 401)
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    assert.deepEqual([await ask(port, 'GET', path), await ask(operatorPort, 'GET', path)], [200, 200], path)
  }
})

test('[operators.8] [config.10] where that port is taken the start is refused by its setting, and leaves nothing open', async (t) => {
  const { url } = await testDatabase(t)
  const taken = net.createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => taken.close())
  const { port } = taken.address() as AddressInfo
  const given = { clock: createDatabaseClock(), pause: realPause, random: Math.random, logger }
  const stops: Stop[] = []
  await assert.rejects(start('api', { ...configured(url), port: 0, operatorPort: port }, given, stops), {
    message: `port ${port} is taken; set PIXGATE_OPERATOR_PORT to another one`,
  })
  assert.deepEqual(stops, [])
  await connectionsEnd(url, 'pixgate %')
})
