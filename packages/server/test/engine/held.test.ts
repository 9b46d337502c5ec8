import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import { createEngine } from '../../src/engine/engine.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import { createIds } from '../../src/platform/ids.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { administer, openTestDatabase, testDatabase } from '../support/database.ts'

test('[engine.7] what changes nothing on the held rows is answered, not refused as contended', async (t) => {
  const { url } = await testDatabase(t)
  const database = openTestDatabase(url, 1)
  t.after(() => database.close())
  const turn = (enabled: boolean) =>
    administer(
      url,
      `UPDATE control SET version = version + 1, value = '{"enabled": ${enabled}}' WHERE name = 'cash_out_switch'`,
    )
  const clock = createDatabaseClock()
  const engine = createEngine({
    database: {
      ...database,
      // Somebody is faster once more, just before the rows are held.
      transaction: async (work) => {
        await turn(false)
        return database.transaction(work)
      },
    },
    clock,
    ids: createIds(clock),
    logger: pino({ level: 'silent' }),
    // Somebody is faster each time.
    pause: { ...realPause, jittered: () => turn(true) },
  })
  const countOne = () =>
    engine.execute({
      reads: [],
      controls: ['cash_out_switch'],
      decide: (state) =>
        state.control('cash_out_switch').enabled === true
          ? { controls: { cash_out_switch: { enabled: true, reason: 'written' } }, outcome: 'written' }
          : { outcome: 'suspended' },
    })
  await engine.execute({ reads: [], decide: () => ({ outcome: undefined }) })
  await turn(true)
  assert.equal(await countOne(), 'suspended')
})

test('[engine.13] [engine.7] [DB-2] a lost answer to a commit while the rows were held is found out, not refused', async (t) => {
  const { url } = await testDatabase(t)
  const database = openTestDatabase(url, 1)
  t.after(() => database.close())
  const turn = () => administer(url, `UPDATE control SET version = version + 1 WHERE name = 'cash_out_switch'`)
  const clock = createDatabaseClock()
  const held: string[] = []
  const transaction: Database['transaction'] = async (work) => {
    held.push('held')
    if (held.length === 1)
      throw new DatabaseUnavailable('the connection was lost before the commit was carried out', true)
    await database.transaction(work)
    throw new DatabaseUnavailable('the answer to the commit was lost', true)
  }
  const engine = createEngine({
    database: { ...database, transaction },
    clock,
    ids: createIds(clock),
    logger: pino({ level: 'silent' }),
    // Somebody is faster each time.
    pause: { ...realPause, jittered: turn },
  })
  const count = () =>
    engine.execute({
      reads: [],
      controls: ['cash_out_switch'],
      decide: (state) => {
        const { counted = 0 } = state.control('cash_out_switch')
        return { controls: { cash_out_switch: { enabled: true, counted: Number(counted) + 1 } }, outcome: 'written' }
      },
    })
  await engine.execute({ reads: [], decide: () => ({ outcome: undefined }) })
  await turn()
  await assert.rejects(count(), { code: 'overloaded' }, 'nothing was sent: nothing is in doubt')
  await turn()
  assert.equal(await count(), 'written')
})
