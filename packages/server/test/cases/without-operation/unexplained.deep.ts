import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Refusal } from '@pixgate/spec'
import type { StatementEntry } from '../../../src/banks/port.ts'
import { pageOf, paymentOf } from '../../bank-statement/fixture.ts'
import { assertBooks, balances, oldestCashIn } from '../../support/books.ts'
import { payment } from '../../support/engine.ts'
import { audit, cases, statementEntries } from '../../support/evidence.ts'
import { type CaseFixture, caseFixture, MARIA, shapeOf } from './fixture.ts'

/** Money that the bank has and the books do not. */

const STRANGER = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

/** A case about an entry that names nobody. */
async function unexplained(
  t: TestContext,
  given: Partial<StatementEntry> = {},
): Promise<CaseFixture & { readonly kind: string }> {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge()
  const entry = paymentOf(charge, 'E1', { reference: STRANGER, ...given })
  fixture.bank.answer = () => pageOf([entry])
  await fixture.sweep()
  await fixture.minutes(6)
  const kind = kindOf(given)
  assert.deepEqual(await cases(fixture.database), [kind])
  return { ...fixture, kind }
}

const LEFT = { kind: 'PAYOUT_SENT', direction: 'out' } as const

function kindOf({ direction = 'in' }: Partial<StatementEntry>): string {
  return direction === 'in' ? 'unexplained_credit' : 'unexplained_debit'
}

/** What arrived is booked until somebody decides. */
const HELD = { settlement: -100_00n, suspense_in: 100_00n }

/** The books have of the bank what its statement has, are right, and stay so when it is read again. */
async function assertSettled(fixture: CaseFixture, expected: Record<string, bigint>, left: readonly string[] = []) {
  for (const minutes of [0, 10]) {
    await fixture.minutes(minutes)
    assert.deepEqual(await balances(fixture.database), expected)
    assert.deepEqual(
      (await cases(fixture.database)).filter((kind) => !kind.endsWith('(closed)')),
      left,
    )
    await assertBooks(fixture.database)
  }
}

const DECISIONS = [
  ['credit', {}, { available: 100_00n, settlement: -100_00n }],
  ['write_off', {}, { settlement: -100_00n, losses: 100_00n }],
  ['debit', LEFT, { settlement: 100_00n, receivable: -100_00n }],
  ['write_off', LEFT, { settlement: 100_00n, losses: -100_00n }],
] as const

for (const [decision, given, expected] of DECISIONS) {
  const way = 'direction' in given ? 'left' : 'arrived'
  test(`[cases.53] [PL-3] money that ${way} by the statement alone: ${decision} makes the books equal, once`, async (t) => {
    const fixture = await unexplained(t, given)
    const order = await fixture.order(fixture.kind, decision)
    const before = way === 'arrived' ? HELD : {}
    const dry = await fixture.send({ ...order, dryRun: true })
    assert.deepEqual(await balances(fixture.database), before, 'a dry run books nothing')
    const { effects } = await fixture.send(order)
    assert.deepEqual(shapeOf(effects), shapeOf(dry.effects))
    assert.equal(effects?.amountCents, 100_00)
    const sums = new Map<string, bigint>(Object.entries(before))
    for (const { account, changeCents } of effects.accounts) {
      sums.set(account, (sums.get(account) ?? 0n) + BigInt(changeCents))
    }
    assert.deepEqual(Object.fromEntries([...sums].filter(([, cents]) => cents !== 0n)), expected)
    await assertSettled(fixture, expected)
    await assert.rejects(fixture.send(order), { code: 'case_changed' })
  })
}

const OFFERED = ['book', 'credit', 'return_to_payer', 'write_off']

test('[cases.53] [cases.61] what is offered of money that arrived, and that left, and that neither is closed', async (t) => {
  const arrived = await unexplained(t)
  assert.deepEqual((await arrived.offered('unexplained_credit')).toSorted(), OFFERED)
  const left = await unexplained(t, LEFT)
  assert.deepEqual(await left.offered('unexplained_debit'), ['book', 'debit', 'write_off'])
  for (const fixture of [arrived, left]) {
    await assert.rejects(fixture.decide(fixture.kind, 'close'), { code: 'not_possible_in_state' })
  }
})

