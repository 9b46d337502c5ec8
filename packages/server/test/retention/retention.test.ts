import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import type { Bank } from '../../src/banks/bank.ts'
import { createCashOutCommands } from '../../src/cash-out/commands.ts'
import { readConfig } from '../../src/config.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { APPLICATION_ROLE } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { Stop } from '../../src/process.ts'
import { createErasing, type KeptDays } from '../../src/retention/retention.ts'
import { start } from '../../src/start.ts'
import { aged } from '../support/aging.ts'
import { assertBooks, balances } from '../support/books.ts'
import { capturedLog } from '../support/captured-log.ts'
import { administer, openTestDatabase } from '../support/database.ts'
import { TERMS, testEngine } from '../support/engine.ts'
import { callbacks, caseFacts, cases, deliveryStates, inbox } from '../support/evidence.ts'
import { columnsWith } from '../support/kept-text.ts'
import { limitsOf } from '../support/limits.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { until } from '../support/until.ts'
import { ENVIRONMENT, type World, world } from '../support/world.ts'

const KEPT: KeptDays = { callbacks: 180, notifications: 90, deliveries: 180, ended_operations: 180 }

const NAME = 'Canário da Terra'
const DOCUMENT = '11144477735'
const PAYER = { name: NAME, document: DOCUMENT }

/** Erases all that is over, as the worker does. @returns how many rows of each */
async function erased(pix: Pick<World, 'database'>, keptDays: KeptDays = KEPT): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const onErased = (what: string, rows: number) => {
    counts[what] = (counts[what] ?? 0) + rows
  }
  const step = createErasing({ ...pix, logger: capturedLog().logger, keptDays, observer: { onErased } })
  while (await step());
  return counts
}

/** A charge that NAME paid, as an event told. */
async function paidByCanary(pix: World) {
  const charge = await pix.charge('10.00', { externalId: 'paid' })
  const externalId = await pix.orderIdOf(charge.id)
  const event = {
    ...paidEvent(charge, { payer: PAYER, externalId }),
    occurredAt: new Date(pix.clock.now()).toISOString(),
  }
  assert.equal(await postEvent(pix, event), 200)
  await pix.until(`/api/pix/cash-in/${charge.id}`, ({ status }) => status === 'PAID')
  return { charge, event }
}

test('[privacy.1] of a callback only what it tells of money outlives its time, and the books are as right as before', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const { event } = await paidByCanary(pix)
  assert.equal(await postEvent(pix, `${NAME} is no JSON`), 200)
  await pix.work()
  await administer(pix.databaseUrl, `UPDATE "case" SET closed_at = now()`)
  await aged(pix.databaseUrl, 179)
  assert.deepEqual(await erased(pix), {})
  assert.ok((await columnsWith(pix.databaseUrl, NAME)).includes('inbox.body'))

  await aged(pix.databaseUrl, 1)
  assert.equal((await erased(pix)).callbacks, 2)
  assert.ok(!(await columnsWith(pix.databaseUrl, NAME)).includes('inbox.body'))
  const [paid, unreadable] = await callbacks(pix.database)
  const { payer: _, eventId, ...money } = event as Record<string, unknown>
  const { eventId: __, ...kept } = JSON.parse(String(paid?.body))
  assert.deepEqual(kept, Object.fromEntries(Object.entries(money).filter(([, value]) => value != null)))
  assert.equal(String(unreadable?.body), '')
  await assertBooks(pix.database)

  // The same event again is nothing; the same with another amount is still a contradiction; money that goes back is booked.
  assert.equal(await postEvent(pix, event), 200)
  assert.equal((await inbox(pix.database)).length, 2)
  assert.equal(await postEvent(pix, { ...event, valueCents: 1 }), 200)
  await pix.later(2_000)
  assert.ok((await cases(pix.database)).includes('bank_contradicts'))
})

test('[privacy.1] the hash of what had come stays', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await paidByCanary(pix)
  const [before] = await callbacks(pix.database)
  await aged(pix.databaseUrl, 200)
  await erased(pix)
  const [after] = await callbacks(pix.database)
  assert.deepEqual(
    after?.hash,
    createHash('sha256')
      .update(before?.body ?? '')
      .digest(),
  )
})

