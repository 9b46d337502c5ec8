import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import { pino } from 'pino'
import type { Person } from '../../src/access/index.ts'
import { Differences } from '../../src/bank-statement/differences.ts'
import { createStatementStore } from '../../src/bank-statement/store.ts'
import { createTripWire } from '../../src/bank-statement/trip-wire.ts'
import { approve, type CaseNeeds, decide } from '../../src/cases/decide.ts'
import { readStoredCase } from '../../src/cases/store.ts'
import { cashOutDecider } from '../../src/cash-out/index.ts'
import { createDryRun } from '../../src/engine/dry-run.ts'
import { statement } from '../../src/platform/db/database.ts'
import { pageOf, paymentOf } from '../bank-statement/fixture.ts'
import { caseWorld as engineWorld, sent } from '../cases/engine-fixture.ts'
import { caseWorld } from '../cases/fixture.ts'
import { caseFixture, creditMissing, MARIA, makePeople, PEOPLE } from '../cases/without-operation/fixture.ts'
import { returned } from '../cash-out/situations.ts'
import { INPUTS as REFUND_INPUTS } from '../refund-in/situations.ts'
import { balances } from '../support/books.ts'
import { decideOn } from '../support/deciding.ts'
import { payment, testEngine } from '../support/engine.ts'
import { cases, openCaseIdsOf } from '../support/evidence.ts'
import { ALIVE } from '../support/live-request.ts'
import { makeOperator } from '../support/operators.ts'
import { world } from '../support/world.ts'

/** Ends of cases: none becomes undecidable, and none is closed by a case beside it. */

const DONE = { on: 'work.done', bankAnswer: {}, isAnswered: true, hasOutcome: true } as const
const BIA = '0198c0de-7a11-7000-8000-00000000000b'
const CLAIM = { on: 'work.claimed', leaseMs: 60_000 } as const

async function open(database: Parameters<typeof cases>[0]): Promise<string[]> {
  return (await cases(database)).filter((kind) => !kind.endsWith('(closed)'))
}

for (const again of ['charge.contradicted'] as const) {
  test(`[cash-in.cases.12] a charge that the bank contradicts again after a query has its case again`, async (t) => {
    const { database, decide, charge, cashIns } = await engineWorld(t)
    const id = await charge('a')
    await cashIns.apply(id, { on: 'charge.contradicted', reason: 'other valueCents' })
    assert.deepEqual(await cases(database), ['charge_unclear'])
    assert.equal((await decide('charge_unclear', 'ask_again')).status, 'PENDING')
    await cashIns.apply(id, CLAIM)
    await cashIns.apply(id, { on: again, reason: 'other valueCents' })
    const after = await cashIns.apply(id, DONE)
    assert.deepEqual([after?.cashIn.status, await open(database)], [after?.cashIn.status, ['charge_unclear']])
  })
}

for (const isAsked of [false, true]) {
  test(`[cash-in.expired.5] a charge whose end is unknown for too long is a case, ${isAsked ? 'also after' : 'without'} a query about a payment`, async (t) => {
    const { database, decide, charge, cashIns, clock } = await engineWorld(t)
    const id = await charge('a')
    const told = payment({ endToEndId: 'E1', occurredAt: clock.now() })
    await cashIns.apply(id, { on: 'partner.confirmed', payment: told, transactionId: id, unverified: 'query' })
    const work = async () => {
      await cashIns.apply(id, CLAIM)
      await cashIns.apply(id, { ...DONE, hasOutcome: false })
    }
    clock.advance(16 * 60_000)
    await work()
    assert.deepEqual(await open(database), ['payment_unconfirmed'])
    if (isAsked) await decide('payment_unconfirmed', 'ask_again')
    await work()
    clock.advance(3 * 3_600_000)
    await work()
    assert.deepEqual((await open(database)).toSorted(), ['charge_unclear', 'payment_unconfirmed'])
  })
}

