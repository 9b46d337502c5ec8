import assert from 'node:assert/strict'
import test from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Person } from '../../src/access/index.ts'
import { approve, type CaseNeeds, decide } from '../../src/cases/decide.ts'
import { readStoredCase } from '../../src/cases/store.ts'
import { cashInDecider } from '../../src/cash-in/decide-case.ts'
import { createDryRun } from '../../src/engine/dry-run.ts'
import { statement } from '../../src/platform/db/database.ts'
import { pageOf, paymentOf } from '../bank-statement/fixture.ts'
import { paidTwice, sent } from '../cases/engine-fixture.ts'
import { caseWorld } from '../cases/fixture.ts'
import {
  betweenReadAndWrite,
  caseFixture,
  creditMissing,
  decidingAt,
  MARIA,
  makePeople,
  PEOPLE,
} from '../cases/without-operation/fixture.ts'
import { returned } from '../cash-out/situations.ts'
import { bankWithout } from '../support/bank-without.ts'
import { assertBooks, balances } from '../support/books.ts'
import { payment, testEngine } from '../support/engine.ts'
import { cases, openCaseIdsOf } from '../support/evidence.ts'
import { ALIVE } from '../support/live-request.ts'
import { makeOperator } from '../support/operators.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { ALONE, codeOf, operatorOf, suspended, turn } from '../support/suspense.ts'
import { type World, world } from '../support/world.ts'

/** Attacks on decisions: money that becomes undecidable, is decided twice, by one person, or otherwise than shown. */

/** An event that reports a payment which the bank does not have. */
async function forge(pix: World, chargeId: string, valueCents = 100_00, name = 'FIRST'): Promise<void> {
  const detail = await pix.get(`/api/pix/cash-in/${chargeId}`)
  const occurredAt = new Date(pix.clock.now()).toISOString()
  const made = { endToEndId: `E99999010202611290000FORGED${name}`, eventId: `forged ${name}`, valueCents }
  assert.equal(await postEvent(pix, { ...paidEvent({ ...detail, id: chargeId }, { occurredAt, ...made }) }), 200)
}

const contradictions = statement<[], { id: string }>(
  'test.contradictions',
  `SELECT id FROM "case" WHERE kind = 'bank_contradicts'`,
)

const STRANGER = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

test('[cash-in.cases.16] [cases.10] money in suspense beside a credit can be decided, whatever was tried with the credit', async (t) => {
  const pix = await world(t, ALONE, { isStepped: true })
  const charge = await pix.charge('100')
  await pix.later(1_000)
  await forge(pix, charge.id)
  await pix.until(`/api/pix/cash-in/${charge.id}`, ({ status }) => status === 'PAID')
  await pix.bankAction(`charges/${charge.id}/pay`, { valueCents: 100_00 })
  for (let minute = 0; minute < 12; minute++) await pix.later(60_000)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const { decideOn, read } = operatorOf(pix, ana)
  const { data } = (await pix.call('GET', '/operator/cases?kind=line_missing', undefined, ana)).body
  assert.deepEqual(codeOf(await decideOn(data[0].id, 'reverse')), [409, 'not_possible_in_state'])
  const [{ id: suspendedId }] = (await pix.call('GET', '/operator/cases?kind=payment_in_suspense', undefined, ana)).body
    .data
  const shown = await read(suspendedId)
  assert.ok(
    shown.options.some((one: { isOffered: boolean }) => one.isOffered),
    'some decision is offered',
  )
})