test('[cases.34] [ledger.recover] what a decision repays of debts is told before, and in its answer', async (t) => {
  const fixture = await unexplained(t, LEFT)
  await fixture.decide('unexplained_debit', 'debit')
  const charge = await fixture.charge()
  const entry = paymentOf(charge, 'E2', { reference: STRANGER, valueCents: 150_00n, occurredAt: fixture.clock.now() })
  fixture.bank.answer = () => pageOf([entry])
  await fixture.minutes(7)
  const order = await fixture.order('unexplained_credit', 'credit')
  const dry = await fixture.send({ ...order, dryRun: true })
  const { effects } = await fixture.send(order)
  assert.deepEqual(effects?.accounts, [
    { account: 'suspense_in', changeCents: -150_00 },
    { account: 'available', changeCents: 50_00 },
    { account: 'receivable', changeCents: 100_00 },
  ])
  assert.equal(effects.amountCents, 150_00, 'the amount is that of the decision')
  assert.deepEqual(shapeOf(effects), shapeOf(dry.effects))
  assert.deepEqual(await balances(fixture.database), { available: 50_00n, settlement: -50_00n })
  await assertBooks(fixture.database)
})

test('[cases.51] two decisions at once: one counts, the other is refused and books nothing', async (t) => {
  const fixture = await unexplained(t)
  const credit = await fixture.order('unexplained_credit', 'credit')
  const results = await Promise.allSettled([
    fixture.send(credit),
    fixture.send({ ...credit, decision: 'write_off' }),
    fixture.send({ ...credit, decision: 'credit' }),
  ])
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected'])
  const decided = (await audit(fixture.database)).filter(({ action }) => action === 'case.decided')
  assert.equal(decided.length, 1)
  await assertBooks(fixture.database)
})

test('[cases.51] a decision about money that an event booked meanwhile is refused', async (t) => {
  const fixture = await unexplained(t)
  const order = await fixture.order('unexplained_credit', 'credit')
  const charge = await fixture.charge()
  const occurredAt = fixture.clock.now()
  const payment = {
    endToEndId: 'E1',
    valueCents: 100_00n,
    occurredAt,
    payer: { name: undefined, document: undefined, ispb: undefined },
  }
  await fixture.apply(charge.id, { on: 'partner.confirmed', payment, transactionId: null })
  await assert.rejects(fixture.send(order), { code: 'case_changed' })
  await fixture.minutes(1)
  assert.deepEqual(await balances(fixture.database), { available: 99_00n, settlement: -100_00n, fees: 1_00n })
  await assertBooks(fixture.database)
})

test('[cases.52] who decided what, and why, is in the audit trail with the money', async (t) => {
  const fixture = await unexplained(t)
  const order = await fixture.order('unexplained_credit', 'write_off', { evidence: { reference: 'letter 7' } })
  await fixture.send(order)
  const [row] = (await audit(fixture.database)).filter(({ action }) => action === 'case.decided')
  assert.deepEqual([row?.actor, row?.address, row?.subject], [MARIA.actor, MARIA.address, order.caseId])
  const { decision, reason, valueCents } = row?.facts ?? {}
  assert.deepEqual([decision, reason, valueCents], ['write_off', 'The bank says so', 100_00])
})

test('[cases.53] [EV-7] a payment that no charge explains is handed over to the charge that the operator names', async (t) => {
  const fixture = await unexplained(t)
  const id = (await oldestCashIn(fixture.database)) ?? ''
  await fixture.decide('unexplained_credit', 'book', { operationId: id })
  assert.equal((await fixture.read(id))?.status, 'PAID')
  await fixture.minutes(1)
  assert.deepEqual(await statementEntries(fixture.database), ['PAYMENT_RECEIVED E1 MATCHED'])
  await assertSettled(fixture, { available: 99_00n, settlement: -100_00n, fees: 1_00n })
})