test('[privacy.1] a callback stays whole while one of its events waits, or a case is open for which it may be read', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const nobody = { id: '0198c0de-7a11-7000-8000-000000000001', valueCents: 1_000, providerTransactionId: 'nobody' }
  const occurredAt = new Date(pix.clock.now()).toISOString()
  assert.equal(await postEvent(pix, paidEvent(nobody, { occurredAt, payer: PAYER })), 200)
  assert.equal(await postEvent(pix, `{"payer": "${NAME}"}`), 200)
  const { charge } = await paidByCanary(pix)
  assert.equal(
    await postEvent(pix, paidEvent({ ...charge, valueCents: 500 }, { occurredAt, endToEndId: 'E2', payer: PAYER })),
    200,
  )
  await pix.work()
  assert.deepEqual((await cases(pix.database)).sort(), ['event_set_aside', 'payment_in_suspense'])
  await aged(pix.databaseUrl, 400)
  assert.equal((await erased(pix)).callbacks, undefined)

  // What was parked is given up, which is another case; one by one they are closed.
  for (let waits = 0; waits < 8; waits += 1) await pix.later(1_000_000)
  assert.ok((await cases(pix.database)).includes('event_set_aside'))
  assert.equal((await erased(pix)).callbacks, undefined)
  await administer(pix.databaseUrl, `UPDATE "case" SET closed_at = now() WHERE operation_id IS NULL`)
  assert.equal((await erased(pix)).callbacks, 2)
  await administer(pix.databaseUrl, `UPDATE "case" SET closed_at = now()`)
  assert.equal((await erased(pix)).callbacks, 2)
})

test('[privacy.2] what receivers were sent goes when every delivery of it ended long ago; the notification stays', async (t) => {
  const pix = await world(t, {}, {})
  await pix.bankAction(`charges/${(await pix.charge('10.00', { externalId: 'n' })).id}/pay`, { payerName: NAME })
  await pix.receiver.arrived(1)
  const columns = () => columnsWith(pix.databaseUrl, NAME)
  await until(async () => (await deliveryStates(pix.database)).join() === 'DELIVERED')
  await aged(pix.databaseUrl, 100)
  await administer(
    pix.databaseUrl,
    `UPDATE delivery SET state = 'PENDING', delivered_at = NULL, finished_at = NULL, due_at = 'infinity'`,
  )
  assert.equal((await erased(pix)).notifications, undefined)
  await administer(pix.databaseUrl, `UPDATE delivery SET state = 'FAILED', finished_at = now(), due_at = NULL`)
  assert.equal((await erased(pix)).notifications, undefined)
  assert.ok((await columns()).includes('notification.body'))
  await administer(pix.databaseUrl, `UPDATE delivery SET finished_at = now() - interval '91 days'`)
  assert.equal((await erased(pix)).notifications, 1)
  assert.ok(!(await columns()).includes('notification.body'))
  await assertBooks(pix.database)
})

test('[privacy.2] [webhooks.17] how receivers answered goes with what they were sent, and nothing else of an attempt', async (t) => {
  const pix = await world(t, {}, {})
  await pix.bankAction(`charges/${(await pix.charge('10.00', { externalId: 'n' })).id}/pay`)
  await until(async () => (await deliveryStates(pix.database)).join() === 'DELIVERED')
  const attempt = async () => {
    const text = 'SELECT to_jsonb(a) AS row FROM delivery_attempt a'
    return (await pix.database.rows<[], { row: { excerpt: string | null } }>({ name: 'test.attempt', text }, []))[0]
      ?.row
  }
  const answered = `SET session_replication_role = replica; UPDATE delivery_attempt SET excerpt = 'got it'`
  await administer(pix.databaseUrl, answered)
  const erase = `SET pixgate.erases = 'yes'; UPDATE delivery_attempt SET`
  await assert.rejects(administer(pix.databaseUrl, `${erase} excerpt = NULL`), /append-only/, 'not before its time')
  await aged(pix.databaseUrl, 91)
  await assert.rejects(administer(pix.databaseUrl, `${erase} excerpt = NULL, outcome = 'dns'`), /append-only/)
  await assert.rejects(administer(pix.databaseUrl, `${erase} excerpt = 'other'`), /append-only/)
  const before = await attempt()
  assert.equal(before?.excerpt, 'got it')

  await administer(
    pix.databaseUrl,
    `SET session_replication_role = replica; UPDATE delivery_attempt SET ended_at = now()`,
  )
  assert.equal((await erased(pix)).notifications, undefined, 'it was sent again lately')
  await administer(
    pix.databaseUrl,
    `SET session_replication_role = replica; UPDATE delivery_attempt SET ended_at = started_at`,
  )
  assert.equal((await erased(pix)).notifications, 1)
  assert.deepEqual({ ...(await attempt()), ended_at: 0 }, { ...before, excerpt: null, ended_at: 0 })
})

