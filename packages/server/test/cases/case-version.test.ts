import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { readStoredCase } from '../../src/cases/store.ts'
import { CASE_TIMES } from '../../src/engine/cases.ts'
import { administer, testDatabase } from '../support/database.ts'
import { as, serverLogin } from '../support/logins.ts'
import { caseWorld } from './fixture.ts'

/** The version of a case: a change that a decision depends on voids proposals, queries of the bank do not. */

/** A payout that the bank has had for a day without an outcome, and a proposal to end it as not executed. */
async function proposed(t: TestContext) {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  await pix.balance(10_000)
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut()
  await pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'DISPATCHED')
  for (let quarter = 0; quarter < 97; quarter++) await pix.later(900_000)
  const [overdue] = (await pix.read(`?operation_id=${id}`)).data
  assert.equal(overdue.kind, 'outcome_unknown')
  const { status, body } = await pix.decide(overdue.id, 'not_executed')
  assert.deepEqual([status, body.outcome], [202, 'proposed'], JSON.stringify(body))
  const steps = async () => (await pix.read(`/${overdue.id}`)).steps
  const approve = () => pix.say(overdue.id, body.proposalId, true)
  return { ...pix, id, caseId: overdue.id, steps, approve }
}

test('[cases.33] [cases.39] [cases.42] [cases.61] a proposal about an overdue payout is still valid after twenty queries of the bank', async (t) => {
  const pix = await proposed(t)
  const before = await pix.read(`/${pix.caseId}`)
  const queried = (whole: typeof before) => whole.timeline.moves.length
  for (let query = 0; query < 20; query++) await pix.later(60_000)
  const after = await pix.read(`/${pix.caseId}`)
  assert.ok(queried(after) >= queried(before) + 20, `${queried(after) - queried(before)} moves`)
  assert.equal(after.version, before.version)
  assert.equal(after.steps[0].isOpen, true)
  const closed = await pix.decide(pix.caseId, 'close')
  assert.deepEqual([closed.status, closed.body.code], [409, 'not_possible_in_state'], 'money is set aside')
  const asked = await pix.decide(pix.caseId, 'ask_again')
  assert.equal(asked.body.outcome, 'decided', 'a query of the bank takes one person')
  await pix.work()
  const { status, body } = await pix.approve()
  assert.deepEqual([status, body.outcome], [200, 'approved'], JSON.stringify(body))
  assert.equal((await pix.get(`/api/pix/cash-out/${pix.id}`)).status, 'FAILED')
  await pix.assertBooksAgree()
})

test('[cases.33] [cases.42] [cases.61] a proposal is void after the bank told of money that left, though its case is still open', async (t) => {
  const pix = await proposed(t)
  const { version } = await pix.read(`/${pix.caseId}`)
  await pix.bankAction(`payouts/${pix.id}/confirm`, { valueCents: 2999 })
  await pix.until(`/api/pix/cash-out/${pix.id}`, ({ status }) => status === 'RECONCILIATION_REQUIRED')
  const after = await pix.read(`/${pix.caseId}`)
  assert.equal(after.state, 'open')
  assert.notEqual(after.version, version)
  assert.equal(after.steps[0].isOpen, false)
  const { status, body } = await pix.approve()
  assert.deepEqual([status, body.code], [409, 'proposal_void'])
  const { data } = await pix.read(`?kind=debit_in_suspense&operation_id=${pix.id}`)
  const closed = await pix.decide(data[0].id, 'close')
  assert.deepEqual([closed.status, closed.body.code], [409, 'not_possible_in_state'], 'money is in suspense')
  const late = await pix.decide(pix.caseId, 'not_executed', { version })
  assert.deepEqual([late.status, late.body.code], [409, 'case_changed'])
  await pix.assertBooksAgree()
})

test('[engine.22] the database raises the version with what is reported, not with its time, and never lowers it', async (t) => {
  const { url, database } = await testDatabase(t)
  const server = as(url, await serverLogin(t))
  const id = '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f'
  await administer(
    url,
    `INSERT INTO "case" (id, kind, reference, facts, amount_cents, opened_at)
     VALUES ('${id}', 'close_differs', 'a', '{"valueCents": 1}', 1, now())`,
  )
  const after = async (change: string) => {
    await administer(server, `UPDATE "case" SET ${change}`)
    return (await readStoredCase(database, id))?.version
  }
  assert.equal(await after('version = 0'), 1)
  for (const time of CASE_TIMES) assert.equal(await after(`facts = facts || '{"${time}": 7}'`), 1, time)
  assert.equal(await after(`facts = facts || '{"note": 7}'`), 2)
  assert.equal(await after('amount_cents = 5'), 3)
  assert.equal(await after('amount_cents = 4'), 3, 'the amount gets no smaller')
  assert.equal(await after('closed_at = now()'), 4)
  assert.equal(await after('closed_at = NULL'), 5)
  assert.equal(await after('version = version + 1'), 6)
})
