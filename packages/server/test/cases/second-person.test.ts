import assert from 'node:assert/strict'
import test from 'node:test'
import { listCases, readStoredCase } from '../../src/cases/store.ts'
import { administer, testDatabase } from '../support/database.ts'
import { notifiedStatuses, openCaseIdsOf } from '../support/evidence.ts'
import { as, serverLogin } from '../support/logins.ts'
import { stepUntil } from '../support/stepping.ts'
import { ADMIN_TOKEN } from '../support/world.ts'
import { sent } from './engine-fixture.ts'
import { caseWorld } from './fixture.ts'

/** When one person is not enough, besides a large amount. */

test('[cases.39] with the default of production every decision that moves money takes a second person, however little', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const { id } = await pix.paidTwice('0.01')
  const { options } = await pix.read(`/${id}`)
  const option = options.find(({ decision }: { decision: string }) => decision === 'write_off')
  assert.equal(option.needsSecondPerson, true)
  const token = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const alone = await pix.decide(id, 'write_off', {}, token)
  assert.deepEqual([alone.status, alone.body.code], [403, 'insufficient_role'], 'the administrative token names nobody')
  const { body } = await pix.decide(id, 'write_off')
  assert.deepEqual([body.outcome, body.needsSecondPerson], ['proposed', true])
  assert.equal((await pix.say(id, body.proposalId, true)).body.outcome, 'approved')
})

