import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createInboxStore, type InboxResult, type NewInboxRow } from '../../src/inbox/store.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { createIds } from '../../src/platform/ids.ts'
import { testDatabase } from '../support/database.ts'
import { inboxKeys, insertAsBefore, quarantineAsBefore } from '../support/inbox-before.ts'

const AT = Date.parse('2026-11-21T13:15:00.000Z')
const ids = createIds({ now: () => AT })
const KEY = JSON.stringify(['cash-in', 'CashInReversal', 'tx', 'CONFIRMED', 'E1', 'D1'])

function row(content: string): NewInboxRow {
  return { id: ids.uuid(), endpoint: 'cash-in', dedupeKey: KEY, body: Buffer.from(content), bodyHash: sha256(content) }
}

function ended(id: string, state: InboxResult['state'], outcome = 'over'): InboxResult {
  return { id, state, outcome, operationId: null, failures: 0, parkings: 0, dueAt: null }
}

async function inboxOf(t: TestContext) {
  const { database } = await testDatabase(t)
  return { database, store: createInboxStore(database) }
}

const ENDS = [
  ['NEW', 'QUARANTINED', 'occurredAt lies in the future'],
  ['PARKED', 'QUARANTINED', 'failed 10 times'],
  ['NEW', 'PARKED', 'CASE_OPENED'],
  ['PARKED', 'PARKED', 'given up by another version'],
] as const

for (const [from, to, outcome] of ENDS) {
  test(`[partner-inbox.3] [EV-31] from ${from} to ${to}, an event gives up its key to the same one told later`, async (t) => {
    const { store } = await inboxOf(t)
    const [first, second, third] = [row('first'), row('second'), row('third')]
    assert.equal((await store.insert([first], AT, AT)).size, 1)
    assert.equal((await store.insert([second], AT, AT)).size, 0, 'not while it is to be applied')
    if (from === 'PARKED') await store.mark([{ ...ended(first.id, 'PARKED', 'too early'), dueAt: AT }], AT)
    assert.equal((await store.insert([second], AT, AT)).size, 0)
    await store.mark([ended(first.id, to, outcome)], AT)
    assert.equal(await store.isOriginalDone(KEY), true, 'nobody waits for what was set aside')
    assert.equal((await store.insert([second], AT, AT)).size, 1)
    await store.mark([ended(second.id, 'QUARANTINED')], AT)
    assert.equal((await store.insert([third], AT, AT)).size, 1, 'nor is there one place in quarantine')
    await store.mark([ended(third.id, 'DONE')], AT)
    assert.equal((await store.insert([row('fourth')], AT, AT)).size, 0, 'what was applied keeps its key for ever')
  })
}

test('[partner-inbox.7] [EV-31] a contradiction that became a case gives up its key to the same one told again', async (t) => {
  const { database, store } = await inboxOf(t)
  const [first, second] = [row('first'), row('second')]
  const stored = async () => (await inboxKeys(database)).length
  await store.insert([first], AT, AT)
  await store.insertConflicts([second], AT, AT)
  await store.insertConflicts([row('second')], AT, AT)
  assert.equal(await stored(), 2, 'not while it is to be judged')
  await store.mark([ended(second.id, 'CONFLICT', 'CASE_OPENED')], AT)
  await store.insertConflicts([row('second')], AT, AT)
  assert.equal(await stored(), 3)
})

test('[DB-11] [EV-32] a process of the version before goes on storing and quarantining, and shadows nothing either', async (t) => {
  const { database, store } = await inboxOf(t)
  const before = (given: NewInboxRow) => insertAsBefore(database, given)
  const [first, second, third] = [row('first'), row('second'), row('third')]
  assert.equal(await before(first), 1)
  assert.equal(await before(second), 0)
  await quarantineAsBefore(database, first.id)
  assert.equal(await before(second), 1, 'it stores what is told rightly')
  assert.equal((await store.insert([third], AT, AT)).size, 0, 'and the two versions share one key')
  await quarantineAsBefore(database, second.id)
  assert.equal((await store.insert([third], AT, AT)).size, 1)
  const keys = (await inboxKeys(database)).map((key) => JSON.parse(key))
  assert.deepEqual(keys, [['set aside', first.id, KEY], ['set aside', second.id, KEY], JSON.parse(KEY)])
})