test('[cases.34] [cases.52] the dry run of a hand-over tells each posting, and the answer the same', async (t) => {
  const fixture = await unexplained(t)
  const operationId = await oldestCashIn(fixture.database)
  const order = await fixture.order('unexplained_credit', 'book', operationId ? { operationId } : {})
  const dry = await fixture.send({ ...order, dryRun: true })
  assert.deepEqual(shapeOf(dry.effects), {
    amountCents: 100_00,
    accounts: [
      { account: 'available', changeCents: 99_00 },
      { account: 'fees', changeCents: 1_00 },
      { account: 'suspense_in', changeCents: -100_00 },
    ],
    journals: ['cash_in_paid', 'held_explained'],
    statuses: ['PAID', 'EXPLAINED'],
  })
  assert.deepEqual(dry.effects?.closes, [order.caseId])
  assert.deepEqual(await balances(fixture.database), HELD, 'a dry run books nothing')
  assert.deepEqual(shapeOf((await fixture.send(order)).effects), shapeOf(dry.effects))
  assert.deepEqual(await cases(fixture.database), ['unexplained_credit (closed)'], 'it closes with the same commit')
})

test('[cases.52] a hand-over that the operation does not accept is refused with the reason, and leaves the case as it was', async (t) => {
  const fixture = await unexplained(t)
  const charge = await fixture.charge()
  const dated = { reference: STRANGER, occurredAt: fixture.clock.now() + 86_400_000 }
  fixture.bank.answer = () => pageOf([paymentOf(charge, 'E2', dated)])
  await fixture.decide('unexplained_credit', 'write_off')
  await fixture.minutes(7)
  const order = await fixture.order('unexplained_credit', 'book', { operationId: charge.id })
  for (const dryRun of [true, false, false]) {
    await assert.rejects(fixture.send({ ...order, dryRun }), (error: Refusal) => {
      assert.deepEqual(
        [error.code, error.fields.map(({ field, code }) => [field, code])],
        ['not_possible_in_state', [['operationId', 'not_possible']]],
      )
      return true
    })
  }
  const decided = (await audit(fixture.database)).filter(({ subject }) => subject === order.caseId)
  assert.deepEqual(decided, [])
  assert.deepEqual((await fixture.offered('unexplained_credit')).toSorted(), OFFERED)
  assert.equal((await fixture.read(charge.id))?.status, 'PENDING')
  fixture.clock.advance(86_400_000)
  await fixture.send(order)
  assert.deepEqual((await balances(fixture.database)).settlement, -200_00n)
})

test('[cases.53] [EV-7] a payment that is dated before the charge that the operator names is in suspense there, with a case', async (t) => {
  const fixture = await unexplained(t)
  const charge = await fixture.charge()
  await fixture.decide('unexplained_credit', 'book', { operationId: charge.id })
  assert.equal((await fixture.read(charge.id))?.status, 'RECONCILIATION_REQUIRED')
  await assertSettled(fixture, { settlement: -100_00n, suspense_in: 100_00n }, ['payment_in_suspense'])
})

test('[cases.51] of two operations that are named at the same time one gets the movement, and nothing is booked twice', async (t) => {
  const fixture = await unexplained(t)
  const charges = [await oldestCashIn(fixture.database), (await fixture.charge()).id]
  const order = await fixture.order('unexplained_credit', 'book')
  const results = await Promise.allSettled(charges.map((operationId = '') => fixture.send({ ...order, operationId })))
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal((await balances(fixture.database)).settlement, -100_00n)
  await assertBooks(fixture.database)
})