for (const [booked, told, decision] of [
  [150_00n, 140_00n, 'debit'],
  [150_00n, 160_00n, 'credit'],
] as const) {
  test(`[cases.54] a difference of a payment that the merchant did not get is not theirs: ${decision}`, async (t) => {
    const fixture = await caseFixture(t)
    const charge = await fixture.charge()
    const entry = paymentOf(charge, 'E1', { valueCents: told })
    await fixture.apply(charge.id, {
      on: 'partner.confirmed',
      payment: payment({ endToEndId: 'E1', valueCents: booked, occurredAt: entry.occurredAt }),
      transactionId: 'tx',
    })
    fixture.bank.answer = () => pageOf([entry])
    await fixture.sweep()
    await fixture.minutes(6)
    const before = (await balances(fixture.database)).available ?? 0n
    await fixture.decide('line_differs', decision).catch(() => undefined)
    await assertBooks(fixture.database)
    assert.equal((await balances(fixture.database)).available ?? 0n, before)
    assert.equal((await balances(fixture.database)).receivable ?? 0n, 0n)
  })
}

test('[cases.56] a line that is listed otherwise, decided, and then booked by an event leaves the books as the bank’s', async (t) => {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge(90_00n)
  const entry = (valueCents: bigint) =>
    paymentOf(charge, 'E1', {
      reference: '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
      valueCents,
      occurredAt: fixture.clock.now(),
    })
  fixture.bank.answer = () => pageOf([entry(100_00n)])
  await fixture.sweep()
  await fixture.minutes(6)
  fixture.bank.answer = () => pageOf([entry(90_00n)])
  await fixture.minutes(2)
  await fixture.decide('line_differs', 'write_off')
  fixture.bank.answer = () => pageOf([])
  const told = payment({ endToEndId: 'E1', valueCents: 90_00n, occurredAt: fixture.clock.now() })
  await fixture.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: null })
  await fixture.minutes(8)
  const offered = await fixture.offered('line_differs').catch(() => [])
  if (offered.length > 0) {
    await fixture.decide('line_differs', offered[0] as 'credit')
  }
  assert.equal((await balances(fixture.database)).settlement, -90_00n, 'the bank has 90')
})

test('[cases.54] a difference of a debit that was written off is not the merchant’s', async (t) => {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge()
  const left = { kind: 'PAYOUT_SENT', direction: 'out', reference: STRANGER } as const
  const tell = (valueCents: bigint) => {
    fixture.bank.answer = () =>
      pageOf([paymentOf(charge, 'E1', { ...left, valueCents, occurredAt: fixture.clock.now() })])
  }
  tell(100_00n)
  await fixture.sweep()
  await fixture.minutes(6)
  await fixture.decide('unexplained_debit', 'write_off')
  tell(90_00n)
  await fixture.minutes(2)
  assert.ok(
    !(await fixture.offered('line_differs')).includes('credit'),
    'credit is offered of what the merchant never bore',
  )
})

for (const decision of ['write_off', 'reverse'] as const) {
  test(`[cases.56] a line that is listed with another amount after its booking was reversed is money in suspense: ${decision}`, async (t) => {
    const fixture = await caseFixture(t)
    const { charge } = await creditMissing(fixture)
    await fixture.decide('line_missing', decision)
    fixture.bank.answer = () =>
      pageOf([paymentOf(charge, 'E1', { valueCents: 90_00n, occurredAt: fixture.clock.now() })])
    await fixture.minutes(20)
    fixture.bank.answer = () => pageOf([])
    for (let hour = 0; hour < 30; hour++) {
      fixture.clock.advance(3_600_000)
      await fixture.sweep()
    }
    assert.ok(
      (await cases(fixture.database)).includes('unexplained_credit'),
      'the bank has 90 that the books do not have',
    )
    fixture.bank.answer = () =>
      pageOf([paymentOf(charge, 'E1', { valueCents: 85_00n, occurredAt: fixture.clock.now() })])
    await fixture.minutes(2)
    await fixture.decide('line_differs', 'write_off')
    assert.equal((await balances(fixture.database)).settlement, -85_00n, 'the bank has 85')
    await assertBooks(fixture.database)
  })
}

