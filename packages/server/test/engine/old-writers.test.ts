import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import { type Database, statement } from '../../src/platform/db/database.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { assertBooks, balances } from '../support/books.ts'
import { administer, openTestDatabase, testDatabase } from '../support/database.ts'
import { cashInRequest, payment, testEngine } from '../support/engine.ts'
import { databaseAt } from '../support/migrations.ts'
import { payAsBefore } from '../support/writer-before.ts'

/** Processes that know no movements, beside and before those that do. */

const MOVEMENTS = statement<[], { id: string; operation_id: string }>(
  'test.movements_by_id',
  'SELECT id, operation_id FROM movement ORDER BY id',
)
const CASES = statement<[], { operation_id: string; kind: string; reference: string; facts: object }>(
  'test.open_cases',
  'SELECT operation_id, kind, reference, facts FROM "case" WHERE closed_at IS NULL ORDER BY reference',
)

const OLD = '0198c0de-7a11-7000-8000-000000000001'
const ALSO_OLD = '0198c0de-7a11-7000-8000-000000000002'

const movements = async (database: Database) =>
  (await database.rows(MOVEMENTS, [])).map(({ id, operation_id }) => [id, operation_id])

/** A process of this version with a charge that can be paid. */
async function charge(t: TestContext) {
  const { url, database } = await testDatabase(t)
  const one = testEngine(t, url)
  const id = one.ids.uuid()
  await one.cashIns.create(cashInRequest({ id, externalId: 'a' }))
  const pay = (endToEndId: string) =>
    one.cashIns.apply(id, { on: 'partner.confirmed', payment: payment({ endToEndId }), transactionId: 'tx' })
  return { url, database, id, pay }
}

test('[DB-40] what a process of before has booked is not credited again, for whatever operation it is reported', async (t) => {
  const { url, database, id, pay } = await charge(t)
  await payAsBefore(url, OLD, 'E1')
  assert.deepEqual(await movements(database), [['E1', OLD]])
  const reported = await pay('E1')
  assert.equal(reported?.cashIn.status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await balances(database), { available: 100_00n, settlement: -200_00n, suspense_in: 100_00n })
  assert.deepEqual(
    (await database.rows(CASES, [])).map(({ kind, operation_id }) => [kind, operation_id]),
    [['movement_elsewhere', id]],
  )
})

test('[DB-40] what a process of before books again stands, as it knows no better, and is a case', async (t) => {
  const { url, database, id, pay } = await charge(t)
  await pay('E1')
  await payAsBefore(url, OLD, 'E1')
  assert.deepEqual(await movements(database), [['E1', id]])
  const facts = { direction: 'in', valueCents: 10_000, journal: 'cash_in_paid', bookedOn: id }
  assert.deepEqual(await database.rows(CASES, []), [
    { operation_id: OLD, kind: 'movement_elsewhere', reference: 'E1', facts },
  ])
})

test('[DB-40] what was booked without a movement between the migrations is found; what was booked twice is a case', async (t) => {
  const url = await databaseAt(t, 5)
  await payAsBefore(url, OLD, 'E1')
  await payAsBefore(url, ALSO_OLD, 'E1')
  await payAsBefore(url, ALSO_OLD, 'E2')
  assert.deepEqual((await migrate(url, [cashIn, cashOut, refundIn, adjustment])).slice(0, 1), ['0006-old-writers.sql'])
  const database = openTestDatabase(url)
  t.after(() => database.close())
  assert.deepEqual(await movements(database), [
    ['E1', OLD],
    ['E2', ALSO_OLD],
  ])
  assert.deepEqual(
    (await database.rows(CASES, [])).map(({ operation_id, reference }) => [operation_id, reference]),
    [[ALSO_OLD, 'E1']],
  )
})

const COUNTING = `
  CREATE SEQUENCE fired;
  GRANT USAGE ON fired TO pixgate_app;
  CREATE OR REPLACE FUNCTION note_movements_of_old_writer() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM nextval('fired');
    PERFORM note_movements(ARRAY(SELECT version FROM added WHERE account_id = 3));
    RETURN NULL;
  END $$`

const FIRED = statement<[], { fired: boolean }>('test.fired', 'SELECT is_called AS fired FROM fired')

