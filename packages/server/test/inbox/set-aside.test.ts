import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createInboxStore, type InboxResult, type NewEvent } from '../../src/inbox/store.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { createIds } from '../../src/platform/ids.ts'
import { inboxKeys, testDatabase } from '../support/database.ts'

const AT = Date.parse('2026-11-21T13:15:00.000Z')
const ids = createIds({ now: () => AT })
const KEY = JSON.stringify(['cash-in', 'CashInReversal', 'tx', 'CONFIRMED', 'E1', 'D1'])

function row(content: string): NewEvent {
  const callback = { id: ids.uuid(), endpoint: 'cash-in', body: Buffer.from(content), isProven: true }
  return { callback, ordinal: 0, dedupeKey: KEY, contentHash: sha256(content) }
}

function ended({ callback, ordinal }: NewEvent, state: InboxResult['state'], outcome = 'over'): InboxResult {
  return { inboxId: callback.id, ordinal, state, outcome, operationId: null, failures: 0, parkings: 0, dueAt: null }
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
  test(`[partner-inbox.3] [EV-31] from ${from} to ${to}, a set-aside event gives up its key to the same one received later`, async (t) => {
    const { store } = await inboxOf(t)
    const [first, second, third] = [row('first'), row('second'), row('third')]
    assert.equal((await store.insert([first], AT, AT)).length, 1)
    assert.equal((await store.insert([second], AT, AT)).length, 0, 'not while it is to be applied')
    if (from === 'PARKED') await store.mark([{ ...ended(first, 'PARKED', 'too early'), dueAt: AT }], AT)
    assert.equal((await store.insert([second], AT, AT)).length, 0)
    await store.mark([ended(first, to, outcome)], AT)
    assert.equal(await store.isOriginalDone(KEY), true, 'nobody waits for what was set aside')
    assert.equal((await store.insert([second], AT, AT)).length, 1)
    await store.mark([ended(second, 'QUARANTINED')], AT)
    assert.equal((await store.insert([third], AT, AT)).length, 1, 'nor is there one place in quarantine')
    await store.mark([ended(third, 'DONE')], AT)
    assert.equal((await store.insert([row('fourth')], AT, AT)).length, 0, 'what was applied keeps its key for ever')
  })
}

test('[partner-inbox.7] [EV-31] a contradiction that became a case gives up its key to the same one reported again', async (t) => {
  const { database, store } = await inboxOf(t)
  const [first, second] = [row('first'), row('second')]
  const stored = async () => (await inboxKeys(database)).length
  await store.insert([first], AT, AT)
  await store.insertConflicts([second], AT, AT)
  await store.insertConflicts([row('second')], AT, AT)
  assert.equal(await stored(), 2, 'not while it is to be judged')
  await store.mark([ended(second, 'CONFLICT', 'CASE_OPENED')], AT)
  await store.insertConflicts([row('second')], AT, AT)
  assert.equal(await stored(), 3)
})
