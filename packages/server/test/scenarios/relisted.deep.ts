import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { CaseDecision } from '@pixgate/spec'
import type { StatementEntry } from '../../src/banks/port.ts'
import { type CaseNeeds, decide } from '../../src/cases/decide.ts'
import { readStoredCase } from '../../src/cases/store.ts'
import { createDryRun } from '../../src/engine/dry-run.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { refundInDecider } from '../../src/refund-in/index.ts'
import { createCashInDecider, createPayableHeldDecider } from '../../src/refund-in/to-payer.ts'
import { pageOf, paymentOf } from '../bank-statement/fixture.ts'
import { caseFixture, creditMissing, MARIA, makePeople, PEOPLE } from '../cases/without-operation/fixture.ts'
import { balances } from '../support/books.ts'
import { payment } from '../support/engine.ts'
import { cases, openCaseIdsOf } from '../support/evidence.ts'
import { MADE_BY, refundTerms } from '../support/limits.ts'
import { ALIVE } from '../support/live-request.ts'

/**
 * A payment that the bank's statement lacked was reversed or written off, and then the bank lists it: an adjustment has it from then on,
 * whatever is reported of it under its charge.
 */

/** Charges, a statement, and decisions that one person takes. */
async function deciding(t: TestContext) {
  const fixture = await caseFixture(t)
  await makePeople(fixture, PEOPLE)
  const terms = { terms: refundTerms(), isUnsupported: false, isNearRestore: () => false }
  const events = { read: async () => undefined, accepts: async () => false }
  const { lines: statement } = fixture.statements
  const needs = {
    ...fixture,
    withoutOperation: { ...fixture, events, statement, charges: fixture },
    deciders: {
      adjustment: createPayableHeldDecider(terms, statement),
      cash_in: createCashInDecider(terms),
      refund_in: refundInDecider,
    },
    dryRun: createDryRun(fixture),
    operators: { people: async () => PEOPLE, deactivations: async () => 1n },
    approvalFromCents: Number.MAX_SAFE_INTEGER,
  } as unknown as CaseNeeds
  const say = async (kind: string, decision: CaseDecision, amountCents?: bigint) => {
    const [caseId = assert.fail(`no case ${kind}`)] = await openCaseIdsOf(fixture.database, kind)
    const { version } = (await readStoredCase(fixture.database, caseId)) ?? assert.fail()
    const ordered = { decision, reason: 'as the bank says', evidence: {}, ...(amountCents && { amountCents }) }
    const request = {
      caseId,
      version: String(version),
      ordered,
      isDryRun: false,
      operator: MARIA,
      idempotencyKey: null,
    }
    return (await decide(needs, { ...request, bodyHash: Buffer.alloc(32), live: ALIVE })).answer
  }
  const allowPayouts = () =>
    fixture.engine.execute({
      reads: [],
      controls: ['cash_out_switch'],
      decide: () => ({
        controls: { cash_out_switch: { enabled: true, reason: 'checked', changedAt: '2026-11-21T13:00:00.000Z' } },
        outcome: undefined,
      }),
    })
  const open = async () => (await cases(fixture.database)).filter((kind) => !kind.endsWith('(closed)'))
  return { ...fixture, say, allowPayouts, open }
}

/** A payment of R$ 100,00 that the bank listed only after it was decided to be missing. */
async function relisted(t: TestContext, decision: CaseDecision = 'reverse') {
  const fixture = await deciding(t)
  const { charge, occurredAt } = await creditMissing(fixture)
  await fixture.say('line_missing', decision)
  const lines: StatementEntry[] = [paymentOf(charge, 'E1', { occurredAt })]
  fixture.bank.answer = () => pageOf(lines)
  await fixture.minutes(20)
  const back = { kind: 'PAYMENT_TAKEN_BACK', direction: 'out', movementId: 'D1', endToEndId: 'E1' } as const
  const listReturn = (valueCents = 100_00n) =>
    lines.push(paymentOf(charge, 'E1', { ...back, valueCents, occurredAt: fixture.clock.now() }))
  const reportReturn = (valueCents: bigint) => {
    const returned = {
      returnId: 'D1',
      valueCents,
      transactionId: null,
      endToEndId: 'E1',
      occurredAt: fixture.clock.now(),
    }
    return fixture.refunds.applyReturn(charge.id, returned)
  }
  return { ...fixture, chargeId: charge.id, listReturn, reportReturn }
}

for (const way of ['the statement', 'an event'] as const) {
  test(`[statement.10] [adjustment.held.8] a payment that was listed after its reversal is taken back by its bank, reported by ${way}`, async (t) => {
    const { reportReturn, listReturn, minutes, open, database } = await relisted(t)
    listReturn()
    if (way === 'an event') await reportReturn(100_00n)
    await minutes(40)
    assert.deepEqual([await balances(database), await open()], [{}, []])
  })
}