for (const way of ['the bank tells it', 'the statement lists both'] as const) {
  test(`[cash-in.refunds.9] a return of a payment whose credit was reversed is not debited from the merchant: ${way}`, async (t) => {
    const fixture = await caseFixture(t)
    const charge = await fixture.charge()
    await fixture.sweep()
    const occurredAt = fixture.clock.now()
    await fixture.apply(charge.id, {
      on: 'partner.confirmed',
      payment: payment({ endToEndId: 'E1', occurredAt }),
      transactionId: 'tx',
    })
    await fixture.minutes(10)
    await fixture.decide('line_missing', 'reverse')
    const second = payment({ endToEndId: 'E2', occurredAt: fixture.clock.now() })
    const listed = [paymentOf(charge, 'E2', { occurredAt: fixture.clock.now() })]
    fixture.bank.answer = () => pageOf(listed)
    await fixture.apply(charge.id, { on: 'partner.confirmed', payment: second, transactionId: 'tx' })
    await fixture.minutes(5)
    const before = await balances(fixture.database)
    if (way === 'the bank tells it') {
      const told = { returnId: 'D1', valueCents: 100_00n, occurredAt: fixture.clock.now(), transactionId: null }
      await fixture.refunds.applyReturn(charge.id, { ...told, endToEndId: 'E1' })
    } else {
      const at = { occurredAt: fixture.clock.now() }
      const back = { kind: 'PAYMENT_TAKEN_BACK', direction: 'out', movementId: 'D1', endToEndId: 'E1' } as const
      fixture.bank.answer = () =>
        pageOf([...listed, paymentOf(charge, 'E1', at), paymentOf(charge, 'E1', { ...at, ...back })])
      await fixture.minutes(30)
    }
    const after = await balances(fixture.database)
    const ofMerchant = ({ available = 0n, receivable = 0n }: Record<string, bigint>) => available + receivable
    assert.deepEqual(
      [ofMerchant(after), await open(fixture.database)],
      [ofMerchant(before), await open(fixture.database)],
    )
  })
}

for (const decision of ['write_off', 'reverse'] as const) {
  for (const [told, expected] of [
    [95_00n, -95_00n],
    [100_00n, -100_00n],
  ] as const) {
    test(`[cases.56] a line that is listed again with another amount after ${decision}, and then as ${told}: the books become the bank’s`, async (t) => {
      const fixture = await caseFixture(t)
      const { charge } = await creditMissing(fixture)
      await fixture.decide('line_missing', decision)
      const tell = async (valueCents: bigint, minutes: number) => {
        fixture.bank.answer = () => pageOf([paymentOf(charge, 'E1', { valueCents, occurredAt: fixture.clock.now() })])
        await fixture.minutes(minutes)
      }
      await tell(90_00n, 20)
      assert.deepEqual(await open(fixture.database), ['unexplained_credit'])
      assert.equal((await balances(fixture.database)).settlement, -90_00n)
      await tell(told, 3)
      const offered = await fixture.offered('line_differs')
      assert.ok(!offered.includes('debit'), `a debit of the merchant is offered where the bank has more: ${offered}`)
      await fixture.decide('line_differs', offered.includes('write_off') ? 'write_off' : 'close')
      await fixture.minutes(10)
      const { settlement } = await balances(fixture.database)
      const left = (await open(fixture.database)).filter((kind) => kind === 'line_differs')
      assert.ok(settlement === expected || left.length > 0, `the bank has ${-expected}, the books ${settlement}`)
    })
  }
}

test('[cases.54] the merchant is not debited for a line on which the bank has more than the books', async (t) => {
  const fixture = await caseFixture(t)
  const { charge } = await creditMissing(fixture)
  await fixture.decide('line_missing', 'write_off')
  const tell = async (valueCents: bigint, minutes: number) => {
    fixture.bank.answer = () => pageOf([paymentOf(charge, 'E1', { valueCents, occurredAt: fixture.clock.now() })])
    await fixture.minutes(minutes)
  }
  await tell(90_00n, 20)
  const { available: before } = await balances(fixture.database)
  await tell(95_00n, 3)
  await fixture.decide('line_differs', 'debit').catch(() => undefined)
  assert.equal((await balances(fixture.database)).available, before)
})