test('[privacy.2] a notification that is not fanned out yet is not over, however old it is', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await paidByCanary(pix)
  await aged(pix.databaseUrl, 400)
  assert.equal((await erased(pix)).notifications, undefined)
})

/** One of every end without money, with NAME in all that may hold it. @returns what shows each */
async function failedOperations(pix: World): Promise<string[]> {
  const payer = { fullName: NAME, document: DOCUMENT }
  const request = (externalId: string, more = {}) =>
    pix.call('POST', '/api/pix/cash-in', {
      transaction: { value: 10, externalId, description: `De ${NAME}`, ...more },
      payer,
    })
  await pix.balance(10_000)
  const { body: failing } = await request('charge-failed')
  await pix.bankAction(`charges/${failing.id}/fail`)
  const { body: expiring } = await request('charge-expired', { expirationTime: 60 })
  await pix.behave({ cashOut: 'manual', refundIn: 'manual' })
  const recipient = { pixKey: DOCUMENT, pixKeyType: 'cpf', name: NAME, document: DOCUMENT }
  const payout = await pix.cashOut({ description: `Para ${NAME}`, externalId: 'payout-failed' }, recipient)
  await pix.work()
  await pix.bankAction(`payouts/${payout.id}/fail`)
  const { body: cashIns } = await pix.call('GET', '/api/pix/cash-in?status=PAID')
  const refund = await pix.refundIn(cashIns.data[0].id, 1, { reason: `A ${NAME}` })
  await pix.work()
  await pix.bankAction(`refunds/${refund.id}/fail`)
  await postEvent(
    pix,
    {
      event: 'CashOut',
      eventId: 'f',
      transactionId: 't',
      externalId: payout.id,
      status: 'FAILED',
      endToEndId: null,
      valueCents: 3_000,
      errorCode: 'AC07',
      errorMessage: `${NAME} closed the account`,
      occurredAt: new Date(pix.clock.now()).toISOString(),
    },
    { endpoint: 'cash-out' },
  )
  for (let turns = 0; turns < 5; turns += 1) await pix.later(120_000)
  const paths = [
    [`/api/pix/cash-in/${failing.id}`, 'FAILED'],
    [`/api/pix/cash-in/${expiring.id}`, 'EXPIRED'],
    [`/api/pix/cash-out/${payout.id}`, 'FAILED'],
    [`/api/pix/refund/${refund.id}`, 'FAILED'],
  ] as const
  for (const [path, status] of paths) assert.equal((await pix.get(path)).status, status, path)
  return paths.map(([path]) => path)
}

/** Of what is shown: what goes, and the times that {@link aged} moved. */
const ERASED_OR_AGED = new Set([
  ...['payer', 'description', 'recipient', 'reason', 'failureReason'],
  ...['createdAt', 'updatedAt', 'generateTime', 'expirationDate', 'dispatchedAt'],
])