test('[cases.53] an operation that does not exist, or is of another kind, is refused and the case stays', async (t) => {
  const fixture = await unexplained(t, LEFT)
  const charge = await fixture.charge()
  for (const operationId of [STRANGER, charge.id, undefined]) {
    const order = await fixture.order('unexplained_debit', 'book', operationId ? { operationId } : {})
    await assert.rejects(fixture.send(order), { code: 'validation_error' })
  }
  assert.deepEqual(await cases(fixture.database), ['unexplained_debit'])
})

test('[cases.56] [PL-16] what the statement tells otherwise after it was booked is a case with the difference, and each telling once', async (t) => {
  const fixture = await unexplained(t)
  await fixture.decide('unexplained_credit', 'credit')
  const charge = await fixture.charge()
  const tell = (valueCents: bigint) => {
    fixture.bank.answer = () =>
      pageOf([paymentOf(charge, 'E1', { reference: STRANGER, valueCents, occurredAt: fixture.clock.now() })])
  }
  tell(90_00n)
  await fixture.minutes(1)
  assert.deepEqual(await fixture.offered('line_differs'), ['debit', 'write_off'])
  await fixture.decide('line_differs', 'debit')
  await assertSettled(fixture, { available: 90_00n, settlement: -90_00n })
  tell(95_00n)
  await fixture.minutes(1)
  await fixture.decide('line_differs', 'write_off')
  await assertSettled(fixture, { available: 90_00n, settlement: -95_00n, losses: 5_00n })
})

test('[cases.56] [PL-16] what is open after a decision shows what is told last: told as it was decided of it can only be closed', async (t) => {
  const fixture = await unexplained(t)
  await fixture.decide('unexplained_credit', 'credit')
  const charge = await fixture.charge()
  const tell = async (valueCents: bigint) => {
    fixture.bank.answer = () =>
      pageOf([paymentOf(charge, 'E1', { reference: STRANGER, valueCents, occurredAt: fixture.clock.now() })])
    await fixture.minutes(1)
  }
  await tell(140_00n)
  await fixture.decide('line_differs', 'credit')
  await assertSettled(fixture, { available: 140_00n, settlement: -140_00n })
  await tell(70_00n)
  assert.deepEqual(await fixture.offered('line_differs'), ['debit', 'write_off'])
  await tell(140_00n)
  assert.deepEqual(await fixture.offered('line_differs'), ['close'], 'bank and books agree')
  await tell(120_00n)
  const { effects } = await fixture.decide('line_differs', 'debit')
  assert.equal(effects?.amountCents, 20_00)
  await assertSettled(fixture, { available: 120_00n, settlement: -120_00n })
  await tell(120_00n)
  await assertSettled(fixture, { available: 120_00n, settlement: -120_00n })
})

test('[cases.56] [cases.61] what is told as it was at first, after a case of it was closed as explained, is shown by the case that is open', async (t) => {
  const fixture = await unexplained(t)
  const charge = await fixture.charge()
  const tell = async (valueCents: bigint) => {
    fixture.bank.answer = () =>
      pageOf([paymentOf(charge, 'E1', { reference: STRANGER, valueCents, occurredAt: fixture.clock.now() })])
    await fixture.minutes(1)
  }
  await tell(140_00n)
  await assert.rejects(fixture.decide('line_differs', 'close'), { code: 'not_possible_in_state' })
  await tell(100_00n)
  await fixture.decide('line_differs', 'close')
  await tell(70_00n)
  assert.notDeepEqual(await fixture.offered('line_differs'), ['close'])
  await tell(100_00n)
  assert.deepEqual(await fixture.offered('line_differs'), ['close'], 'it is told as it is kept')
  await tell(70_00n)
  const booked = payment({ endToEndId: 'E1', valueCents: 90_00n, occurredAt: fixture.clock.now() })
  await fixture.apply(charge.id, { on: 'partner.confirmed', payment: booked, transactionId: null })
  fixture.bank.answer = () => pageOf([])
  await fixture.minutes(7)
  const { effects } = await fixture.decide('line_differs', 'write_off')
  assert.equal(effects?.amountCents, 20_00, 'what the books have otherwise is the same case')
})