for (const isLost of [false, true]) {
  const title = isLost
    ? '[DB-40] [engine.14] a process of this version whose setting was lost on the way books as ever: the database finds it noted'
    : '[DB-40] a process of this version notes its movements itself, and the database asks no further'
  test(title, async (t) => {
    const { url, database, id, pay } = await charge(t)
    await administer(url, `${COUNTING}; GRANT SELECT ON fired TO pixgate_app`)
    // Sessions cannot be told to forget it: the trigger is told not to look.
    if (isLost) {
      await administer(
        url,
        `DROP TRIGGER movements_noted ON entry;
         CREATE TRIGGER movements_noted AFTER INSERT ON entry REFERENCING NEW TABLE AS added
           FOR EACH STATEMENT EXECUTE FUNCTION note_movements_of_old_writer()`,
      )
    }
    const other = testEngine(t, url)
    const another = other.ids.uuid()
    await other.cashIns.create(cashInRequest({ id: another, externalId: 'b' }))
    const reported = { on: 'partner.confirmed', payment: payment({ endToEndId: 'E1' }), transactionId: 'tx' } as const
    await pay('E1')
    await other.cashIns.apply(another, reported)
    await pay('E2')
    assert.deepEqual(await movements(database), [
      ['E1', id],
      ['E2', id],
    ])
    assert.deepEqual(
      (await database.rows(CASES, [])).map(({ kind, operation_id }) => [kind, operation_id]),
      [
        ['movement_elsewhere', another],
        ['second_payment', id],
      ],
    )
    assert.deepEqual(await database.rows(FIRED, []), [{ fired: isLost }])
    await assertBooks(database)
  })
}

const DAY_MS = 86_400_000

/** Makes the operation that is there once more as a process does that knows no day that begins at noon. */
function createAsBefore(url: string, seconds: number): Promise<void> {
  return administer(
    url,
    `INSERT INTO operation (id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash,
                            idempotency_key, idempotency_day, detail, facts, created_at, updated_at)
     SELECT gen_random_uuid(), kind, 'old ${seconds}', status, version, value_cents, fee_cents, correlation_id, body_hash,
            idempotency_key, floor(extract(epoch FROM created_at + interval '${seconds} s') / 86400), detail, facts,
            created_at + interval '${seconds} s', updated_at
       FROM operation WHERE external_id = 'new'`,
  )
}

test('[DB-41] [idempotency.1] one key at both versions at the same moment around midnight UTC is used once', async (t) => {
  const { url } = await testDatabase(t)
  const one = testEngine(t, url)
  await one.engine.execute({ reads: [], decide: () => ({ outcome: 0 }) })
  one.clock.observe(Math.ceil(one.clock.now() / DAY_MS) * DAY_MS - 1_000)
  await one.cashIns.create(cashInRequest({ id: one.ids.uuid(), externalId: 'new', idempotencyKey: 'key' }))
  await assert.rejects(createAsBefore(url, 2), /operation_idempotency_key_noon/)
  await createAsBefore(url, 86_402)
})

test('[engine.21] accounts that a later version has added are nothing to a process of this one', async (t) => {
  const { url, database, pay } = await charge(t)
  await administer(url, "INSERT INTO account (id, code) VALUES (99, 'of_a_later_version')")
  const later = testEngine(t, url)
  assert.ok(await later.cashIns.create(cashInRequest({ id: later.ids.uuid(), externalId: 'b' })))
  await pay('E1')
  assert.deepEqual(await balances(database), { available: 99_00n, settlement: -100_00n, fees: 1_00n })
})

/** How a process of the version before looks for a batch of which it lost the answer. */
const FIND_AS_BEFORE = statement<[batchId: string], { found: number }>(
  'test.find_as_before',
  'SELECT 1 AS found FROM move WHERE batch_id = $1 LIMIT 1',
)
const LAST_BATCH = statement<[], { batch_id: string }>(
  'test.last_batch',
  'SELECT batch_id FROM move ORDER BY at DESC LIMIT 1',
)

test('[DB-42] a process of before finds its batch among the moves, and one that never was it does not find', async (t) => {
  const { database, pay } = await charge(t)
  await pay('E1')
  const [last] = await database.rows(LAST_BATCH, [])
  assert.deepEqual(await database.rows(FIND_AS_BEFORE, [last?.batch_id ?? '']), [{ found: 1 }])
  assert.deepEqual(await database.rows(FIND_AS_BEFORE, [OLD]), [])
})
