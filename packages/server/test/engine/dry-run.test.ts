import assert from 'node:assert/strict'
import test from 'node:test'
import { createDryRun } from '../../src/engine/dry-run.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createIds } from '../../src/platform/ids.ts'
import { administer, openTestDatabase, testDatabase } from '../support/database.ts'
import { openHolder } from '../support/waiting-backends.ts'

/** Commands that are carried out and rolled back. */

function dryRunOn(database: Database) {
  const clock = createDatabaseClock()
  return createDryRun({ database, clock, ids: createIds(clock) })
}

test('[engine.23] of two dry runs at once the second one begins when the first has ended', async (t) => {
  const { url } = await testDatabase(t)
  const database = openTestDatabase(url, 4)
  t.after(() => database.close())
  const dryRun = dryRunOn(database)
  const seen: string[] = []
  const count = async (name: string) => {
    await dryRun({
      reads: [],
      controls: ['cash_out_switch'],
      decide: () => {
        seen.push(`${name} decides`)
        return { controls: { cash_out_switch: { enabled: true, reason: name } }, outcome: undefined }
      },
    })
    seen.push(`${name} has ended`)
  }
  const holder = await openHolder(url)
  await holder.hold(`SELECT FROM control WHERE name = 'cash_out_switch' FOR UPDATE`)
  const both = Promise.all([count('first'), count('second')])
  await holder.waiting(1)
  await holder.release()
  await both
  assert.deepEqual(seen, ['first decides', 'first has ended', 'second decides', 'second has ended'])
})

test('[engine.23] a dry run whose rows changed since they were read is decided again', async (t) => {
  const { url } = await testDatabase(t)
  const database = openTestDatabase(url, 2)
  t.after(() => database.close())
  let isFirst = true
  const dryRun = dryRunOn({
    ...database,
    // Somebody is faster once.
    transaction: async (work) => {
      if (isFirst) await administer(url, `UPDATE control SET version = version + 1 WHERE name = 'cash_out_switch'`)
      isFirst = false
      return database.transaction(work)
    },
  })
  const versions: bigint[] = []
  await dryRun({
    reads: [],
    controls: ['cash_out_switch'],
    decide: (state) => {
      versions.push(state.versionOf('cash_out_switch'))
      return { controls: { cash_out_switch: { enabled: true } }, outcome: undefined }
    },
  })
  const [first = 0n, ...others] = versions
  assert.deepEqual(others, [first + 1n])
})

test('[engine.23] a dry run that takes longer than 2 s is refused, its connection is used again, and nothing of it is left', async (t) => {
  const { url } = await testDatabase(t)
  const database = openTestDatabase(url, 1)
  t.after(() => database.close())
  await administer(
    url,
    `CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(4); RETURN NEW; END $$;
     CREATE TRIGGER takes_long BEFORE UPDATE ON control FOR EACH ROW EXECUTE FUNCTION take_long()`,
  )
  const turn = () =>
    dryRunOn(database)({
      reads: [],
      controls: ['cash_out_switch'],
      decide: (state) => ({
        controls: { cash_out_switch: { enabled: true } },
        outcome: state.versionOf('cash_out_switch'),
      }),
    })
  await assert.rejects(turn(), { code: 'overloaded' })
  await administer(url, 'DROP TRIGGER takes_long ON control')
  const [first, second] = [await turn(), await turn()]
  assert.equal(first, second)
})
