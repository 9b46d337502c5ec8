import assert from 'node:assert/strict'
import test from 'node:test'
import type { CashOutInput } from '../../src/cash-out/cash-out.ts'
import { reasonOf } from '../../src/engine/follow.ts'
import { balances } from '../support/books.ts'
import { caseFacts, cases, notifiedStatuses } from '../support/evidence.ts'
import { CONFIRMED, FAILED, NOT_FOUND, PROCESSING, payout, RETURNED, TIMEOUT } from './bank-answers.ts'
import { type CashOutFixture, cashOutFixture } from './fixture.ts'
import { confirmed, INPUTS, returned } from './situations.ts'

/** Words of the bank that come at a bad moment: while another one is under way, too late, or too early. */

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Before the fixture's clock, so that it is believed. */
const AT = 1_700_000_000_000

const leaves = confirmed({ occurredAt: AT }, false)
const answered = confirmed({ occurredAt: AT })
const comesBack = returned({ occurredAt: AT }, false)
const fails = { ...INPUTS['partner.failed'], occurredAt: AT, isVerified: false } as const

/** Lets an event in as the inbox does: what is too early is asked about, and comes again. */
async function apply(fixture: CashOutFixture, id: string, input: CashOutInput): Promise<string | undefined> {
  const outcome = await fixture.commands.apply(id, [input])
  if (outcome?.result === 'EARLY') await fixture.commands.apply(id, [INPUTS['work.requested']])
  return outcome?.result
}

async function minutes(fixture: CashOutFixture, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) await fixture.later(MINUTE)
}

/** A payout of whose outcome nothing was heard for so long that a person was told. */
async function missing(fixture: CashOutFixture): Promise<string> {
  const id = await fixture.reserve()
  await fixture.later(0)
  await minutes(fixture, 25)
  const { status, facts } = await fixture.read(id)
  assert.deepEqual([status, reasonOf({ facts })], ['RECONCILIATION_REQUIRED', 'no_answer'])
  return id
}

test('[cash-out.unknown.3] [P8] in doubt for want of an answer a silent bank is asked, and sent the order again, each minute', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: TIMEOUT })
  await missing(fixture)
  fixture.partner.asked.length = 0
  for (let second = 0; second < 600; second++) await fixture.later(SECOND)
  const times = (call: string) => fixture.partner.asked.filter((asked) => asked === call).length
  assert.ok(times('GET') >= 9 && times('GET') <= 11, `asked ${times('GET')} times`)
  assert.ok(times('PUT') >= 9 && times('PUT') <= 11, `sent ${times('PUT')} times`)
})

test('[cash-out.confirmed.3] [EV-13] in doubt what the bank states otherwise of a movement in the books is a case, and not booked again', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: TIMEOUT })
  const id = await fixture.reserve()
  await fixture.later(0)
  await apply(fixture, id, confirmed({ occurredAt: AT, valueCents: 25_00n }))
  const before = await balances(fixture.database)
  const otherwise = [await apply(fixture, id, answered), await apply(fixture, id, answered)]
  assert.deepEqual(otherwise, ['APPLIED', 'APPLIED'])
  assert.deepEqual((await cases(fixture.database)).sort(), ['bank_contradicts', 'debit_in_suspense'])
  assert.deepEqual(await balances(fixture.database), before)
})

test('[EV-22] [cash-out.reversal.1] a return that comes in doubt, before the confirmation, is not lost', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: TIMEOUT })
  const id = await missing(fixture)
  assert.equal(await apply(fixture, id, comesBack), 'EARLY')
  await apply(fixture, id, answered)
  assert.equal((await fixture.read(id)).status, 'CONFIRMED')
  assert.equal(await apply(fixture, id, { ...comesBack, isVerified: true }), 'APPLIED')
  assert.equal((await fixture.read(id)).status, 'REVERSED')
  assert.deepEqual(await notifiedStatuses(fixture.database), ['PAID', 'CONFIRMED', 'REVERSED'])
})

test('[EV-21] [cash-out.work.4] a return that comes while the bank is asked about a failure is asked about once more', async (t) => {
  const fixture = await cashOutFixture(t, { put: CONFIRMED, query: CONFIRMED })
  const id = await fixture.reserve()
  await fixture.later(0)
  await apply(fixture, id, { ...fails, isVerified: true })
  fixture.partner.whileCalled = async () => {
    fixture.partner.whileCalled = async () => undefined
    await apply(fixture, id, comesBack)
    fixture.partner.query = RETURNED
  }
  await fixture.later(0)
  await fixture.later(0)
  assert.equal((await fixture.read(id)).facts.suspendedReturns?.D1, 10_00)
})