test('[cases.56] a difference closed by the bank’s correction opens again when the bank reverts it', async (t) => {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge(90_00n)
  const entry = (valueCents: bigint) => paymentOf(charge, 'E1', { valueCents })
  await fixture.apply(charge.id, {
    on: 'partner.confirmed',
    payment: payment({ endToEndId: 'E1', valueCents: 90_00n, occurredAt: entry(0n).occurredAt }),
    transactionId: 'tx',
  })
  const tell = async (valueCents: bigint, minutes: number) => {
    fixture.bank.answer = () => pageOf([{ ...entry(valueCents), occurredAt: fixture.clock.now() }])
    await fixture.minutes(minutes)
  }
  await tell(100_00n, 7)
  assert.deepEqual(await open(fixture.database), ['line_differs'])
  await tell(90_00n, 2)
  assert.deepEqual(await fixture.offered('line_differs'), ['close'])
  await fixture.decide('line_differs', 'close')
  await tell(100_00n, 10)
  assert.equal((await balances(fixture.database)).settlement, -90_00n)
  assert.deepEqual(await open(fixture.database), ['line_differs'], 'the bank has 10 more than the books')
})

test('[cases.13] [cases.15] a return id named by an operator for a return without one proves no refund', async (t) => {
  const { database, decide, charge, pay, refund, refunds, clock } = await engineWorld(t)
  const id = await charge('a')
  await pay(id, 'E1')
  const told = { valueCents: 40_00n, occurredAt: clock.now(), transactionId: null, endToEndId: 'E1' }
  await refunds.applyReturn(id, { ...told, returnId: 'unnamed 1', isUnnamed: true })
  await decide('debit_in_suspense', 'debit', { evidence: { returnId: 'D1' } })
  const refundId = await refund(id)
  await refunds.apply(refundId, [REFUND_INPUTS['send.contradicted']])
  const answer = await decide('outcome_unknown', 'executed', { evidence: { returnId: 'D1' } }).then(
    ({ status }) => status,
    (error) => error.code,
  )
  const { settlement } = await balances(database)
  assert.deepEqual([answer, settlement], ['not_possible_in_state', -60_00n], 'the bank sent D1 once')
})

test('[ledger.suspense] a contradicted return of a payout keeps its case when the payout is confirmed', async (t) => {
  const { database, decide, leave, cashOuts, id, clock } = await sent(t)
  await leave('E9', 20_00n)
  const back = (valueCents: bigint) => returned({ returnId: 'D1', valueCents, occurredAt: clock.now() })
  await cashOuts.apply(id, [back(10_00n)])
  await cashOuts.apply(id, [back(15_00n)])
  assert.deepEqual((await open(database)).toSorted(), ['bank_contradicts', 'debit_in_suspense', 'return_in_suspense'])
  await decide('debit_in_suspense', 'write_off')
  await decide('return_in_suspense', 'write_off')
  assert.deepEqual((await open(database)).toSorted(), ['bank_contradicts', 'outcome_unknown'])
  await leave('E1', 30_00n)
  assert.deepEqual(await open(database), ['bank_contradicts'])
})

test('[cash-in.credits.5] the case of twenty reported payments closes when the bank confirms them', async (t) => {
  const { database, charge, cashIns, clock } = await engineWorld(t)
  const id = await charge('a')
  const told = (nth: number) => payment({ endToEndId: `E${nth}`, occurredAt: clock.now() })
  for (let nth = 0; nth < 20; nth++) {
    const input = { on: 'partner.confirmed', payment: told(nth), transactionId: id } as const
    await cashIns.apply(id, { ...input, unverified: 'query' })
  }
  assert.deepEqual(await open(database), ['payment_unconfirmed'])
  for (let nth = 0; nth < 20; nth++) {
    await cashIns.apply(id, { on: 'partner.confirmed', payment: told(nth), transactionId: id })
  }
  assert.ok(!(await open(database)).includes('payment_unconfirmed'), 'all are confirmed')
})

