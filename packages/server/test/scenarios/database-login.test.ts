import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { examineDatabase } from '../../src/doctor/doctor.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { loginFaults } from '../../src/platform/db/login.ts'
import { withSnapshot } from '../../src/platform/db/snapshot.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { Stop } from '../../src/process.ts'
import { start } from '../../src/start.ts'
import { administer, testDatabase } from '../support/database.ts'
import { as, serverLogin } from '../support/logins.ts'
import { testPort } from '../support/port.ts'
import { ask } from '../support/process-world.ts'
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/world.ts'

/** Starts a server with its workers; the owner brings the schema up to date. @returns whether it answers and writes */
async function serving(t: TestContext, databaseUrl: string, ownerUrl: string): Promise<() => Promise<boolean>> {
  const port = await testPort()
  const stops: Stop[] = []
  t.after(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  const bank = net.createServer().listen(0, '127.0.0.1')
  await once(bank, 'listening')
  t.after(() => bank.close())
  const environment = {
    ...ENVIRONMENT,
    ...{ PORT: String(port), DATABASE_URL: databaseUrl, PIXGATE_MIGRATION_URL: ownerUrl },
    PIXGATE_PARTNER_URL: `http://127.0.0.1:${(bank.address() as AddressInfo).port}`,
  }
  const dependencies = { pause: realPause, random: Math.random, logger: pino({ level: 'silent' }) }
  await start('all', readConfig(environment), { ...dependencies, clock: createDatabaseClock() }, stops)
  return async () => (await ask(`http://127.0.0.1:${port}/api-key/generate`, ADMIN_TOKEN, 'POST'))?.status === 201
}

test('[rotation.3] a second login of the server takes the place of the first, and both serve meanwhile', async (t) => {
  const { url } = await testDatabase(t)
  const [first, second] = [await serverLogin(t), await serverLogin(t)]
  const firstServes = await serving(t, as(url, first), url)
  const secondServes = await serving(t, as(url, second), url)
  assert.deepEqual([await firstServes(), await secondServes()], [true, true])
  const { findings } = await examineDatabase({
    url: as(url, second),
    clock: createDatabaseClock(),
    encryptionKeys: undefined,
    migratedBy: 'migrate',
  })
  assert.deepEqual(
    findings.filter(({ isOk }) => !isOk),
    [],
  )
  await withSnapshot({ url: as(url, second), name: 'pixgate test' }, async (queries) =>
    assert.deepEqual(await loginFaults(queries), [], 'production takes it'),
  )

  await administer(url, `ALTER ROLE ${first.role} NOLOGIN`)
  await assert.rejects(serving(t, as(url, first), url), /not permitted to log in/)
  const thirdServes = await serving(t, as(url, second), url)
  assert.deepEqual([await secondServes(), await thirdServes()], [true, true])
})
