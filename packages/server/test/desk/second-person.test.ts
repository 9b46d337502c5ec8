import assert from 'node:assert/strict'
import test from 'node:test'
import { readStoredCase } from '../../src/desk/steps/store.ts'
import { listCases } from '../../src/desk/store.ts'
import { administer, testDatabase } from '../support/database.ts'
import { openCaseIdsOf } from '../support/evidence.ts'
import { as, serverLogin } from '../support/logins.ts'
import { ADMIN_TOKEN } from '../support/world.ts'
import { sent } from './engine-fixture.ts'
import { desk } from './fixture.ts'

/** When one person is not enough, besides a large amount. */

test('[desk.39] with the default of production every decision that moves money takes a second person, however little', async (t) => {
  const pix = await desk(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const { id } = await pix.paidTwice('0.01')
  const { options } = await pix.read(`/${id}`)
  const credit = options.find(({ decision }: { decision: string }) => decision === 'credit')
  assert.equal(credit.needsSecondPerson, true)
  const token = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const alone = await pix.decide(id, 'credit', {}, token)
  assert.deepEqual([alone.status, alone.body.code], [403, 'insufficient_role'], 'the administrative token names nobody')
  const { body } = await pix.decide(id, 'credit')
  assert.deepEqual([body.outcome, body.needsSecondPerson], ['proposed', true])
  assert.equal((await pix.say(id, body.proposalId, true)).body.outcome, 'approved')
})

for (const [kind, reference, facts] of [
  ['ledger_drift', 'journal-sums x', {}],
  ['line_differs', 'balances 0198c0de-7a11-7000-8000-5f1d3c2b1a09', { firstDay: '2026-11-20', days: 2 }],
] as const) {
  test(`[desk.47] what nobody knows the amount of is not closed by one person: ${kind}`, async (t) => {
    const pix = await desk(t)
    await administer(
      pix.databaseUrl,
      `INSERT INTO "case" (id, kind, reference, facts, opened_at)
       VALUES ('0198c0f2-3f00-7000-8000-7a8b9c0d1e2f', '${kind}', '${reference}', '${JSON.stringify(facts)}', now())`,
    )
    const [{ id }] = (await pix.read(`?kind=${kind}`)).data
    const { body } = await pix.decide(id, 'close')
    assert.deepEqual([body.outcome, body.needsSecondPerson], ['proposed', true])
    assert.equal((await pix.say(id, body.proposalId, true)).body.outcome, 'approved')
  })
}

test('[desk.48] a case counts with the most that it was told to be about, while it is open and once it is opened again', async (t) => {
  const { database, decide, leave } = await sent(t)
  const found = async () => {
    const [id] = await openCaseIdsOf(database, 'bank_contradicts')
    const stored = await readStoredCase(database, id ?? '')
    return [stored?.atStakeCents, stored?.facts.valueCents]
  }
  await leave('E9', 30_00n)
  await leave('E9', 30_01n)
  assert.deepEqual(await found(), [30_01n, 30_01])
  await leave('E9', 5_000_00n)
  assert.equal((await found())[0], 5_000_00n, 'told again while it is open')
  await decide('bank_contradicts', 'close')
  await leave('E9', 9_000_00n)
  assert.deepEqual(await found(), [9_000_00n, 9_000_00], 'opened again it shows what was told last')
})

test('[desk.48] [desk.30] the list shows a case of an operation with the most that was told, and is narrowed by it', async (t) => {
  const { database, leave } = await sent(t)
  await leave('E9', 30_00n)
  await leave('E9', 30_01n)
  await leave('E9', 5_000_00n)
  await leave('E9', 40_00n)
  const kind = 'bank_contradicts'
  const none = { operationId: null, openedFrom: null, openedBefore: null, after: null, limit: 20 }
  const listed = async (minCents: number | null, maxCents: number | null) =>
    (await listCases(database, { ...none, isOpen: true, kind, minCents, maxCents })).map(
      ({ amountCents }) => amountCents,
    )
  assert.deepEqual(await listed(null, null), [5_000_00n])
  assert.deepEqual([await listed(5_000_00, null), await listed(null, 4_999_99)], [[5_000_00n], []])
})

test('[desk.48] what a case counts with is made no smaller, whoever writes it, and of what it is never changes', async (t) => {
  const { database, databaseUrl, leave } = await sent(t)
  await leave('E9', 30_00n)
  await leave('E9', 5_000_00n)
  const server = as(databaseUrl, await serverLogin(t))
  const amount = async () => {
    const [id] = await openCaseIdsOf(database, 'bank_contradicts')
    return (await readStoredCase(database, id ?? ''))?.atStakeCents
  }
  await administer(server, `UPDATE "case" SET amount_cents = 1, facts = '{"valueCents": 1}'`)
  assert.equal(await amount(), 5_000_00n)
  await administer(server, `UPDATE "case" SET amount_cents = NULL`)
  assert.equal(await amount(), 5_000_00n)
  await administer(server, `UPDATE "case" SET facts = '{"valueCents": 500001}'`)
  assert.equal(await amount(), 5_000_01n)
  for (const column of [`kind = 'x'`, `reference = 'x'`, 'operation_id = NULL', 'opened_at = now()']) {
    await assert.rejects(administer(server, `UPDATE "case" SET ${column}`), { code: '42501' }, column)
  }
})

test('[desk.48] [desk.30] what was told with a sign is the amount without it, and lists go by that', async (t) => {
  const { url, database } = await testDatabase(t)
  const opening = (reference: string) =>
    `INSERT INTO "case" (id, kind, reference, facts, amount_cents, opened_at)
     VALUES (gen_random_uuid(), 'close_differs', '${reference}', '{"valueCents": 1}', 1, now())`
  await administer(url, opening('a'))
  await administer(url, `UPDATE "case" SET facts = '{"valueCents": -3}' WHERE reference = 'a'`)
  await administer(url, opening('b'))
  await administer(url, `UPDATE "case" SET amount_cents = -4 WHERE reference = 'b'`)
  const none = { operationId: null, openedFrom: null, openedBefore: null, after: null, limit: 20 }
  const listed = async (minCents: number | null) =>
    (await listCases(database, { ...none, isOpen: true, kind: 'close_differs', minCents, maxCents: null })).map(
      ({ amountCents }) => amountCents,
    )
  assert.deepEqual(await listed(null), [3n, 4n])
  assert.deepEqual(await listed(4), [4n])
})

test('[desk.41] whom the proposer made, or somebody they made, approves nothing of theirs, and of others what they will', async (t) => {
  const pix = await desk(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' })
  const caio = await pix.make('admin', 'Caio')
  const make = async (by: Record<string, string>, role: string, name: string) => {
    const { status, body } = await pix.call('POST', '/operator/operators', { name, role }, by)
    assert.equal(status, 201, JSON.stringify(body))
    return { authorization: `Bearer ${body.token}` }
  }
  const eli = await make(caio, 'admin', 'Eli')
  const dependent = [
    await make(caio, 'approver', 'Dora'),
    await make(eli, 'approver', 'Fabi'),
    // Bia again, by a token that Caio has seen.
    await make(caio, 'approver', 'Bia'),
    await make(await make(eli, 'admin', 'caio'), 'approver', 'Gil'),
  ]
  const { id } = await pix.paidTwice('10.00')
  const { body } = await pix.decide(id, 'credit', {}, caio)
  assert.equal(body.outcome, 'proposed')
  for (const headers of dependent) {
    const { status, body: refused } = await pix.say(id, body.proposalId, true, headers)
    assert.deepEqual([status, refused.code], [403, 'approver_not_independent'])
  }
  assert.equal((await pix.say(id, body.proposalId, true)).body.outcome, 'approved')
  const other = await pix.paidTwice('10.00')
  const { proposalId } = (await pix.decide(other.id, 'credit')).body
  assert.equal((await pix.say(other.id, proposalId, true, dependent[0])).body.outcome, 'approved')
})
