import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startSimulator } from '@pixgate/bank-simulator'
import { createService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { type CapturedLog, capturedLog } from './captured-log.ts'
import { testDatabase } from './database.ts'
import { seriesIn } from './metrics.ts'
import { testPort } from './port.ts'
import { type SteppedClock, steppedClock } from './stepped-clock.ts'
import { type Answer, ENVIRONMENT, PARTNER_SECRET, PARTNER_TOKEN, request } from './world.ts'

/** Services on one database and one bank that are started and stopped one by one, each with settings of its own. */
export interface Gateways {
  readonly database: Database
  readonly clock: SteppedClock
  /** Those that run, the oldest first. */
  readonly running: readonly Gateway[]
  /** Starts one, with workers, that differs from the others in these variables. */
  start(environment?: Readonly<Record<string, string>>): Promise<Gateway>
  /**
   * As a rolling restart does: starts one with these settings for each that runs, and stops that one then. No one
   * is stopped whose successor is not ready.
   */
  roll(environment: Readonly<Record<string, string>>): Promise<void>
}

/** One of them. */
export interface Gateway {
  readonly url: string
  readonly log: CapturedLog
  call(method: string, path: string, token: string, body?: object): Promise<Answer>
  /** The value of a series of its metrics; 0 where there is none. */
  counted(series: string, token: string): Promise<number>
}

/** Builds the database and the bank; all of it goes with the test. */
export async function gateways(t: TestContext): Promise<Gateways> {
  const stops = new Map<Gateway, () => Promise<void>>()
  const { url: databaseUrl, database } = await testDatabase(t)
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-gateways-'))
  const bank = await startSimulator({
    ...{ port: 0, dataDirectory: directory, token: PARTNER_TOKEN, secret: PARTNER_SECRET },
    // Nobody is there: the test is who tells of payments.
    eventsUrl: 'http://127.0.0.1:9',
  })
  t.after(async () => {
    for (const stop of stops.values()) await stop()
    await bank.stop()
    await rm(directory, { recursive: true, force: true })
  })
  const clock = steppedClock()
  const addresses = { DATABASE_URL: databaseUrl, PIXGATE_PARTNER_URL: bank.url }

  async function start(environment: Readonly<Record<string, string>> = {}): Promise<Gateway> {
    const log = capturedLog()
    const config = readConfig({ ...ENVIRONMENT, ...addresses, ...environment })
    const service = await createService({ config, clock, pause: realPause, random: Math.random, logger: log.logger })
    const port = await testPort()
    service.startWorkers()
    await service.http.listen({ host: '127.0.0.1', port })
    const gateway = gatewayAt(`http://127.0.0.1:${port}`, log)
    stops.set(gateway, () => service.stop())
    return gateway
  }

  async function stop(gateway: Gateway): Promise<void> {
    const end = stops.get(gateway)
    stops.delete(gateway)
    await end?.()
  }

  return {
    database,
    clock,
    get running() {
      return [...stops.keys()]
    },
    start,
    roll: async (environment) => {
      for (const before of [...stops.keys()]) {
        await start(environment)
        await stop(before)
      }
    },
  }
}

function gatewayAt(url: string, log: CapturedLog): Gateway {
  const call: Gateway['call'] = (method, path, token, body) => request(url + path, token, method, body)
  return {
    url,
    log,
    call,
    counted: async (series, token) => {
      const { status, body } = await call('GET', '/metrics', token)
      assert.equal(status, 200)
      return seriesIn(body)(series) ?? 0
    },
  }
}
