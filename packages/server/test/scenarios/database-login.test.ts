import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { examineDatabase } from '../../src/doctor/database.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { Stop } from '../../src/process.ts'
import { start } from '../../src/start.ts'
import { administer } from '../support/database.ts'
import { emptyDatabase } from '../support/migrations.ts'
import { testPort } from '../support/port.ts'
import { ask } from '../support/process-world.ts'
import { ADMIN_TOKEN, ENVIRONMENT } from '../support/world.ts'

const PASSWORD = 'of-the-tests'

/** Starts a server with its workers. @returns whether it answers and writes */
async function serving(t: TestContext, databaseUrl: string): Promise<() => Promise<boolean>> {
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
    ...{ PORT: String(port), DATABASE_URL: databaseUrl },
    PIXGATE_PARTNER_URL: `http://127.0.0.1:${(bank.address() as AddressInfo).port}`,
  }
  const dependencies = { pause: realPause, random: Math.random, logger: pino({ level: 'silent' }) }
  await start('all', readConfig(environment), { ...dependencies, clock: createDatabaseClock() }, stops)
  return async () => (await ask(`http://127.0.0.1:${port}/api-key/generate`, ADMIN_TOKEN, 'POST'))?.status === 201
}

test('[rotation.3] a second login takes the place of the first, and both serve meanwhile', async (t) => {
  const cluster = process.env.PIXGATE_TEST_DATABASE_URL ?? assert.fail('run the tests with `npm test`')
  const [first, second] = ['first', 'second'].map((name) => `${name}_${randomBytes(6).toString('hex')}`) as [
    string,
    string,
  ]
  await administer(cluster, `CREATE ROLE ${first} LOGIN CREATEROLE PASSWORD '${PASSWORD}'`)
  // As the one who creates it may; here another test's database has made it before.
  await administer(cluster, `GRANT pixgate_app TO ${first}`)
  const url = await emptyDatabase(t, { role: first, password: PASSWORD })
  t.after(() => administer(cluster, `DROP ROLE IF EXISTS ${second}, ${first}`))
  const firstServes = await serving(t, url)

  await administer(cluster, `CREATE ROLE ${second} LOGIN PASSWORD '${PASSWORD}' IN ROLE ${first}`)
  await administer(cluster, `ALTER ROLE ${second} SET role = '${first}'`)
  const urlOfSecond = Object.assign(new URL(url), { username: second }).href
  const secondServes = await serving(t, urlOfSecond)
  assert.deepEqual([await firstServes(), await secondServes()], [true, true])
  const { findings } = await examineDatabase(urlOfSecond, createDatabaseClock(), undefined)
  assert.deepEqual(
    findings.filter(({ isOk }) => !isOk),
    [],
  )

  await administer(cluster, `ALTER ROLE ${first} NOLOGIN`)
  await assert.rejects(serving(t, url), /not permitted to log in/)
  const thirdServes = await serving(t, urlOfSecond)
  assert.deepEqual([await secondServes(), await thirdServes()], [true, true])
})