test('[cases.51] a difference whose movement is booked meanwhile is not decided', async (t) => {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge(80_00n)
  const tell = async (valueCents: bigint, minutes: number) => {
    fixture.bank.answer = () =>
      pageOf([paymentOf(charge, 'E1', { reference: STRANGER, valueCents, occurredAt: fixture.clock.now() })])
    await fixture.minutes(minutes)
  }
  await tell(100_00n, 7)
  await tell(90_00n, 2)
  const order = await fixture.order('line_differs', 'write_off')
  await fixture.send({ ...order, dryRun: true })
  const told = payment({ endToEndId: 'E1', valueCents: 80_00n, occurredAt: fixture.clock.now() })
  await fixture.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: null })
  const done = await fixture.send(order).catch((error) => error.code)
  assert.deepEqual(done.effects?.accounts ?? done, 'case_changed')
})

test('[cases.57] an event that is being applied is not dismissed', async (t) => {
  const pix = await world(t, ALONE, { isStepped: true, ...bankWithout('query-charge', 'statement') })
  const made = await pix.charge('10.00')
  assert.equal(
    await postEvent(
      pix,
      JSON.stringify(paidEvent({ ...made, id: 'nobody', valueCents: 1000, providerTransactionId: 'x' })),
    ),
    200,
  )
  for (const wait of [0, 1_001, 5_001, 30_001, 60_001, 300_001, 900_001]) await pix.later(wait)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const { decideOn } = operatorOf(pix, ana)
  const [id] = await openCaseIdsOf(pix.database, 'event_set_aside')
  await decideOn(id ?? '', 'book', { operationId: made.id })
  const closed = await decideOn(id ?? '', 'close')
  await pix.later(0)
  assert.ok(closed.status !== 200 || Object.keys(await balances(pix.database)).length === 0, 'dismissed, and booked')
})

test('[cases.56] one line has one case', async (t) => {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge(90_00n)
  const tell = async (valueCents: bigint, minutes = 2) => {
    fixture.bank.answer = () =>
      pageOf([paymentOf(charge, 'E1', { reference: STRANGER, valueCents, occurredAt: fixture.clock.now() })])
    await fixture.minutes(minutes)
  }
  await tell(100_00n, 7)
  await tell(90_00n)
  await fixture.decide('line_differs', 'write_off')
  await tell(95_00n)
  await fixture.decide('line_differs', 'write_off')
  fixture.bank.answer = () => pageOf([])
  const told = payment({ endToEndId: 'E1', valueCents: 90_00n, occurredAt: fixture.clock.now() })
  await fixture.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: null })
  await fixture.minutes(8)
  await tell(110_00n)
  const ids = await openCaseIdsOf(fixture.database, 'line_differs')
  assert.equal(ids.length, 1, 'one open case about one line')
})

test('[cases.46] ask_again closes no other case, and takes two people where it ends its own', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0', PIXGATE_VERIFY_CREDITS_FROM_CENTS: '0' })
  const charge = await pix.charge('100', { expiration: 86_400 }).catch(() => pix.charge('100'))
  await pix.later(1_000)
  await forge(pix, charge.id)
  for (let minute = 0; minute < 20; minute++) await pix.later(60_000)
  const other = testEngine(t, pix.databaseUrl, undefined, undefined, undefined, pix.clock)
  await other.cashIns.apply(charge.id, { on: 'charge.contradicted', reason: 'other valueCents' })
  const { data } = await pix.read(`?operation_id=${charge.id}`)
  const unclear = data.find(({ kind }: { kind: string }) => kind === 'charge_unclear')
  const unconfirmed = data.find(({ kind }: { kind: string }) => kind === 'payment_unconfirmed')
  await pix.decide(unconfirmed.id, 'close', { dryRun: true })
  const asked = await pix.decide(unclear.id, 'ask_again')
  await pix.later(60_000)
  assert.deepEqual(
    [asked.status, asked.body.effects.closes],
    [202, [unclear.id]],
    'it decides its own case, by two people',
  )
})