for (const decision of ['reverse', 'write_off'] as const) {
  test(`[adjustment.held.9] [cases.3] our refund of it is confirmed once, whatever is reported under its charge: ${decision}`, async (t) => {
    const { say, refunds, allowPayouts, reportReturn, clock, database } = await relisted(t, decision)
    await allowPayouts()
    const before = await balances(database)
    const { refundId } = await say('unexplained_credit', 'return_to_payer', 40_00n)
    const id = refundId ?? assert.fail()
    await refunds.apply(id, [{ on: 'send.claimed', leaseMs: 10_000 }])
    await refunds.apply(id, [{ on: 'send.unknown', reason: 'timeout' }])
    await reportReturn(40_00n)
    const returned = { returnId: 'D1', valueCents: 40_00n, occurredAt: clock.now() }
    const confirmed = { on: 'partner.confirmed', returned, transactionId: 'tx-r', isVerified: true } as const
    assert.equal((await refunds.apply(id, [confirmed]))?.refund.status, 'CONFIRMED')
    const { available, suspense_in: left } = await balances(database)
    assert.deepEqual([available, left], [before.available, 60_00n])
  })
}

test('[adjustment.held.6] it is returned to its payer, though an earlier refund of it was refused', async (t) => {
  const { say, refunds, apply, sweep, minutes, bank, clock, allowPayouts, ...fixture } = await deciding(t)
  const charge = await fixture.charge()
  await sweep()
  const failed = { errorCode: 'removed', errorMessage: null, transactionId: 'tx', occurredAt: null, isVerified: true }
  await apply(charge.id, { on: 'partner.failed', ...failed })
  const at = { occurredAt: clock.now() }
  await apply(charge.id, {
    on: 'partner.confirmed',
    payment: payment({ endToEndId: 'E1', ...at }),
    transactionId: 'tx',
  })
  const { refundId } = await say('payment_in_suspense', 'return_to_payer', 100_00n)
  await refunds.refuse(refundId ?? '', { on: 'operator.refused', approver: MARIA, reason: 'not yet' }, ALIVE)
  await say('payment_in_suspense', 'accept', 100_00n)
  await minutes(10)
  await say('line_missing', 'reverse')
  bank.answer = () => pageOf([paymentOf(charge, 'E1', at)])
  await minutes(20)
  await allowPayouts()
  assert.notEqual((await say('unexplained_credit', 'return_to_payer', 100_00n)).refundId, null)
})

for (const way of ['the statement', 'an event'] as const) {
  test(`[cash-in.refunds.9] [refund-in.states.3] written off as missing and then listed, a refund of the merchant is its own, reported by ${way}`, async (t) => {
    const { chargeId, refunds, ids, allowPayouts, listReturn, reportReturn, minutes, clock, database } = await relisted(
      t,
      'write_off',
    )
    await allowPayouts()
    const before = await balances(database)
    const id = ids.uuid()
    const wanted = { id, cashInId: chargeId, externalId: id, valueCents: 40_00n, reason: null, correlationId: 'test' }
    await refunds.create({ ...wanted, idempotencyKey: null, madeBy: MADE_BY, bodyHash: sha256(id) })
    await refunds.apply(id, [{ on: 'send.claimed', leaseMs: 10_000 }])
    await refunds.apply(id, [{ on: 'send.unknown', reason: 'timeout' }])
    if (way === 'an event') await reportReturn(40_00n)
    else listReturn(40_00n)
    await minutes(3)
    const returned = { returnId: 'D1', valueCents: 40_00n, occurredAt: clock.now() }
    const confirmed = { on: 'partner.confirmed', returned, transactionId: 'tx-r', isVerified: true } as const
    assert.equal((await refunds.apply(id, [confirmed]))?.refund.status, 'CONFIRMED')
    const { available = 0n, suspense_in: held } = await balances(database)
    assert.deepEqual([(before.available ?? 0n) - available, held], [40_00n, 100_00n])
  })
}

test('[adjustment.held.8] a return of it reported without its id is booked once, by its id', async (t) => {
  const { refunds, chargeId, listReturn, minutes, clock, database } = await relisted(t)
  const unnamed = { returnId: 'unnamed 1', isUnnamed: true, transactionId: null, endToEndId: 'E1' } as const
  await refunds.applyReturn(chargeId, { ...unnamed, valueCents: 40_00n, occurredAt: clock.now() })
  listReturn(40_00n)
  await minutes(40)
  assert.equal((await balances(database)).suspense_in, 60_00n)
})
