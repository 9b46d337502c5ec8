import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createInboxStore, type InboxResult, type NewEvent } from '../../src/inbox/store.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createIds } from '../../src/platform/ids.ts'
import { testDatabase } from '../support/database.ts'
import {
  bothSides,
  claimAsBefore,
  insertAsBefore,
  isOriginalDoneAsBefore,
  markAsBefore,
} from '../support/inbox-before.ts'

/** A process of the version before, which knows the columns of `inbox` only, beside one of this version. */

/** Long over by the clock of any database, as another is not yet. */
const AT = Date.parse('2020-11-21T13:15:00.000Z')
const NEVER = Date.parse('2999-01-01T00:00:00.000Z')
const LATER = AT + 60_000
const ids = createIds({ now: () => AT })
const KEY = JSON.stringify(['cash-in', 'CashIn', 'tx', 'CONFIRMED', 'E1', ''])

function event(content: string, given: { endpoint?: string; dedupeKey?: string } = {}): NewEvent {
  const { endpoint = 'cash-in', dedupeKey = KEY } = given
  const callback = { id: ids.uuid(), endpoint, body: Buffer.from(content), isProven: true }
  return { callback, ordinal: 0, dedupeKey, contentHash: sha256(content) }
}

function became({ callback, ordinal }: NewEvent, given: Partial<InboxResult> = {}): InboxResult {
  const done = { state: 'DONE', outcome: 'APPLIED', operationId: null, failures: 3, parkings: 4, dueAt: null } as const
  return { inboxId: callback.id, ordinal, ...done, ...given }
}

async function inboxOf(t: TestContext) {
  const { database } = await testDatabase(t)
  return { database, store: createInboxStore(database) }
}

async function assertSame(database: Database, id: string, expected: object): Promise<void> {
  const sides = await bothSides(database, id)
  assert.deepEqual(sides?.event, sides?.before)
  assert.partialDeepStrictEqual(sides?.event, expected)
}

test('[DB-11] [EV-46] [EV-8] an event is stored once, whichever version it reaches, and however often', async (t) => {
  const { database, store } = await inboxOf(t)
  const [one, again] = [event('paid'), event('paid')]
  await store.insert([one], AT, AT)
  assert.equal(await insertAsBefore(database, again), 0)
  assert.equal(await insertAsBefore(database, again, { state: 'CONFLICT' }), 0, 'nor is a repeat a contradiction')
  const other = JSON.stringify(['cash-in', 'CashIn', 'tx2', 'CONFIRMED', 'E2', ''])
  const [theirs, ours] = [event('paid', { dedupeKey: other }), event('paid', { dedupeKey: other })]
  assert.equal(await insertAsBefore(database, theirs), 1)
  assert.deepEqual(await store.insert([ours], AT, AT), [])
  assert.deepEqual((await store.hashes([other])).get(other), theirs.contentHash)
})

test('[DB-11] [EV-46] what either version has claimed, parked and marked the other sees', async (t) => {
  const { database, store } = await inboxOf(t)
  const theirs = event('paid')
  const { id } = theirs.callback
  await insertAsBefore(database, theirs, { dueAt: AT })
  await assertSame(database, id, { key: KEY, state: 'NEW', isDue: true, isDone: false })
  const [claimed] = await store.claim(AT, LATER, 10)
  assert.deepEqual(claimed?.callback, theirs.callback)
  assert.deepEqual(await claimAsBefore(database, AT, LATER), [], 'it is held')
  await store.mark([became(theirs, { state: 'PARKED', outcome: 'too early', dueAt: AT })], AT)
  await assertSame(database, id, { state: 'PARKED', outcome: 'too early', failures: 3, parkings: 4, isDue: true })
  assert.deepEqual(await claimAsBefore(database, AT, LATER), [id])
  assert.deepEqual(await store.claim(AT, LATER, 10), [], 'it is held')
  await markAsBefore(database, id, 'DONE', { outcome: 'APPLIED' })
  await assertSame(database, id, { state: 'DONE', outcome: 'APPLIED', failures: 1, isDue: false, isDone: true })
})