test('[cases.5] a small decision closes no large case beside its own', async (t) => {
  const { pix, id, decide, casesOf } = await suspended(t, {
    payments: [1],
    environment: { PIXGATE_DESK_APPROVAL_FROM_CENTS: '10000', PIXGATE_VERIFY_CREDITS_FROM_CENTS: '500000' },
  })
  await forge(pix, id, 5_000_00)
  for (let minute = 0; minute < 20; minute++) await pix.later(60_000)
  const large = (await casesOf(id)).find(({ kind }: { kind: string }) => kind === 'payment_unconfirmed')
  const answer = await decide('write_off')
  for (let minute = 0; minute < 30; minute++) await pix.later(60_000)
  assert.ok(
    answer.status === 202 || !answer.body.effects.closes.includes(large.id),
    'a case of R$ 5000 was closed alone',
  )
})

test('[cash-in.credits.4] payments reported by events after ask_again have a case', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0', PIXGATE_VERIFY_CREDITS_FROM_CENTS: '0' })
  const charge = await pix.charge('100', { expiration: 86_400 }).catch(() => pix.charge('100'))
  await pix.later(1_000)
  const tell = async (name: string) => {
    await forge(pix, charge.id, 100_00, name)
    for (let minute = 0; minute < 20; minute++) await pix.later(60_000)
  }
  await tell('FIRST')
  const other = testEngine(t, pix.databaseUrl, undefined, undefined, undefined, pix.clock)
  await other.cashIns.apply(charge.id, { on: 'charge.contradicted', reason: 'other valueCents' })
  const { data } = await pix.read(`?operation_id=${charge.id}`)
  const unclear = data.find(({ kind }: { kind: string }) => kind === 'charge_unclear')
  const asked = await pix.decide(unclear.id, 'ask_again')
  assert.equal(asked.status, 202)
  await pix.say(unclear.id, asked.body.proposalId, true)
  await tell('OTHER')
  assert.ok((await cases(pix.database)).includes('payment_unconfirmed'))
})

for (const decision of ['write_off', 'return_to_payer', 'accept'] as const) {
  test(`[cash-in.cases.15] a charge whose credit was reversed is not PAID again by a decision about a later payment: ${decision}`, async (t) => {
    const pix = await world(t, ALONE, { isStepped: true })
    const charge = await pix.charge('100')
    await pix.later(1_000)
    await forge(pix, charge.id)
    await pix.until(`/api/pix/cash-in/${charge.id}`, ({ status }) => status === 'PAID')
    for (let minute = 0; minute < 12; minute++) await pix.later(60_000)
    const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
    const { decideOn } = operatorOf(pix, ana)
    const [missing] = await openCaseIdsOf(pix.database, 'line_missing')
    const reversed = await decideOn(missing ?? '', 'reverse')
    assert.equal(reversed.status, 200, JSON.stringify(reversed.body))
    await pix.bankAction(`charges/${charge.id}/pay`, { valueCents: 100_00 })
    for (let minute = 0; minute < 12; minute++) await pix.later(60_000)
    const [suspendedId] = await openCaseIdsOf(pix.database, 'payment_in_suspense')
    await turn(pix, true)
    const answer = await decideOn(suspendedId ?? '', decision, decision === 'write_off' ? {} : { amountCents: 100_00 })
    for (let minute = 0; minute < 5; minute++) await pix.later(60_000)
    const after = await pix.get(`/api/pix/cash-in/${charge.id}`)
    // It goes back, or to another charge: the merchant was notified of this one as paid, and as failed.
    if (decision === 'accept') return assert.deepEqual(codeOf(answer), [409, 'not_possible_in_state'])
    await pix.balance(200_00)
    await pix.call('POST', `/api/pix/refund-in/${charge.id}`, { refundValue: 100 })
    for (let minute = 0; minute < 5; minute++) await pix.later(60_000)
    assert.notEqual(after.status, 'PAID')
  })
}

