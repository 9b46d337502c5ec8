import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import {
  createIdentityStore,
  createIdentityWatch,
  type Identity,
  type IdentityStore,
} from '../../src/restored/watch.ts'
import { capturedLog } from '../support/captured-log.ts'
import { testDatabase } from '../support/database.ts'
import { testEngine } from '../support/engine.ts'
import { audit, payoutSwitch } from '../support/evidence.ts'

/** Time passes at once. */
const pause = { for: async () => undefined }

const OTHER: Partial<Identity> = { cluster: 'another cluster' }
const PROMOTED: Partial<Identity> = { timeline: 'another timeline' }

/** A watch that has seen its database, and what it is told of it from then on. */
async function watchedDatabase(t: TestContext, changes: Partial<IdentityStore> = {}) {
  const { database, url } = await testDatabase(t)
  const { engine, clock } = testEngine(t, url)
  const { logger, lines } = capturedLog()
  const store = createIdentityStore(database)
  const watchOf = (more: Partial<IdentityStore>) =>
    createIdentityWatch({ store: { ...store, ...more }, engine, clock, pause, logger })
  await watchOf({}).look()
  const current = await store.current()
  return {
    store,
    lines,
    /** Looks at a database that is another one in this. */
    look: (change: Partial<Identity>) =>
      watchOf({ current: async () => ({ ...current, ...change }), ...changes }).look(),
    isSuspended: async () => (await payoutSwitch(database)).isSuspended,
    version: async () => (await payoutSwitch(database)).version,
    audits: () => audit(database),
  }
}

test('[restored.1] PostgreSQL tells the service’s own login which database it is', async (t) => {
  const { store } = await watchedDatabase(t)
  const { cluster, tables, timeline } = await store.known()
  assert.match(cluster ?? '', /^\d+$/)
  assert.match(tables ?? '', /^\d+ \d+$/)
  assert.match(timeline ?? '', /^[0-9A-F]{8}$/)
})

test('[restored.2] the first look, and each at the same database, suspends nothing', async (t) => {
  const { look, isSuspended, lines } = await watchedDatabase(t)
  await look({})
  assert.equal(await isSuspended(), false)
  assert.deepEqual(lines, [])
})

test('[restored.2] another database is one whose payouts are suspended, once, in the trail and in the log', async (t) => {
  const { look, isSuspended, version, audits, lines } = await watchedDatabase(t)
  await look(OTHER)
  assert.equal(await isSuspended(), true)
  const [row, ...more] = await audits()
  assert.deepEqual([row?.actor, row?.action, more], ['database-watch', 'cash_out_switch.set', []])
  assert.partialDeepStrictEqual(row?.facts, { enabled: false, now: OTHER })
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['error'],
  )
  assert.partialDeepStrictEqual(lines[0]?.now, OTHER)
  const suspended = await version()
  await look(OTHER)
  assert.equal(await version(), suspended)
})

test('[restored.2] [DB-10] who dies before it is noted finds it again', async (t) => {
  const died = async () => {
    throw new Error('the process died')
  }
  const { look, isSuspended, store } = await watchedDatabase(t, { note: died })
  await assert.rejects(look(OTHER), /the process died/)
  assert.equal(await isSuspended(), true)
  assert.notEqual((await store.known()).cluster, OTHER.cluster)
})

test('[restored.3] [DB-7] a standby that was promoted suspends payouts where no commit waits for one', async (t) => {
  const { look, isSuspended } = await watchedDatabase(t)
  await look(PROMOTED)
  assert.equal(await isSuspended(), true)
})

test('[restored.3] a promotion during which no commit waits for a standby for some seconds is looked at again', async (t) => {
  const answers = [false, false, true]
  const { look, isSuspended } = await watchedDatabase(t, { isSynchronous: async () => answers.shift() ?? false })
  await look(PROMOTED)
  assert.deepEqual([await isSuspended(), answers], [false, []])
})

test('[restored.3] where commits wait for a standby it is only told', async (t) => {
  const { look, isSuspended, lines, store } = await watchedDatabase(t, { isSynchronous: async () => true })
  await look(PROMOTED)
  assert.equal(await isSuspended(), false)
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['warn'],
  )
  assert.partialDeepStrictEqual(lines[0]?.now, PROMOTED)
  assert.equal((await store.known()).timeline, PROMOTED.timeline)
  await look(OTHER)
  assert.equal(await isSuspended(), true, 'a restored one is another thing')
})

test('[restored.4] orders are near a restore that were made before it, and for a while after it; other processes know it', async (t) => {
  const { database, url } = await testDatabase(t)
  const { engine, clock } = testEngine(t, url)
  const { logger } = capturedLog()
  const store = createIdentityStore(database)
  const watchOf = (change: Partial<Identity>) => {
    const current = async () => ({ ...(await store.current()), ...change })
    return createIdentityWatch({ store: { ...store, current }, engine, clock, pause, logger })
  }
  const first = watchOf({})
  await first.look()
  assert.equal(first.isNearRestore(0, 1_000), false)
  const noticing = watchOf(OTHER)
  await noticing.look()
  const other = watchOf(OTHER)
  await other.look()
  for (const watch of [noticing, other]) {
    assert.equal(watch.isNearRestore(clock.now() - 86_400_000, 1_000), true)
    assert.equal(watch.isNearRestore(clock.now() + 10_000, 60_000), true)
    assert.equal(watch.isNearRestore(clock.now() + 61_000, 60_000), false)
  }
})
