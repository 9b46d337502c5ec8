import assert from 'node:assert/strict'
import test from 'node:test'
import pg from 'pg'
import type { Database } from '../../src/platform/db/database.ts'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import { type Pause, realPause } from '../../src/platform/jobs/pause.ts'
import { administer, testDatabase } from '../support/database.ts'
import { testEngine, testEngineThrough } from '../support/engine.ts'

test('[engine.7] a command that changes nothing on the held rows is answered, not refused as contended', async (t) => {
  const { url } = await testDatabase(t)
  const turn = (enabled: boolean) =>
    administer(
      url,
      `UPDATE control SET version = version + 1, value = '{"enabled": ${enabled}}' WHERE name = 'cash_out_switch'`,
    )
  // Somebody is faster each time, and once more just before the rows are held.
  const { engine } = testEngineThrough(
    t,
    url,
    (pool) => ({
      ...pool,
      transaction: async (work) => {
        await turn(false)
        return pool.transaction(work)
      },
    }),
    () => turn(true),
  )
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
  const turn = () => administer(url, `UPDATE control SET version = version + 1 WHERE name = 'cash_out_switch'`)
  const held: string[] = []
  const losing =
    (pool: Database): Database['transaction'] =>
    async (work) => {
      held.push('held')
      if (held.length === 1)
        throw new DatabaseUnavailable('the connection was lost before the commit was carried out', true)
      await pool.transaction(work)
      throw new DatabaseUnavailable('the answer to the commit was lost', true)
    }
  // Somebody is faster each time.
  const { engine } = testEngineThrough(t, url, (pool) => ({ ...pool, transaction: losing(pool) }), turn)
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

test('[engine.11] [DB-4] callers wait for all attempts of a batch together no longer than for one', async (t) => {
  const { url } = await testDatabase(t)
  let attempts = 0
  const locked = (pool: Database): Database => ({
    ...pool,
    rows: async (statement, ...rest) => {
      if (statement.name.startsWith('engine.write') && attempts++ < 2) {
        throw Object.assign(new pg.DatabaseError('lock timeout', 0, 'error'), { code: '55P03' })
      }
      return pool.rows(statement, ...rest)
    },
  })
  let waits = 0
  const pause: Pause = {
    for: (ms, signal) => {
      waits += 1
      return realPause.for(ms, signal)
    },
    jittered: async () => undefined,
  }
  const { engine } = testEngine(t, url, undefined, pause, undefined, undefined, locked)
  const off = { enabled: false, reason: 'a test' }
  await engine.execute({
    reads: [],
    controls: ['cash_out_switch'],
    decide: () => ({ controls: { cash_out_switch: off }, outcome: undefined }),
  })
  assert.deepEqual({ attempts, waits }, { attempts: 3, waits: 1 })
})