test('[cash-in.cases.16] a credit is reversed once the payment beside it is decided', async (t) => {
  const pix = await world(t, ALONE, { isStepped: true })
  const charge = await pix.charge('100')
  await pix.later(1_000)
  await forge(pix, charge.id)
  await pix.until(`/api/pix/cash-in/${charge.id}`, ({ status }) => status === 'PAID')
  await pix.bankAction(`charges/${charge.id}/pay`, { valueCents: 100_00 })
  for (let minute = 0; minute < 12; minute++) await pix.later(60_000)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const { decideOn } = operatorOf(pix, ana)
  await turn(pix, true)
  await pix.behave({ refundIn: 'manual' })
  const [suspendedId] = await openCaseIdsOf(pix.database, 'payment_in_suspense')
  const returned = await decideOn(suspendedId ?? '', 'return_to_payer', { amountCents: 40_00 })
  await pix.later(1_000)
  const [missing] = await openCaseIdsOf(pix.database, 'line_missing')
  assert.deepEqual(codeOf(await decideOn(missing ?? '', 'reverse')), [409, 'not_possible_in_state'])
  await pix.bankAction(`refunds/${returned.body.refundId}/confirm`)
  for (let minute = 0; minute < 12; minute++) await pix.later(60_000)
  await pix.bankAction(`charges/${charge.id}/return`, { valueCents: 60_00, nature: 'MED_FRAUDE' })
  for (let minute = 0; minute < 12; minute++) await pix.later(60_000)
  assert.equal((await balances(pix.database)).suspense_in ?? 0n, 0n)
  assert.deepEqual(codeOf(await decideOn(missing ?? '', 'reverse')), [200, undefined])
  assert.deepEqual(await balances(pix.database), {})
  await pix.assertBooksAgree()
})

test('[cases.36] a case read as closed and opened again meanwhile is not decided', async (t) => {
  const at = await paidTwice(t)
  const restate = (valueCents: bigint) => at.pay(at.id, 'E1', valueCents)
  await restate(90_00n)
  await at.decide('bank_contradicts', 'close')
  const [{ id: caseId } = { id: '' }] = await at.database.rows(contradictions, [])
  const stored = (await readStoredCase(at.database, caseId)) ?? assert.fail()
  assert.notEqual(stored.closedAt, null)
  const { people, meanwhile } = betweenReadAndWrite()
  const never = (): never => assert.fail()
  const needs = {
    ...at,
    deciders: { cash_in: cashInDecider },
    dryRun: createDryRun(at),
    withoutOperation: {
      ids: at.ids,
      events: { read: never, accepts: never },
      statement: { accepts: never, attributionCommand: never },
      charges: { reversal: never },
    },
    operators: { people, deactivations: async () => 1n },
    approvalFromCents: 200_00,
  } as unknown as CaseNeeds
  meanwhile(() => restate(9_000_00n))
  const ordered = { decision: 'close', reason: 'a closed one', evidence: {} } as const
  const request = {
    caseId,
    version: String(stored.version),
    ordered,
    isDryRun: false,
    operator: MARIA,
    idempotencyKey: null,
  }
  const answer = await decide(needs, { ...request, bodyHash: Buffer.alloc(32), live: ALIVE }).then(
    ({ answer: one }) => one,
    (error) => error.code,
  )
  assert.ok(
    answer === 'case_changed' || answer === 'not_possible_in_state',
    'R$ 9000 were closed alone, under a version that was read closed',
  )
})

test('[cash-in.credits.4] payments reported by events keep their case when the bank answers about the charge', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_VERIFY_CREDITS_FROM_CENTS: '0' })
  const charge = await pix.charge('100')
  await pix.later(1_000)
  await forge(pix, charge.id)
  for (let minute = 0; minute < 20; minute++) await pix.later(60_000)
  const other = testEngine(t, pix.databaseUrl, undefined, undefined, undefined, pix.clock)
  await other.cashIns.apply(charge.id, { on: 'charge.unknown', reason: 'timeout' })
  pix.clock.advance(16 * 60_000)
  await other.cashIns.apply(charge.id, { on: 'charge.unknown', reason: 'timeout' })
  for (let minute = 0; minute < 30; minute++) await pix.later(60_000)
  assert.ok((await cases(pix.database)).includes('payment_unconfirmed'))
})

