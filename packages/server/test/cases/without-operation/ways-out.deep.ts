import assert from 'node:assert/strict'
import test from 'node:test'
import { verifyAudit } from '../../../src/audit/chain.ts'
import type { Bank } from '../../../src/banks/bank.ts'
import { bankWithout } from '../../support/bank-without.ts'
import { balances } from '../../support/books.ts'
import { paidEvent, postEvent } from '../../support/partner-events.ts'
import { caseWorld } from '../fixture.ts'
import { payStrangersCharge } from './fixture.ts'

/** What was told, or decided, wrongly has a way out: whoever has only the API puts the books right. */

type CaseWorld = Awaited<ReturnType<typeof caseWorld>>

const PARKED = [0, 1_001, 5_001, 30_001, 60_001, 300_001, 900_001]
const BELIEVED = bankWithout('query-charge', 'statement')

async function minutes(pix: CaseWorld, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) await pix.later(60_000)
}

/** The kinds of the cases that are open. */
async function open(pix: CaseWorld): Promise<string[]> {
  return (await pix.read('')).data.map(({ kind }: { kind: string }) => kind).toSorted()
}

/** Decides the open case of a kind as it stands. */
async function decided(pix: CaseWorld, kind: string, decision: string, given: object = {}): Promise<void> {
  const [first] = (await pix.read(`?kind=${kind}`)).data
  assert.ok(first, `${kind} is open: ${await open(pix)}`)
  const { status, body } = await pix.decide(first.id, decision, given)
  assert.equal(status, 200, JSON.stringify(body))
}

async function assertSettled(pix: CaseWorld, expected: Record<string, bigint>): Promise<void> {
  await minutes(pix, 10)
  assert.deepEqual(await open(pix), [])
  assert.deepEqual(await balances(pix.database), expected)
  await pix.assertBooksAgree()
  assert.deepEqual((await verifyAudit(pix.database, { keys: [] })).faults, [])
}

test('[cash-in.states.13] [cases.53] an end-to-end id that is told for two charges is one’s, and the other’s case is closed', async (t) => {
  const pix = await caseWorld(t)
  const [one, other] = [await pix.charge('10.00'), await pix.charge('10.00')]
  const { endToEndId } = await pix.bankAction(`charges/${one.id}/pay`)
  await pix.until(`/api/pix/cash-in/${one.id}`, ({ status }) => status === 'PAID')
  assert.equal(await postEvent(pix, paidEvent({ ...other, valueCents: 1000 }, { endToEndId })), 200)
  await minutes(pix, 10)
  assert.deepEqual(await open(pix), ['movement_elsewhere'])
  await decided(pix, 'movement_elsewhere', 'close')
  assert.equal((await pix.get(`/api/pix/cash-in/${one.id}`)).status, 'PAID')
  await assertSettled(pix, { available: 1000n, settlement: -1000n })
})

test('[cases.53] [adjustment.held.4] a payment that was decided of is booked no second time: an event that names a charge for it is a case', async (t) => {
  const pix = await caseWorld(t)
  const ours = await pix.charge('10.00')
  await pix.behave({ eventDelayMs: 3_600_000 })
  const endToEndId = await payStrangersCharge(pix)
  await minutes(pix, 10)
  const [first] = (await pix.read('?kind=unexplained_credit')).data
  const { version } = await pix.read(`/${first.id}`)
  await decided(pix, 'unexplained_credit', 'write_off')
  for (const decision of ['credit', 'write_off', 'book']) {
    const again = await pix.decide(first.id, decision, { version, operationId: ours.id })
    assert.deepEqual([again.status, again.body.code], [409, 'case_changed'], decision)
  }
  const occurredAt = new Date(pix.clock.now()).toISOString()
  assert.equal(await postEvent(pix, paidEvent({ ...ours, valueCents: 1000 }, { endToEndId, occurredAt })), 200)
  await minutes(pix, 10)
  assert.equal((await balances(pix.database)).available, undefined, 'nobody was credited')
  assert.deepEqual(await open(pix), ['movement_elsewhere'])
  await decided(pix, 'movement_elsewhere', 'close')
  await assertSettled(pix, { losses: 1000n, settlement: -1000n })
})