test('[privacy.3] of what ended without money, what a person is known by goes; amounts, ids, states and times stay', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const paths = await failedOperations(pix)
  const before = await Promise.all(paths.map((path) => pix.get(path)))
  assert.ok(JSON.stringify(before).includes(NAME))
  const held = () =>
    columnsWith(pix.databaseUrl, NAME, DOCUMENT, 'closed').then((all) => all.filter((it) => !it.startsWith('inbox')))
  assert.ok((await held()).includes('operation.detail') && (await held()).includes('move.facts'), String(await held()))
  assert.ok((await held()).includes('notification.body'), 'the bank’s words about a failure')
  // No endpoint is registered: nothing is left to be sent.
  await administer(
    pix.databaseUrl,
    'SET session_replication_role = replica; UPDATE notification SET fanned_out_at = created_at',
  )
  await aged(pix.databaseUrl, 179)
  assert.deepEqual((await erased(pix)).ended_operations, undefined)
  await aged(pix.databaseUrl, 2)
  assert.equal((await erased(pix)).ended_operations, 4)
  assert.deepEqual(await held(), [])
  await assertBooks(pix.database)

  const after = await Promise.all(paths.map((path) => pix.get(path)))
  const [failed, expired, payout, refund] = after
  assert.deepEqual([failed.payer, expired.payer, failed.description], [null, null, null])
  assert.deepEqual(payout.recipient, { name: null, pixKey: '***', pixKeyType: 'cpf', document: null, ispb: null })
  assert.equal(refund.reason, null)
  const rest = (shown: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(shown).filter(([field]) => !ERASED_OR_AGED.has(field)))
  assert.deepEqual(after.map(rest), before.map(rest))
})

test('[privacy.6] an operation that was erased answers retries, is not found to differ, and learns of money as before', async (t) => {
  const asked: (string | undefined)[] = []
  const bank = (simulated: Bank): Bank => ({
    ...simulated,
    getPayout: (id, terms, ...more) => {
      asked.push(terms.pixKey)
      return simulated.getPayout(id, terms, ...more)
    },
  })
  const pix = await world(t, {}, { isStepped: true, bank })
  const [, expired = '', payout = ''] = await failedOperations(pix)
  await aged(pix.databaseUrl, 200)
  await erased(pix)
  const again = await pix.call('POST', '/api/pix/cash-out', {
    transaction: { value: 30, externalId: 'payout-failed', description: `Para ${NAME}` },
    recipient: { pixKey: DOCUMENT, pixKeyType: 'cpf', name: NAME, document: DOCUMENT },
  })
  assert.equal(again.status, 409)
  assert.equal(again.body.existing.samePayload, true)

  // The bank, asked about it, has the key that is gone here: that is no contradiction. Another process asks for the question,
  // so that this one reads the payout anew.
  asked.length = 0
  const terms = { ...TERMS, limits: limitsOf(), approvalFromCents: null }
  const elsewhere = createCashOutCommands(testEngine(t, pix.databaseUrl).engine, terms)
  await elsewhere.apply(payout.split('/').at(-1) ?? '', [{ on: 'work.requested' }])
  for (let turns = 0; turns < 3; turns += 1) await pix.later(20_000)
  assert.deepEqual([(await pix.get(payout)).status, asked[0], asked.length > 0], ['FAILED', undefined, true])
  assert.deepEqual(await cases(pix.database), [])

  const charge = await pix.get(expired)
  const paid = paidEvent({ ...charge, providerTransactionId: charge.transactionId }, { payer: PAYER, endToEndId: 'E9' })
  assert.equal(await postEvent(pix, { ...paid, occurredAt: new Date(pix.clock.now()).toISOString() }), 200)
  await pix.until(expired, ({ status }) => status === 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense'])
  assert.equal((await balances(pix.database)).suspense_in, 1_000n)
  await assertBooks(pix.database)
})

test('[privacy.6] what moved after it was erased is looked at again; what an operator has to read is not erased', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const [failed = ''] = await failedOperations(pix)
  await aged(pix.databaseUrl, 200)
  assert.equal((await erased(pix)).ended_operations, 4)
  // A process that still had the facts in memory writes them back with its next move.
  const id = failed.split('/').at(-1)
  await administer(
    pix.databaseUrl,
    `SET session_replication_role = DEFAULT;
     UPDATE operation SET version = version + 1, facts = facts || '{"failureReason": "${NAME}"}' WHERE id = '${id}';
     INSERT INTO "case" (id, operation_id, kind, reference, facts, opened_at)
     VALUES (gen_random_uuid(), '${id}', 'x', 'x', '{"errorMessage": "${NAME}"}', now())`,
  )
  assert.equal((await erased(pix)).ended_operations, undefined)
  await administer(pix.databaseUrl, `UPDATE "case" SET closed_at = now()`)
  assert.equal((await erased(pix)).ended_operations, 1)
  assert.deepEqual(await caseFacts(pix.database, 'x'), [{ errorMessage: null }])
})

