import assert from 'node:assert/strict'
import test from 'node:test'
import type { Command } from '../../../src/engine/operation.ts'
import { pageOf, paymentOf } from '../../bank-statement/fixture.ts'
import { bankWithout } from '../../support/bank-without.ts'
import { assertBooks, balances } from '../../support/books.ts'
import { payment } from '../../support/engine.ts'
import { audit, caseFacts, cases } from '../../support/evidence.ts'
import { paidEvent, postEvent } from '../../support/partner-events.ts'
import { caseWorld } from '../fixture.ts'
import { betweenReadAndWrite, caseFixture, decidingAt, payStrangersCharge } from './fixture.ts'

/** Decisions about cases of no operation that take a second person. */

const STRANGER = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
const PARKED = [0, 1_001, 5_001, 30_001, 60_001, 300_001, 900_001]
const FROM_10 = { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' }

/** The open case of a kind. */
async function found(pix: Awaited<ReturnType<typeof caseWorld>>, kind: string): Promise<string> {
  const [first, ...more] = (await pix.read(`?kind=${kind}`)).data
  assert.ok(first && more.length === 0, kind)
  return first.id
}

/** A payment at the bank that nothing here explains. */
async function unexplained(t: Parameters<typeof caseWorld>[0]) {
  const pix = await caseWorld(t, FROM_10)
  const charge = await pix.charge('10.00')
  await payStrangersCharge(pix)
  for (let minute = 0; minute < 10; minute += 1) await pix.later(60_000)
  return { ...pix, chargeId: String(charge.id), id: await found(pix, 'unexplained_credit') }
}

for (const [decision, expected] of [
  ['credit', { settlement: -1000n, available: 1000n }],
  ['book', { settlement: -1000n, available: 1000n }],
  ['write_off', { settlement: -1000n, losses: 1000n }],
] as const) {
  test(`[cases.39] [cases.41] [cases.46] [cases.52] what arrived without a home is decided by two people: ${decision}`, async (t) => {
    const pix = await unexplained(t)
    const given = decision === 'book' ? { operationId: pix.chargeId } : {}
    const proposed = await pix.decide(pix.id, decision, given)
    assert.deepEqual([proposed.status, proposed.body.outcome], [202, 'proposed'], JSON.stringify(proposed.body))
    const held = { settlement: -1000n, suspense_in: 1000n }
    assert.deepEqual(await balances(pix.database), held, 'nothing more is booked before it is approved')
    const { proposalId } = proposed.body
    const own = await pix.say(pix.id, proposalId, true, pix.ana)
    assert.deepEqual([own.status, own.body.code], [403, 'insufficient_role'])
    const approved = await pix.say(pix.id, proposalId, true)
    assert.deepEqual([approved.status, approved.body.outcome], [200, 'approved'], JSON.stringify(approved.body))
    assert.deepEqual(approved.body.effects.accounts, proposed.body.effects.accounts)
    assert.deepEqual(await balances(pix.database), expected)
    assert.deepEqual((await pix.say(pix.id, proposalId, true)).body, approved.body)
    const { steps } = await pix.read(`/${pix.id}`)
    assert.deepEqual(
      steps.map(({ step, by }: { step: string; by: { name: string } }) => [step, by.name]),
      [
        ['proposed', 'Ana'],
        ['approved', 'Bia'],
      ],
    )
    const said = (await audit(pix.database)).filter(({ action }) => /^case\.(proposed|approved)$/.test(action))
    assert.deepEqual(said.map(({ subject, action, facts }) => [subject, action, facts.valueCents]).toSorted(), [
      [pix.id, 'case.approved', 1000],
      [pix.id, 'case.proposed', 1000],
    ])
    await pix.assertBooksAgree()
  })
}

/** A paid charge, and the open case of the event that told it and names nobody. */
async function setAside(t: Parameters<typeof caseWorld>[0]) {
  const pix = await caseWorld(t, FROM_10, bankWithout('statement'))
  const made = await pix.charge('10.00')
  await pix.behave({ eventDelayMs: 3_600_000 })
  const { endToEndId } = await pix.bankAction(`charges/${made.id}/pay`)
  const told = paidEvent({ ...made, id: 'nobody', valueCents: 1000, providerTransactionId: 'x' }, { endToEndId })
  assert.equal(await postEvent(pix, told), 200)
  for (const wait of PARKED) await pix.later(wait)
  return { ...pix, chargeId: String(made.id), id: await found(pix, 'event_set_aside') }
}

test('[cases.52] [cases.58] an event that is attributed is approved by another person before it is applied', async (t) => {
  const { id, chargeId, ...pix } = await setAside(t)
  const { body } = await pix.decide(id, 'book', { operationId: chargeId })
  assert.deepEqual([body.outcome, body.effects.amountCents], ['proposed', 1000])
  assert.equal((await pix.say(id, body.proposalId, true)).body.outcome, 'approved')
  await pix.later(0)
  for (const wait of PARKED) await pix.later(wait)
  assert.equal((await pix.read(`/${id}`)).state, 'closed')
  assert.deepEqual(await balances(pix.database), { settlement: -1000n, available: 1000n })
  await pix.assertBooksAgree()
})

test('[cases.46] [cases.52] an event is not dismissed, nor applied again, by one person where its money takes two', async (t) => {
  const { id, ...pix } = await setAside(t)
  for (const decision of ['close', 'ask_again']) {
    const { body } = await pix.decide(id, decision)
    assert.deepEqual([body.outcome, body.effects.amountCents], ['proposed', 1000], decision)
    assert.equal((await pix.withdraw(id, body.proposalId)).status, 200)
  }
})

test('[cases.40] [cases.42] a proposal about money that was booked meanwhile is refused at once, and a case decided meanwhile too', async (t) => {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge()
  const entry = paymentOf(charge, 'E1', { reference: STRANGER })
  fixture.bank.answer = () => pageOf([entry])
  await fixture.sweep()
  await fixture.minutes(6)
  const { people, meanwhile } = betweenReadAndWrite()
  const careful = decidingAt(fixture, { approvalFromCents: 100, people })
  const order = await careful.order('unexplained_credit', 'credit')
  meanwhile(() => fixture.decide('unexplained_credit', 'write_off'))
  await assert.rejects(careful.send(order), { code: 'case_changed' })

  const second = paymentOf(charge, 'E2', { reference: STRANGER, occurredAt: fixture.clock.now() })
  fixture.bank.answer = () => pageOf([entry, second])
  meanwhile(async () => undefined)
  await fixture.minutes(7)
  const other = await careful.order('unexplained_credit', 'credit')
  const booked = payment({ endToEndId: 'E2', occurredAt: fixture.clock.now() })
  meanwhile(() => fixture.apply(charge.id, { on: 'partner.confirmed', payment: booked, transactionId: null }))
  await assert.rejects(careful.send(other), { code: 'case_changed' })
  const proposed = (await audit(fixture.database)).filter(({ action }) => action === 'case.proposed')
  assert.deepEqual(proposed, [])
  await assertBooks(fixture.database)
})

/** Tells of a shortage. */
const telling = (valueCents: number, occurredAt: number): Command<undefined> => ({
  reads: [],
  decide: () => {
    const facts = { rule: 'close.3', valueCents, since: 'noon', occurredAt }
    return { cases: [{ operationId: null, kind: 'close_differs', reference: 'a', facts }], outcome: undefined }
  },
})

test('[cases.51] [cases.48] what is told again with another time leaves a proposal as it is, and what is told otherwise voids it', async (t) => {
  const fixture = await caseFixture(t)
  const tell = (valueCents: number, occurredAt: number) => fixture.engine.execute(telling(valueCents, occurredAt))
  const facts = async () => (await caseFacts(fixture.database, 'close_differs'))[0]
  await tell(500, 1)
  const order = await fixture.order('close_differs', 'close')
  await tell(500, 2)
  assert.deepEqual(await facts(), { rule: 'close.3', valueCents: 500, since: 'noon', occurredAt: 1 })
  assert.equal((await fixture.order('close_differs', 'close')).version, order.version)
  await tell(400, 3)
  assert.deepEqual(await facts(), { rule: 'close.3', valueCents: 400, since: 'noon', occurredAt: 3 })
  await assert.rejects(fixture.send(order), { code: 'case_changed' })
  const { effects } = await fixture.decide('close_differs', 'close')
  assert.equal(effects?.amountCents, 500, 'it counts with the most that was told')
  await tell(100, 4)
  const again = await fixture.decide('close_differs', 'close')
  assert.equal(again.effects?.amountCents, 500, 'also once it is opened again')
})

test('[cases.51] a case that is told otherwise before a decision of it is written is not decided by what was told before', async (t) => {
  const fixture = await caseFixture(t)
  const tell = (valueCents: number, occurredAt: number) => fixture.engine.execute(telling(valueCents, occurredAt))
  const { people, meanwhile } = betweenReadAndWrite()
  const deciding = decidingAt(fixture, { people })
  await tell(500, 1)
  const order = await deciding.order('close_differs', 'close')
  meanwhile(() => tell(400, 2))
  await assert.rejects(deciding.send(order), { code: 'case_changed' })
  assert.deepEqual(await cases(fixture.database), ['close_differs'])
  const again = await deciding.order('close_differs', 'close')
  meanwhile(() => tell(400, 3))
  await deciding.send(again)
  assert.deepEqual(await cases(fixture.database), ['close_differs (closed)'], 'the same told again is no change')
})

test('[cases.48] a case that is told with more and then as it was, in one batch, counts with the more', async (t) => {
  const fixture = await caseFixture(t)
  await fixture.engine.execute(telling(500, 1))
  // The first one keeps the engine busy: what follows is one batch.
  await Promise.all([500, 900, 500].map((valueCents) => fixture.engine.execute(telling(valueCents, 2))))
  const { effects } = await fixture.decide('close_differs', 'close')
  assert.equal(effects?.amountCents, 900)
})