for (const decision of ['write_off', 'reverse'] as const) {
  test(`[cases.51] [statement.8] a movement listed during the decision that it is missing is not lost: ${decision}`, async (t) => {
    const fixture = await caseFixture(t)
    const { charge } = await creditMissing(fixture)
    const { people, meanwhile } = betweenReadAndWrite()
    const deciding = decidingAt(fixture, { people })
    const order = await deciding.order('line_missing', decision)
    const entry = paymentOf(charge, 'E1', { occurredAt: fixture.clock.now() })
    meanwhile(async () => {
      // The first page is read, the second one fails: what is listed is matched, and the reading is not whole.
      fixture.bank.answer = ({ cursor }) =>
        cursor ? ({ kind: 'UNKNOWN', reason: 'the bank is away' } as never) : pageOf([entry], 'next')
      fixture.clock.advance(60_000)
      await fixture.sweep()
    })
    await deciding.send(order).then(
      ({ outcome }) => outcome,
      (error) => error.code,
    )
    fixture.bank.answer = () => pageOf([entry])
    await fixture.minutes(30)
    const { settlement = 0n } = await balances(fixture.database)
    const open = (await cases(fixture.database)).filter((kind) => !kind.endsWith('(closed)'))
    assert.ok(
      settlement === -100_00n || open.length > 0,
      'the bank has 100 that the books do not have, and no case is open',
    )
  })
}

for (const decision of ['debit', 'write_off'] as const) {
  test(`[cases.15] a return id named as evidence for a return with its own id does not stand for a later return: ${decision}`, async (t) => {
    const { database, decide: decideIt, refunds, id, clock } = await paidTwice(t)
    const told = { valueCents: 30_00n, occurredAt: clock.now(), transactionId: null }
    await refunds.applyReturn(id, { ...told, returnId: 'D1', endToEndId: null })
    await decideIt('debit_in_suspense', decision, { evidence: { returnId: 'D2' } })
    await refunds.applyReturn(id, { ...told, returnId: 'D2', endToEndId: 'E1' })
    assert.equal((await balances(database)).settlement, -140_00n, 'the bank sent 30 twice')
  })
}

test('[cases.41] [cases.42] a proposal to write a loss off is not approved as a gain', async (t) => {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge(80_00n)
  const tell = async (valueCents: bigint, minutes: number) => {
    fixture.bank.answer = () =>
      pageOf([paymentOf(charge, 'E1', { reference: STRANGER, valueCents, occurredAt: fixture.clock.now() })])
    await fixture.minutes(minutes)
  }
  await tell(100_00n, 7)
  await tell(90_00n, 2)
  const bia: Person = {
    id: '0198c0de-7a11-7000-8000-00000000000b',
    name: 'Bia',
    role: 'approver',
    isActive: true,
    madeBy: null,
  }
  const never = (): never => assert.fail()
  const needs = {
    ...fixture,
    deciders: {},
    dryRun: createDryRun(fixture),
    withoutOperation: {
      ids: fixture.ids,
      events: { read: never, accepts: never },
      statement: fixture.statements.lines,
      charges: fixture,
    },
    operators: { people: async () => [...PEOPLE, bia], deactivations: async () => 1n },
    approvalFromCents: 0,
  } as unknown as CaseNeeds
  await makePeople(fixture, [...PEOPLE, bia])
  const { caseId, version } = await fixture.order('line_differs', 'write_off')
  const said = { caseId, bodyHash: Buffer.alloc(32), live: ALIVE }
  const ordered = { decision: 'write_off', reason: 'a loss', evidence: {} } as const
  const proposed = await decide(needs, {
    ...said,
    version,
    ordered,
    isDryRun: false,
    operator: MARIA,
    idempotencyKey: null,
  })
  const told = payment({ endToEndId: 'E1', valueCents: 80_00n, occurredAt: fixture.clock.now() })
  await fixture.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: null })
  const operator = { actor: bia.id, actorName: bia.name, address: '203.0.113.8' }
  const approved = await approve(needs, {
    ...said,
    operator,
    proposalId: proposed.answer.proposalId ?? '',
    reason: 'looked at it',
  }).catch((error) => error.code)
  assert.equal(approved, 'proposal_void')
})