test('[DB-11] [EV-46] [EV-31] what either version sets aside gives up its key on both sides', async (t) => {
  const { database, store } = await inboxOf(t)
  const [theirs, ours] = [event('first'), event('second')]
  await insertAsBefore(database, theirs)
  await store.mark([became(theirs, { state: 'QUARANTINED' })], AT)
  await assertSame(database, theirs.callback.id, {
    key: JSON.stringify(['set aside', theirs.callback.id, KEY]).replaceAll(',"', ', "'),
  })
  assert.deepEqual(await store.insert([ours], AT, AT), [ours])
})

test('[DB-11] [EV-46] [EV-3] the version before takes over pending events, and those that a dead process of this version had claimed', async (t) => {
  const { database, store } = await inboxOf(t)
  const [dead, held, parked] = ['dead', 'held', 'parked'].map((name) => event(name, { dedupeKey: `["${name}"]` }))
  assert.ok(dead && held && parked)
  await store.insert([dead], AT, AT)
  await store.insert([held], AT, NEVER)
  await store.insert([parked], AT, AT)
  await store.mark([became(parked, { state: 'PARKED', outcome: 'too early', dueAt: NEVER })], AT)
  assert.deepEqual(await claimAsBefore(database, AT, NEVER), [dead.callback.id])
  assert.deepEqual(await store.claim(AT, LATER, 10), [], 'nobody else has it')
  const before = async ({ callback }: NewEvent) => (await bothSides(database, callback.id))?.before.state
  assert.deepEqual([await before(held), await before(parked)], [null, 'PARKED'])
  await markAsBefore(database, dead.callback.id, 'DONE')
  await assertSame(database, dead.callback.id, { state: 'DONE', outcome: 'over', isDone: true })
})

test('[DB-11] [EV-46] what the version before could not read, it never gets', async (t) => {
  const { database, store } = await inboxOf(t)
  const another = event('of another bank', { endpoint: 'another bank' })
  const second = { ...event('two'), ordinal: 1, dedupeKey: '["second"]' }
  await store.insert([another, second], AT, AT)
  assert.deepEqual(await claimAsBefore(database, AT, LATER), [])
  assert.equal((await store.claim(AT, LATER, 10)).length, 2)
})

test('[DB-11] [EV-46] [EV-8b] what contradicts an event of this version waits for it at the version before', async (t) => {
  const { database, store } = await inboxOf(t)
  const [original, other] = [event('paid'), event('paid otherwise')]
  await store.insert([original], AT, LATER)
  assert.equal(await insertAsBefore(database, other), 0)
  assert.equal(await insertAsBefore(database, other, { state: 'CONFLICT' }), 1)
  assert.equal(await isOriginalDoneAsBefore(database, KEY), false)
  await store.mark([became(original)], AT)
  assert.equal(await isOriginalDoneAsBefore(database, KEY), true)
  assert.deepEqual(await store.insert([event('paid')], AT, AT), [])
})

test('[DB-11] [EV-46] an event that the other version has locked is left alone, and nobody waits', async (t) => {
  const { database, store } = await inboxOf(t)
  const theirs = event('paid')
  const { id } = theirs.callback
  await insertAsBefore(database, theirs, { dueAt: AT })
  const hold = (table: string, column: string) => ({
    name: `test.hold_${table}`,
    text: `SELECT 1 FROM ${table} WHERE ${column} = '${id}' FOR UPDATE`,
  })
  await database.transaction(async (queries) => {
    await queries.rows(hold('inbox', 'id'), [])
    assert.deepEqual(await store.claim(AT, LATER, 10), [])
    await store.mark([became(theirs)], AT)
  })
  await database.transaction(async (queries) => {
    await queries.rows(hold('inbox_event', 'inbox_id'), [])
    assert.deepEqual(await claimAsBefore(database, AT, LATER), [])
    await markAsBefore(database, id, 'DONE')
  })
  await assertSame(database, id, { state: 'NEW', isDue: true, isDone: false })
})