test('[cases.41] a proposal to fail a charge is not approved as its expiry', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const charge = await pix.charge('100')
  const other = testEngine(t, pix.databaseUrl, undefined, undefined, undefined, pix.clock)
  await other.cashIns.apply(charge.id, { on: 'charge.contradicted', reason: 'other valueCents' })
  const { data } = await pix.read(`?operation_id=${charge.id}`)
  const proposed = await pix.decide(data[0].id, 'close')
  assert.equal(proposed.status, 202, JSON.stringify(proposed.body))
  pix.clock.advance(3 * 86_400_000)
  const approved = await pix.say(data[0].id, proposed.body.proposalId, true)
  const { operations, notifications } = proposed.body.effects
  assert.deepEqual(
    approved.status === 200 && [approved.body.effects.operations, approved.body.effects.notifications],
    approved.status === 200 && [operations, notifications],
  )
})

for (const sentAgain of ['after the case was read', 'while it is proposed', 'after it was proposed']) {
  test(`[cases.36] [cases.42] [engine.22] a payout that is sent again ${sentAgain} is not decided as not executed`, async (t) => {
    const at = await sent(t)
    const { database, cashOuts, id, clock } = at
    const unknown = { on: 'send.unknown', reason: 'timeout' } as const
    await cashOuts.apply(id, [unknown])
    clock.advance(16 * 60_000)
    await cashOuts.apply(id, [unknown])
    const [caseId = ''] = await openCaseIdsOf(database, 'outcome_unknown')
    const stored = (await readStoredCase(database, caseId)) ?? assert.fail()
    const bia: Person = { id: BIA, name: 'Bia', role: 'approver', isActive: true, madeBy: null }
    await makePeople(at, [...PEOPLE, bia])
    const sendAgain = async () => {
      const again = { askedAt: clock.now(), windowMs: 86_400_000 }
      const claimed = await cashOuts.apply(id, [{ on: 'send.claimed', leaseMs: 5_000, again }])
      assert.equal(claimed?.result, 'APPLIED')
      await cashOuts.apply(id, [unknown])
    }
    let readings = 0
    const people = async () => {
      readings += 1
      // The second reading is for storing the proposal.
      if (sentAgain === 'while it is proposed' && readings === 2) await sendAgain()
      return [...PEOPLE, bia]
    }
    const needs = {
      ...at,
      deciders: { cash_out: cashOutDecider },
      dryRun: createDryRun(at),
      operators: { people, deactivations: async () => 1n },
      approvalFromCents: 0,
    } as unknown as CaseNeeds
    const said = { caseId, bodyHash: Buffer.alloc(32), live: ALIVE, version: String(stored.version) }
    const ordered = { decision: 'not_executed', reason: 'the bank says that nothing left', evidence: {} } as const
    const decided = async () => {
      if (sentAgain === 'after the case was read') await sendAgain()
      clock.advance(6 * 60_000)
      const { answer } = await decide(needs, {
        ...said,
        ordered,
        isDryRun: false,
        operator: MARIA,
        idempotencyKey: null,
      })
      if (sentAgain === 'after it was proposed') await sendAgain()
      clock.advance(6 * 60_000)
      const operator = { actor: BIA, actorName: 'Bia', address: '203.0.113.8' }
      const { proposalId } = answer
      return approve(needs, { ...said, operator, proposalId: proposalId ?? '', reason: 'looked at it' })
    }
    const code = sentAgain === 'after it was proposed' ? 'proposal_void' : 'case_changed'
    await assert.rejects(decided(), (error) => error instanceof Refusal && error.code === code)
  })
}