for (const [kind, reference, facts] of [
  ['ledger_drift', 'journal-sums x', {}],
  ['line_differs', 'balances 0198c0de-7a11-7000-8000-5f1d3c2b1a09', { firstDay: '2026-11-20', days: 2 }],
] as const) {
  test(`[cases.47] what nobody knows the amount of is not closed by one person: ${kind}`, async (t) => {
    const pix = await caseWorld(t)
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

test('[cases.48] a case counts with the most that it was told to be about, while it is open and once it is opened again', async (t) => {
  const { database, decide, leave } = await sent(t)
  const found = async () => {
    const [id] = await openCaseIdsOf(database, 'bank_contradicts')
    const stored = await readStoredCase(database, id ?? '')
    return [stored?.amountCents, stored?.facts.valueCents]
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

test('[cases.48] what a case counts with is made no smaller, whoever writes it, and of what it is never changes', async (t) => {
  const { database, databaseUrl, leave } = await sent(t)
  await leave('E9', 30_00n)
  await leave('E9', 5_000_00n)
  const server = as(databaseUrl, await serverLogin(t))
  const amount = async () => {
    const [id] = await openCaseIdsOf(database, 'bank_contradicts')
    return (await readStoredCase(database, id ?? ''))?.amountCents
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

test('[cases.48] [cases.30] what was told with a sign is the amount without it, and lists go by that', async (t) => {
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

test('[cases.41] whom the proposer made, or somebody they made, approves nothing of theirs, and of others what they will', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' })
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
  const { body } = await pix.decide(id, 'write_off', {}, caio)
  assert.equal(body.outcome, 'proposed')
  for (const headers of dependent) {
    const { status, body: refused } = await pix.say(id, body.proposalId, true, headers)
    assert.deepEqual([status, refused.code], [403, 'approver_not_independent'])
  }
  assert.equal((await pix.say(id, body.proposalId, true)).body.outcome, 'approved')
  const other = await pix.paidTwice('10.00')
  const { proposalId } = (await pix.decide(other.id, 'write_off')).body
  assert.equal((await pix.say(other.id, proposalId, true, dependent[0])).body.outcome, 'approved')
})

/** A charge of R$ 100.00 of which so much was paid: its case. */
async function paidOtherwise(pix: Awaited<ReturnType<typeof caseWorld>>, valueCents: number) {
  const { id: chargeId } = await pix.charge('100')
  await pix.bankAction(`charges/${chargeId}/pay`, { valueCents })
  for (;;) {
    const [open] = (await pix.read(`?operation_id=${chargeId}`)).data
    if (open) return { chargeId, id: open.id }
    await pix.work()
  }
}

/** Whatever is decided, no amount takes a second person. */
const ANY_AMOUNT = { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' }

for (const [paidCents, acceptedCents] of [
  [90_00, 90_00],
  [150_00, 99_99],
] as const) {
  test(`[cash-in.cases.1] [cases.39] less than the charge asks for takes a second person whatever the limit: ${acceptedCents} of ${paidCents}`, async (t) => {
    const pix = await caseWorld(t, ANY_AMOUNT)
    const { id, chargeId } = await paidOtherwise(pix, paidCents)
    const token = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const alone = await pix.decide(id, 'accept', { amountCents: acceptedCents }, token)
    assert.deepEqual([alone.status, alone.body.code], [403, 'insufficient_role'])
    const { status, body } = await pix.decide(id, 'accept', { amountCents: acceptedCents })
    assert.deepEqual([status, body.outcome, body.needsSecondPerson], [202, 'proposed', true])
    assert.deepEqual(await notifiedStatuses(pix.database), [])
    const same = await pix.say(id, body.proposalId, true, await pix.make('approver', 'ana'))
    assert.deepEqual([same.status, same.body.code], [403, 'approver_not_independent'])
    assert.equal((await pix.say(id, body.proposalId, true)).status, 200)
    const charge = await pix.get(`/api/pix/cash-in/${chargeId}`)
    assert.deepEqual([charge.status, charge.refundableCents], ['PAID', acceptedCents])
    await pix.assertBooksAgree()
  })
}

test('[cash-in.cases.1] [cases.39] what the charge asks for, of more than that, takes one person below the limit', async (t) => {
  const pix = await caseWorld(t, ANY_AMOUNT)
  const { id } = await paidOtherwise(pix, 150_00)
  assert.equal((await pix.decide(id, 'accept', { amountCents: 100_00 })).body.outcome, 'decided')
})

for (const [decision, amountCents] of [
  ['accept', 100_00],
  ['return_to_payer', 20_00],
] as const) {
  test(`[cash-in.cases.3] [cases.42] a proposed return to the payer is void after ${decision} took of the same money`, async (t) => {
    const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '12000' })
    const { id } = await paidOtherwise(pix, 150_00)
    const { body: proposed } = await pix.decide(id, 'return_to_payer', { amountCents: 120_00 })
    assert.equal(proposed.outcome, 'proposed')
    assert.equal((await pix.decide(id, decision, { amountCents })).body.outcome, 'decided')
    const { steps } = await pix.read(`/${id}`)
    assert.equal(steps.find(({ id: one }: { id: string }) => one === proposed.proposalId).isOpen, false)
    const { status, body } = await pix.say(id, proposed.proposalId, true)
    assert.deepEqual([status, body.code], [409, 'proposal_void'])
    const { data } = (await pix.call('GET', '/api/pix/refund')).body
    assert.equal(data.length, decision === 'accept' ? 0 : 1)
    await pix.assertBooksAgree()
  })
}

test('[cash-in.cases.3] [cases.39] the approver of a return to the payer is told of its refund, and the bank sends it once', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const { id } = await paidOtherwise(pix, 90_00)
  const { body: proposed } = await pix.decide(id, 'return_to_payer', { amountCents: 90_00 })
  assert.deepEqual([proposed.outcome, proposed.refundId], ['proposed', null])
  assert.deepEqual((await pix.call('GET', '/api/pix/refund')).body.data, [], 'a proposal orders nothing')
  const approved = await pix.say(id, proposed.proposalId, true)
  assert.equal(approved.status, 200, JSON.stringify(approved.body))
  assert.deepEqual((await pix.say(id, proposed.proposalId, true)).body, approved.body)
  const refund = await stepUntil(pix, `/api/pix/refund/${approved.body.refundId}`, 'CONFIRMED')
  assert.deepEqual([refund.origin, refund.valueCents], ['OPERATOR', 90_00])
  for (let minute = 0; minute < 5; minute++) await pix.later(60_000)
  const { entries } = (await pix.bank('GET', '/control/book')).body
  const sent = entries.filter(({ kind }: { kind: string }) => kind === 'REFUND_SENT')
  assert.deepEqual(
    sent.map(({ valueCents }: { valueCents: number }) => valueCents),
    [90_00],
  )
  await pix.assertBooksAgree()
})
