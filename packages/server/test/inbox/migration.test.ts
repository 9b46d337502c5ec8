import assert from 'node:assert/strict'
import test from 'node:test'
import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import { createInboxStore } from '../../src/inbox/store.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { administer, openTestDatabase } from '../support/database.ts'
import { firstEvents, inboxAsBefore } from '../support/inbox-before.ts'
import { databaseAt } from '../support/migrations.ts'

/** An inbox in which each row was one event, in every state that one can have. */

const AT = Date.parse('2026-11-21T13:15:00.000Z')

/** How each event came to be where it is, as the version before says it. */
const STATES: Readonly<Record<string, string>> = {
  held: `due_at = '2026-11-22T00:00:00Z'`,
  lapsed: `due_at = '2026-11-21T13:00:00Z'`,
  failing: `due_at = '2026-11-21T13:00:00Z', outcome = 'WAITING', attempts = 4, failures = 3`,
  parked: `state = 'PARKED', outcome = 'too early', attempts = 3, parkings = 2, due_at = '2026-11-21T13:00:01Z'`,
  applied: `state = 'DONE', outcome = 'APPLIED', operation_id = gen_random_uuid(), due_at = NULL, processed_at = now()`,
  quarantined: `state = 'QUARANTINED', outcome = 'occurredAt lies in the future', due_at = NULL, processed_at = now()`,
  given_up: `state = 'PARKED', outcome = 'CASE_OPENED', parkings = 6, due_at = NULL, processed_at = now()`,
}

function stored(name: string, key: string, state = 'NEW'): string {
  const body = JSON.stringify({ event: 'CashIn', eventId: name, transactionId: name, status: 'CONFIRMED' })
  const hash = sha256(name + state).toString('hex')
  return `INSERT INTO inbox (id, endpoint, dedupe_key, body, body_hash, state, received_at, due_at)
          VALUES (gen_random_uuid(), 'cash-in', '${key}', '${body}', '\\x${hash}', '${state}', now(), now())`
}

test('[DB-11] [EV-46] events of the version before become the first of their callbacks, and keep every byte', async (t) => {
  const url = await databaseAt(t, 6)
  for (const [name, set] of Object.entries(STATES)) {
    await administer(url, stored(name, `["cash-in","CashIn","${name}"]`))
    await administer(url, `UPDATE inbox SET ${set} WHERE dedupe_key LIKE '%"${name}"%'`)
  }
  await administer(url, stored('applied', '["cash-in","CashIn","applied"]', 'CONFLICT'))
  const database = openTestDatabase(url)
  t.after(() => database.close())
  const before = await inboxAsBefore(database)
  assert.equal(before.length, 8)

  assert.deepEqual((await migrate(url, [cashIn, cashOut, refundIn, adjustment])).slice(0, 1), ['0007-inbox-event.sql'])
  assert.deepEqual(await inboxAsBefore(database), before)
  assert.deepEqual(await firstEvents(database), before)

  const store = createInboxStore(database)
  const due = await store.claim(AT, AT + 60_000, 10)
  assert.deepEqual(due.map(({ callback }) => JSON.parse(String(callback.body)).eventId).sort(), [
    'failing',
    'lapsed',
    'parked',
  ])
  const callback = {
    id: '0198c0de-7a11-7000-8000-000000000001',
    endpoint: 'cash-in',
    body: Buffer.of(),
    isProven: true,
  }
  const again = (name: string) => ({
    callback,
    ordinal: 0,
    dedupeKey: `["cash-in","CashIn","${name}"]`,
    contentHash: Buffer.of(),
  })
  assert.deepEqual(await store.insert([again('applied')], AT, AT), [], 'what was applied is so for ever')
  assert.equal((await store.insert([again('quarantined')], AT, AT)).length, 1, 'what was set aside is looked at again')
})