test('[cases.41] the creator of the proposer approves nothing of theirs, under any token', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const carl = { authorization: `Bearer ${await makeOperator(pix, 'admin', 'Carl')}` }
  const make = async (role: string, name: string) => {
    const { status, body } = await pix.call('POST', '/operator/operators', { name, role }, carl)
    assert.equal(status, 201, JSON.stringify(body))
    return { authorization: `Bearer ${body.token}` }
  }
  const [dan, carlAgain] = [await make('operator', 'Dan'), await make('approver', 'Carl')]
  const asked = { valueCents: 1_000_00, reason: 'opening balance' }
  const proposed = await pix.call('POST', '/operator/adjustments', asked, dan)
  assert.equal(proposed.status, 202, JSON.stringify(proposed.body))
  const path = `/operator/cases/${proposed.body.caseId}/proposals/${proposed.body.proposalId}`
  const approved = await pix.call('PUT', path, { approved: true, reason: 'looked at it' }, carlAgain)
  assert.deepEqual([approved.status, await balances(pix.database)], [403, {}])
})

for (const first of ['payment_in_suspense', 'charge_unclear'] as const) {
  test(`[cash-in.cases.13] a charge without an answer, paid otherwise, ends whichever case is decided first: ${first}`, async (t) => {
    const { database, decide, charge, pay, cashIns, clock } = await engineWorld(t)
    const id = await charge('a')
    await cashIns.apply(id, { on: 'charge.unknown', reason: 'timeout' })
    clock.advance(16 * 60_000)
    await cashIns.apply(id, { on: 'charge.unknown', reason: 'timeout' })
    assert.deepEqual(await open(database), ['charge_unclear'])
    await pay(id, 'E1', 150_00n)
    assert.deepEqual((await open(database)).toSorted(), ['charge_unclear', 'payment_in_suspense'])
    const accept = () => decide('payment_in_suspense', 'accept', { amountCents: 150_00n })
    const answers: unknown[] = []
    const attempt = async (decision: 'ask_again' | 'close') => {
      answers.push(
        await decide('charge_unclear', decision).then(
          ({ status }) => `${decision} ${status}`,
          (error) => `${decision} ${error.code ?? error}`,
        ),
      )
    }
    if (first === 'charge_unclear') await attempt('close')
    await accept()
    if (first === 'payment_in_suspense') {
      await attempt('ask_again')
      // The bank answers clearly: it has the charge, and that it was paid.
      await cashIns.apply(id, CLAIM)
      await cashIns.apply(id, { on: 'charge.accepted', transactionId: id })
      await pay(id, 'E1', 150_00n)
      await cashIns.apply(id, DONE)
      await attempt('close')
    }
    const status = (await cashIns.apply(id, { on: 'work.requested' }))?.cashIn.status
    assert.deepEqual([status, await open(database)], ['PAID', []], answers.join(', '))
  })
}

test('[cash-in.cases.16] the credit of a charge that had failed before can be reversed', async (t) => {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge()
  await fixture.sweep()
  const failed = { errorCode: 'removed', errorMessage: null, transactionId: 'tx', occurredAt: null, isVerified: true }
  await fixture.apply(charge.id, { on: 'partner.failed', ...failed })
  const paid = payment({ endToEndId: 'E1', occurredAt: fixture.clock.now() })
  await fixture.apply(charge.id, { on: 'partner.confirmed', payment: paid, transactionId: 'tx' })
  const accepted = await decideOn(fixture, 'payment_in_suspense', 'accept', { amountCents: 100_00n })
  assert.equal(accepted.status, 'PAID')
  await fixture.minutes(10)
  assert.deepEqual(await fixture.offered('line_missing'), ['reverse', 'write_off'])
  const answer = await fixture.decide('line_missing', 'reverse').then(
    ({ outcome }) => outcome,
    (error) => error.code ?? String(error),
  )
  assert.deepEqual([answer, await balances(fixture.database)], ['decided', {}])
})

const gapsOf = statement<[], { id: string }>('test.gaps', 'SELECT id FROM statement_gap')