test('[privacy.4] nothing is erased before its floor, whatever is asked for, and nothing else, by anybody', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await paidByCanary(pix)
  await failedOperations(pix)
  await aged(pix.databaseUrl, 119)
  assert.deepEqual(await erased(pix, { callbacks: -1, notifications: 0, deliveries: 0, ended_operations: 0 }), {})
  const columns = await columnsWith(pix.databaseUrl, NAME)
  const set = `SET pixgate.erases = 'yes'; `
  const kept = [
    `UPDATE inbox SET body = ''`,
    `UPDATE inbox SET body = money_told(inbox), body_sha256 = sha256(body), erased_at = now()`,
    `UPDATE move SET facts = without_persons(facts)`,
    `UPDATE move SET facts = '{}'`,
    `UPDATE move SET at = now()`,
  ]
  for (const sql of kept) {
    await assert.rejects(administer(pix.databaseUrl, sql), /never changed|append-only/, sql)
    await assert.rejects(administer(pix.databaseUrl, set + sql), /never changed|append-only/, set + sql)
  }
  await aged(pix.databaseUrl, 400)
  for (const sql of [kept[0], kept[3], kept[4], `UPDATE inbox SET body = '{}', body_sha256 = '', erased_at = now()`]) {
    await assert.rejects(administer(pix.databaseUrl, set + sql), /never changed|append-only/, sql)
  }
  const role = `SET ROLE ${APPLICATION_ROLE}; `
  for (const sql of [`UPDATE operation SET detail = '{}'`, `UPDATE notification SET body = ''`, ...kept]) {
    await assert.rejects(administer(pix.databaseUrl, role + sql), /permission denied/, sql)
  }
  assert.deepEqual(await columnsWith(pix.databaseUrl, NAME), columns)
})

test('[privacy.5] batches end somewhere, and whoever comes next goes on there; several at once share', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const { charge } = await paidByCanary(pix)
  await administer(
    pix.databaseUrl,
    `INSERT INTO inbox (id, endpoint, body, received_at)
       SELECT gen_random_uuid(), 'cash-in', convert_to('{"payer":"${NAME}"}', 'UTF8'), now() FROM generate_series(1, 450);
     INSERT INTO inbox_event (inbox_id, ordinal, dedupe_key, content_hash, state, operation_id, processed_at)
       SELECT id, 0, id::text, '', 'DONE', '${charge.id}', now() FROM inbox WHERE body <> '' AND endpoint = 'cash-in'
          AND id NOT IN (SELECT inbox_id FROM inbox_event)`,
  )
  await aged(pix.databaseUrl, 200)
  const log = capturedLog()
  const counts: number[] = []
  const onErased = (what: string, rows: number) => void (what === 'callbacks' && counts.push(rows))
  const other = openTestDatabase(pix.databaseUrl)
  t.after(() => other.close())
  const [one, two] = [pix.database, other].map((database) =>
    createErasing({ database, logger: log.logger, keptDays: KEPT, observer: { onErased } }),
  )
  assert.equal(await one?.(), true)
  assert.deepEqual(counts, [200])
  assert.deepEqual(
    log.lines.map(({ time: _, msg: __, ...line }) => line),
    [{ level: 'info', what: 'callbacks', rows: 200, days: 180 }],
  )
  await Promise.all([one?.(), two?.()])
  while ((await one?.()) || (await two?.()));
  assert.equal(
    counts.reduce((sum, rows) => sum + rows, 0),
    451,
  )
  assert.ok(!(await columnsWith(pix.databaseUrl, NAME)).includes('inbox.body'))
})

test('[privacy.5] a process that starts erases what is over its time, for as long as it is configured', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await failedOperations(pix)
  await aged(pix.databaseUrl, 130)
  const log = capturedLog()
  const stops: Stop[] = []
  t.after(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  const config = readConfig({
    ...ENVIRONMENT,
    DATABASE_URL: pix.databaseUrl,
    PORT: '0',
    PIXGATE_PARTNER_URL: 'http://127.0.0.1:9',
    PIXGATE_KEEP_PERSONAL_DATA_DAYS: '120',
  })
  const given = { clock: createDatabaseClock(), logger: log.logger, pause: realPause, random: Math.random }
  await start('worker', config, given, stops)
  const { rows, days } = await log.line('personal data erased', { what: 'ended_operations' })
  assert.deepEqual([rows, days], [4, 120])
})