test('[EV-23] [cash-out.work.4] what was given back, returns and is confirmed is asked about', async (t) => {
  const fixture = await cashOutFixture(t, { put: FAILED, query: RETURNED })
  const id = await fixture.reserve()
  await fixture.later(0)
  await apply(fixture, id, comesBack)
  await apply(fixture, id, leaves)
  await minutes(fixture, 2)
  assert.ok(fixture.partner.asked.includes('GET'))
  assert.equal((await fixture.read(id)).facts.suspendedReturns?.D1, 10_00)
})

test('[cash-out.states.9] [P8] a contradiction while an answer is missing holds the money, whatever is reported later', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: TIMEOUT })
  const id = await missing(fixture)
  const other = payout('PROCESSING', { valueCents: 20_00n })
  fixture.partner.query = { kind: 'CONTRADICTED', reason: 'other valueCents', payout: other }
  await fixture.later(MINUTE)
  fixture.partner.query = FAILED
  await minutes(fixture, 5)
  assert.equal((await fixture.read(id)).status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await cases(fixture.database), ['outcome_unknown'])
  const [facts] = (await caseFacts(fixture.database, 'outcome_unknown')) as { readonly rule: string }[]
  assert.equal(facts?.rule, 'cash-out.states.9', 'the same case, told again for another reason')
  assert.deepEqual(await notifiedStatuses(fixture.database), ['PAID'])
})

test('[CO-18] an answer that contradicts a payout which another answer has confirmed is a case', async (t) => {
  const fixture = await cashOutFixture(t, {
    put: { kind: 'CONTRADICTED', reason: 'other pixKey', payout: payout('PROCESSING') },
  })
  const id = await fixture.reserve()
  fixture.partner.whileCalled = async () => {
    await apply(fixture, id, answered)
  }
  await fixture.later(0)
  assert.equal((await fixture.read(id)).status, 'CONFIRMED')
  assert.deepEqual(await cases(fixture.database), ['bank_contradicts'])
})

test('[P6] [cash-out.unknown.6] a process that sleeps with «not found» in its hand proves nothing by having slept', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: NOT_FOUND, capabilities: new Set(['query-payout']) })
  const id = await fixture.reserve()
  await fixture.later(0)
  await fixture.later(5 * SECOND)
  fixture.partner.whileCalled = async () => fixture.clock.advance(5 * MINUTE)
  await fixture.later(10 * SECOND)
  assert.equal((await fixture.read(id)).status, 'PROVIDER_RESULT_UNKNOWN')
})

test('[CO-48] [P6] [P10] [cash-out.unknown.6] a database whose clock steps by ten minutes proves nothing by that', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: NOT_FOUND, capabilities: new Set(['query-payout']) })
  const id = await fixture.reserve()
  await fixture.later(0)
  await fixture.later(5 * SECOND)
  fixture.clock.observe(fixture.clock.now() + 10 * MINUTE)
  await fixture.later(0)
  assert.equal(fixture.partner.asked.length, 3)
  assert.equal((await fixture.read(id)).status, 'PROVIDER_RESULT_UNKNOWN')
  await fixture.later(4 * MINUTE)
  assert.equal((await fixture.read(id)).status, 'PROVIDER_RESULT_UNKNOWN')
  await fixture.later(MINUTE)
  assert.equal((await fixture.read(id)).status, 'FAILED', 'five minutes of a clock that runs')
})

test('[P5] [CO-21] the refusal of an attempt that another one followed frees nothing', async (t) => {
  const fixture = await cashOutFixture(t, { query: NOT_FOUND })
  const other = fixture.another()
  const id = await fixture.reserve()
  let calls = 0
  fixture.partner.sendPayout = async () => {
    calls += 1
    if (calls > 1) return PROCESSING
    // This process sleeps with its refusal in its hand; the other one proves that nothing arrived, and sends again.
    for (let minute = 0; minute < 40 && calls < 2; minute++) {
      fixture.clock.advance(MINUTE)
      await other.jobs.processNext()
    }
    return { kind: 'REJECTED', errorCode: 'limit', errorMessage: 'too much' }
  }
  await fixture.later(0)
  const { status, facts } = await fixture.read(id)
  assert.deepEqual([status, facts.attempts], ['DISPATCHED', 2])
  assert.deepEqual(await notifiedStatuses(fixture.database), ['PAID'])
})

test('[CO-19] a failure that is reported and true while the call is open ends the payout once', async (t) => {
  const fixture = await cashOutFixture(t, { put: PROCESSING, query: FAILED })
  const other = fixture.another()
  const id = await fixture.reserve()
  fixture.partner.whileCalled = async () => {
    fixture.partner.whileCalled = async () => undefined
    await other.commands.apply(id, [fails])
    await other.jobs.processNext()
  }
  await fixture.later(0)
  await minutes(fixture, 2)
  assert.equal((await fixture.read(id)).status, 'FAILED')
  assert.deepEqual(await cases(fixture.database), [])
  assert.deepEqual(await notifiedStatuses(fixture.database), ['PAID', 'FAILED'])
})