test('[cases.13] [cases.54] a payout that was confirmed by a wrong id is put right by writing both off: loss and gain cancel each other', async (t) => {
  const pix = await caseWorld(t)
  await pix.paid('100')
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut()
  for (let quarter = 0; quarter < 99; quarter += 1) await pix.later(15 * 60_000)
  await pix.behave({ eventDelayMs: 3_600_000 })
  const { endToEndId } = await pix.bankAction(`payouts/${id}/confirm`)
  await decided(pix, 'outcome_unknown', 'executed', { evidence: { endToEndId: `${endToEndId.slice(0, -3)}zzz` } })
  await minutes(pix, 20)
  assert.deepEqual(await open(pix), ['debit_in_suspense', 'line_missing'])
  await decided(pix, 'debit_in_suspense', 'write_off')
  await decided(pix, 'line_missing', 'write_off')
  assert.equal((await pix.get(`/api/pix/cash-out/${id}`)).status, 'CONFIRMED')
  await assertSettled(pix, { available: 7_000n, settlement: -7_000n })
})

/** Each charge gets the same transaction id from this bank. */
const SHARING = {
  bank: (simulated: Bank): Bank => ({
    ...(BELIEVED.bank?.(simulated) ?? simulated),
    createCharge: async (...asked) => {
      const answer = await simulated.createCharge(...asked)
      return answer.kind === 'ACCEPTED' ? { ...answer, charge: { ...answer.charge, transactionId: 'shared' } } : answer
    },
  }),
}

test('[CI-10] [EV-34] [cases.58] of two charges that share a transaction id the one that the operator names is paid, and the other is not', async (t) => {
  const pix = await caseWorld(t, {}, SHARING)
  const [one, other] = [await pix.charge('10.00'), await pix.charge('10.00')]
  await pix.behave({ eventDelayMs: 3_600_000 })
  const { endToEndId } = await pix.bankAction(`charges/${one.id}/pay`)
  const event = paidEvent({ ...one, valueCents: 1000 }, { endToEndId, transactionId: 'shared', externalId: 'nobody' })
  assert.equal(await postEvent(pix, event), 200)
  for (const wait of PARKED) await pix.later(wait)
  assert.deepEqual(await balances(pix.database), {}, 'it could be either')
  assert.deepEqual(await open(pix), ['event_set_aside'])
  await decided(pix, 'event_set_aside', 'book', { operationId: one.id })
  await pix.later(0)
  const status = async (id: string) => (await pix.get(`/api/pix/cash-in/${id}`)).status
  assert.deepEqual([await status(one.id), await status(other.id)], ['PAID', 'PENDING'])
  await assertSettled(pix, { available: 1000n, settlement: -1000n })
})

for (const isOriginalTrue of [true, false]) {
  const which = isOriginalTrue ? 'first' : 'contradicting'
  test(`[partner-inbox.7] [cases.57] [cases.58] of two events that contradict each other the ${which} one is attributed, the other dismissed`, async (t) => {
    const pix = await caseWorld(t, {}, BELIEVED)
    const made = await pix.charge('10.00')
    await pix.behave({ eventDelayMs: 3_600_000 })
    const { endToEndId } = await pix.bankAction(`charges/${made.id}/pay`)
    const event = paidEvent({ ...made, id: 'nobody', valueCents: 1000, providerTransactionId: 'x' }, { endToEndId })
    const values = isOriginalTrue ? [1000, 1100] : [1100, 1000]
    for (const valueCents of values) assert.equal(await postEvent(pix, { ...event, valueCents }), 200)
    for (const wait of [...PARKED, ...PARKED]) await pix.later(wait)
    const { data } = await pix.read('?kind=event_set_aside')
    const told = await Promise.all(data.map(({ id }: { id: string }) => pix.read(`/${id}`)))
    assert.deepEqual(told.map(({ event: { state } }) => state).toSorted(), ['CONFLICT', 'PARKED'])
    for (const { id, event: stored } of told) {
      const isTrue = JSON.parse(Buffer.from(stored.body, 'base64').toString()).valueCents === 1000
      const given = isTrue ? { operationId: made.id } : {}
      const { status, body } = await pix.decide(id, isTrue ? 'book' : 'close', given)
      assert.equal(status, 200, JSON.stringify(body))
    }
    await pix.later(0)
    assert.equal((await pix.get(`/api/pix/cash-in/${made.id}`)).status, 'PAID')
    await assertSettled(pix, { available: 1000n, settlement: -1000n })
  })
}