test('[statement.8] a missing movement that another process reads meanwhile leaves no permanent case', async (t) => {
  const fixture = await caseFixture(t)
  const charge = await fixture.charge()
  await fixture.sweep()
  const paid = payment({ endToEndId: 'E1', occurredAt: fixture.clock.now() })
  await fixture.apply(charge.id, { on: 'partner.confirmed', payment: paid, transactionId: 'tx' })
  while ((await fixture.database.rows(gapsOf, [])).length === 0) await fixture.minutes(1)
  assert.deepEqual(await open(fixture.database), [])
  fixture.clock.advance(60_000)
  const logger = pino({ level: 'silent' })
  const store = createStatementStore(fixture.database)
  const standing = new Differences({
    store: {
      ...store,
      gapsToReport: async (...given: Parameters<typeof store.gapsToReport>) => {
        const gaps = await store.gapsToReport(...given)
        assert.equal(gaps.length, 1)
        // It stands still for longer than its lease; another process reads what the bank lists by now.
        fixture.bank.answer = () => pageOf([paymentOf(charge, 'E1', { occurredAt: paid.occurredAt })])
        fixture.clock.advance(61_000)
        while (await fixture.others.processNext());
        return gaps
      },
    },
    partner: fixture.bank,
    receivers: {} as never,
    tripWire: createTripWire({ ...fixture, logger }),
    engine: fixture.engine,
    ids: fixture.ids,
    logger,
    isAccountShared: false,
  })
  await standing.findGaps(fixture.clock.now(), 0)
  await fixture.minutes(30)
  const left = await open(fixture.database)
  const offered = left.length === 0 ? [] : await fixture.offered('line_missing')
  assert.ok(left.length === 0 || offered.length > 0, `${left}, and nothing is offered`)
})

for (const isContradicted of [false, true]) {
  test(`[cash-in.cases.15] a bank without a statement is queried for late payments of a charge that an operator closed as unpaid ${isContradicted ? 'in doubt' : 'while it was pending'}`, async (t) => {
    const { database, decide, charge, cashIns, clock } = await engineWorld(t)
    const id = await charge('a')
    await cashIns.apply(id, { on: 'charge.accepted', transactionId: id })
    if (isContradicted) await cashIns.apply(id, { on: 'charge.contradicted', reason: 'other valueCents' })
    clock.advance(3 * 3_600_000)
    await cashIns.apply(id, CLAIM)
    await cashIns.apply(id, { ...DONE, hasOutcome: false })
    assert.deepEqual(await open(database), ['charge_unclear'])
    const after = await decide('charge_unclear', 'close')
    assert.equal(after.status, 'EXPIRED')
    assert.notEqual(after.dueAt, null, 'it is asked for late payments')
  })
}

test('[cash-out.approval.2] an operator created by the creator of an API key approves no payout of that key', async (t) => {
  const pix = await world(t, { PIXGATE_APPROVAL_FROM_CENTS: '1000' }, { isStepped: true })
  await pix.paid('100.00')
  const carl = { authorization: `Bearer ${await makeOperator(pix, 'admin', 'Carl')}` }
  const { apiKey } = (await pix.call('POST', '/api-key/generate', undefined, carl)).body
  const zed = (await pix.call('POST', '/operator/operators', { name: 'Zed', role: 'approver' }, carl)).body
  const transaction = { value: 10, externalId: 'of-the-key' }
  const recipient = { pixKey: 'joao@example.com', pixKeyType: 'email', name: 'João Souza', document: '111.444.777-35' }
  const key = { authorization: `Bearer ${apiKey}` }
  const { body: payout } = await pix.call('POST', '/api/pix/cash-out', { transaction, recipient }, key)
  assert.equal(payout.status, 'RESERVED', JSON.stringify(payout))
  const said = { approved: true, reason: 'checked' }
  const token = { authorization: `Bearer ${zed.token}` }
  const { status } = await pix.call('PUT', `/operator/approvals/${payout.id}`, said, token)
  assert.equal(status, 403, 'Carl saw both tokens, and the rows say so')
})
