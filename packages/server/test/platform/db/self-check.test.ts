import assert from 'node:assert/strict'
import test from 'node:test'
import { checkDatabase, databaseFaults } from '../../../src/platform/db/self-check.ts'
import { administer, testDatabase } from '../../support/database.ts'

const GOOD = { server_version_num: '150000', fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' }

const faults = (given: Record<string, string>) => databaseFaults(new Map(Object.entries({ ...GOOD, ...given })))

test('[database.1] PostgreSQL 15 with durable commits is good, also one that waits for a standby’s reply', () => {
  assert.deepEqual(faults({}), [])
  assert.deepEqual(faults({ server_version_num: '180001', synchronous_commit: 'remote_apply' }), [])
})

test('[database.1] every setting that lets a committed payment be lost is named, with what it must be', () => {
  const lossy = {
    fsync: ['off'],
    full_page_writes: ['off'],
    synchronous_commit: ['off', 'local', 'remote_write'],
  }
  for (const [name, values] of Object.entries(lossy)) {
    for (const value of values) {
      const [fault, ...others] = faults({ [name]: value })
      assert.deepEqual(others, [])
      assert.match(fault ?? '', new RegExp(`${name} = ${value};.* Set it to on`))
    }
  }
})

test('[database.1] an older PostgreSQL is refused, and all that is wrong is reported at once', () => {
  assert.deepEqual(faults({ server_version_num: '140012' }), [
    'PostgreSQL 140012 is too old; Pixgate needs 15 or newer.',
  ])
  assert.equal(databaseFaults(new Map()).length, 4, 'what is not known is not good')
})

test('[database.1] a real database is checked by the settings of a session', async (t) => {
  const { url } = await testDatabase(t)
  assert.deepEqual(await checkDatabase(url), [])
  await administer(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`)
  const [fault, ...others] = await checkDatabase(url)
  assert.match(fault ?? '', /synchronous_commit = off/)
  assert.deepEqual(others, [])
})