for (const [kind, direction, told, decision] of [
  ['PAYMENT_RECEIVED', 'in', 110_00n, 'credit'],
  ['PAYMENT_RECEIVED', 'in', 90_00n, 'debit'],
  ['PAYOUT_SENT', 'out', 90_00n, 'credit'],
  ['PAYOUT_SENT', 'out', 110_00n, 'debit'],
] as const) {
  test(`[cases.54] an undecided difference of a line is not the merchant’s: ${kind} ${decision}`, async (t) => {
    const fixture = await caseFixture(t)
    const charge = await fixture.charge()
    const tell = async (valueCents: bigint, minutes: number) => {
      fixture.bank.answer = () =>
        pageOf([
          paymentOf(charge, 'E1', {
            kind,
            direction,
            reference: STRANGER,
            valueCents,
            occurredAt: fixture.clock.now(),
          }),
        ])
      await fixture.minutes(minutes)
    }
    await tell(100_00n, 7)
    await tell(told, 2)
    await fixture.decide('line_differs', decision).catch(() => undefined)
    const { available = 0n, receivable = 0n } = await balances(fixture.database)
    assert.deepEqual([available, receivable], [0n, 0n])
  })
}

test('[cases.41] a hand-over proposed as a credit is not approved as something else', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' })
  const charge = await pix.charge('10.00')
  const expiresAt = new Date(pix.clock.now() + 3_600_000).toISOString()
  const merchant = { pixKey: 'loja@example.com', name: 'Loja', city: 'Sao Paulo' }
  assert.equal((await pix.bank('PUT', `/charges/${STRANGER}`, { valueCents: 1000, expiresAt, merchant })).status, 201)
  await pix.bankAction(`charges/${STRANGER}/pay`)
  for (let minute = 0; minute < 10; minute += 1) await pix.later(60_000)
  const [id = ''] = await openCaseIdsOf(pix.database, 'unexplained_credit')
  const proposed = await pix.decide(id, 'book', { operationId: charge.id })
  assert.equal(proposed.status, 202, JSON.stringify(proposed.body))
  await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.later(1_000)
  await pix.until(`/api/pix/cash-in/${charge.id}`, ({ status }) => status === 'PAID')
  const approved = await pix.say(id, proposed.body.proposalId, true)
  assert.ok(
    approved.status !== 200 || isDeepStrictEqual(approved.body.effects.accounts, proposed.body.effects.accounts),
  )
})

test('[cases.5] a possible second return of a payout keeps its case when the first is decided', async (t) => {
  const { database, decide: decideIt, leave, cashOuts, id, clock } = await sent(t)
  await leave('E9', 30_00n)
  const back = (returnId: string) => returned({ returnId, valueCents: 10_00n, occurredAt: clock.now() })
  await cashOuts.apply(id, [{ ...back('unnamed 1'), isUnnamed: true }])
  await cashOuts.apply(id, [back('D1')])
  assert.deepEqual((await cases(database)).toSorted(), ['bank_contradicts', 'return_in_suspense'])
  await decideIt('return_in_suspense', 'write_off')
  assert.ok((await cases(database)).includes('bank_contradicts'), `R$ 10.00 have no case: ${await cases(database)}`)
})
