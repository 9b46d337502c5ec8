import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { pino } from 'pino'
import {
  APPLICATION_ROLE,
  assertSession,
  openDatabase,
  SESSION_SETTINGS,
  sessionFaults,
} from '../../../src/platform/db/database.ts'
import { StartupError } from '../../../src/platform/startup-error.ts'
import { testDatabase } from '../../support/database.ts'

const logger = pino({ level: 'silent' })

test('[database.14] sessions that are as a server asks for them are good', async (t) => {
  const { url } = await testDatabase(t)
  const database = openDatabase({ url, name: 'test', connections: 1, role: APPLICATION_ROLE, logger })
  await assertSession(database, APPLICATION_ROLE).finally(() => database.close())
})

test('[database.14] where what is asked for is dropped the start is refused, with what to set', async (t) => {
  const { url } = await testDatabase(t)
  // Asks for nothing: as whatever was asked for through a pooler.
  const database = openDatabase({ url, name: 'test', connections: 1, logger })
  const refused = await assertSession(database, APPLICATION_ROLE).catch((error: unknown) => error)
  await database.close()
  assert.ok(refused instanceof StartupError)
  const login = new URL(url).username
  assert.match(refused.message, /lock_timeout is 0/)
  assert.match(refused.message, /SET statement_timeout = '5000';/)
  assert.match(refused.message, new RegExp(`ALTER ROLE "${login}" SET lock_timeout = '2000';`))
  assert.match(refused.message, new RegExp(`ALTER ROLE "${login}" SET role = '${APPLICATION_ROLE}';`))
})

test('[database.14] each setting counts, and the role', () => {
  const good = { login: 'app', role: APPLICATION_ROLE, settings: SESSION_SETTINGS }
  assert.deepEqual(sessionFaults(good, APPLICATION_ROLE), [])
  for (const name of Object.keys(SESSION_SETTINGS)) {
    const { [name]: _, ...settings } = SESSION_SETTINGS
    assert.equal(sessionFaults({ ...good, settings }, APPLICATION_ROLE).length, 2, name)
  }
  assert.match(sessionFaults({ ...good, role: 'owner' }, APPLICATION_ROLE).join(), /role is owner/)
})

for (const guide of ['operator.md', 'operator.pt-BR.md']) {
  test(`[database.14] ${guide} names every setting that a login needs behind a pooler`, () => {
    const text = readFileSync(new URL(`../../../../../docs/guides/${guide}`, import.meta.url), 'utf8')
    for (const [name, value] of Object.entries({
      ...SESSION_SETTINGS,
      role: APPLICATION_ROLE,
      statement_timeout: '5000',
    })) {
      assert.ok(text.includes(`ALTER ROLE shop SET ${name} = '${value}';`), name)
    }
  })
}
