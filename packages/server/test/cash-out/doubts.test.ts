import assert from 'node:assert/strict'
import test from 'node:test'
import type { CashOutInput } from '../../src/cash-out/cash-out.ts'
import { balances } from '../support/books.ts'
import { cases, told } from '../support/evidence.ts'
import {
  CONFIRMED,
  FAILED,
  NOT_FOUND,
  PROCESSING,
  payout,
  RETURNED,
  TIMEOUT,
  type Workshop,
  workshop,
} from './fixture.ts'
import { confirmed, INPUTS, returned } from './situations.ts'

/** Words of the bank that come at a bad moment: while another one is under way, too late, or too early. */

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Before the workshop's clock, so that it is believed. */
const AT = 1_700_000_000_000

const leaves = confirmed({ occurredAt: AT }, false)
const comesBack = returned({ occurredAt: AT }, false)
const fails = { ...INPUTS['partner.failed'], occurredAt: AT, isVerified: false } as const

/** Lets an event in as the inbox does: what is too early is asked about, and comes again. */
async function tell(shop: Workshop, id: string, input: CashOutInput): Promise<string | undefined> {
  const outcome = await shop.commands.apply(id, [input])
  if (outcome?.result === 'EARLY') await shop.commands.apply(id, [INPUTS['work.requested']])
  return outcome?.result
}

async function minutes(shop: Workshop, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) await shop.later(MINUTE)
}

/** A payout of whose outcome nothing was heard for so long that a person was told. */
async function missing(shop: Workshop): Promise<string> {
  const id = await shop.reserve()
  await shop.later(0)
  await minutes(shop, 25)
  const { status, facts } = await shop.read(id)
  assert.deepEqual([status, facts.doubt], ['RECONCILIATION_REQUIRED', 'missing'])
  return id
}

test('[EV-22] [cash-out.reversal.1] a return that comes in doubt, before the confirmation, is not lost', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: TIMEOUT })
  const id = await missing(shop)
  assert.equal(await tell(shop, id, comesBack), 'EARLY')
  await tell(shop, id, leaves)
  assert.equal((await shop.read(id)).status, 'CONFIRMED')
  assert.equal(await tell(shop, id, comesBack), 'APPLIED')
  assert.equal((await shop.read(id)).status, 'REVERSED')
  assert.deepEqual(await told(shop.database), ['PAID', 'CONFIRMED', 'REVERSED'])
})

test('[EV-21] [cash-out.work.4] a return that comes while the bank is asked about a failure is asked about once more', async (t) => {
  const shop = await workshop(t, { put: CONFIRMED, query: CONFIRMED })
  const id = await shop.reserve()
  await shop.later(0)
  await tell(shop, id, fails)
  shop.partner.whileCalled = async () => {
    shop.partner.whileCalled = async () => undefined
    await tell(shop, id, comesBack)
    shop.partner.query = RETURNED
  }
  await shop.later(0)
  await shop.later(0)
  assert.equal((await shop.read(id)).facts.suspendedReturns?.D1, 10_00)
})

test('[EV-23] [cash-out.work.4] what was given back, returns and is confirmed is asked about', async (t) => {
  const shop = await workshop(t, { put: FAILED, query: RETURNED })
  const id = await shop.reserve()
  await shop.later(0)
  await tell(shop, id, comesBack)
  await tell(shop, id, leaves)
  await minutes(shop, 2)
  assert.ok(shop.partner.asked.includes('GET'))
  assert.equal((await shop.read(id)).facts.suspendedReturns?.D1, 10_00)
})

test('[cash-out.states.9] [P8] a contradiction while an answer is missing holds the money, whatever is told later', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: TIMEOUT })
  const id = await missing(shop)
  const other = payout('PROCESSING', { valueCents: 20_00n })
  shop.partner.query = { kind: 'CONTRADICTED', reason: 'other valueCents', payout: other }
  await shop.later(MINUTE)
  shop.partner.query = FAILED
  await minutes(shop, 5)
  assert.equal((await shop.read(id)).status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual((await cases(shop.database)).toSorted(), ['result_missing', 'send_contradicted'])
  assert.deepEqual(await told(shop.database), ['PAID'])
})

test('[CO-18] an answer that contradicts a payout which an event has confirmed is a case', async (t) => {
  const shop = await workshop(t, {
    put: { kind: 'CONTRADICTED', reason: 'other pixKey', payout: payout('PROCESSING') },
  })
  const id = await shop.reserve()
  shop.partner.whileCalled = async () => {
    await tell(shop, id, leaves)
  }
  await shop.later(0)
  assert.equal((await shop.read(id)).status, 'CONFIRMED')
  assert.deepEqual(await cases(shop.database), ['answer_after_end'])
})

test('[EV-8b] [cash-out.reversal.3] the same return with another amount is a case, and books nothing', async (t) => {
  const shop = await workshop(t, { put: CONFIRMED })
  const id = await shop.reserve()
  await shop.later(0)
  await tell(shop, id, comesBack)
  const before = await balances(shop.database)
  await tell(shop, id, returned({ valueCents: 20_00n, occurredAt: AT }, false))
  assert.deepEqual(await cases(shop.database), ['return_restated'])
  assert.deepEqual(await balances(shop.database), before)
})

test('[P6] [cash-out.unknown.6] a process that sleeps with «not found» in its hand proves nothing by having slept', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: NOT_FOUND, capabilities: new Set(['query-payout']) })
  const id = await shop.reserve()
  await shop.later(0)
  await shop.later(5 * SECOND)
  shop.partner.whileCalled = async () => shop.clock.advance(5 * MINUTE)
  await shop.later(10 * SECOND)
  assert.equal((await shop.read(id)).status, 'PROVIDER_RESULT_UNKNOWN')
})

test('[CO-48] [P6] [P10] [cash-out.unknown.6] a database whose clock steps by ten minutes proves nothing by that', async (t) => {
  const shop = await workshop(t, { put: TIMEOUT, query: NOT_FOUND, capabilities: new Set(['query-payout']) })
  const id = await shop.reserve()
  await shop.later(0)
  await shop.later(5 * SECOND)
  shop.clock.observe(shop.clock.now() + 10 * MINUTE)
  await shop.later(0)
  assert.equal(shop.partner.asked.length, 3)
  assert.equal((await shop.read(id)).status, 'PROVIDER_RESULT_UNKNOWN')
  await shop.later(4 * MINUTE)
  assert.equal((await shop.read(id)).status, 'PROVIDER_RESULT_UNKNOWN')
  await shop.later(MINUTE)
  assert.equal((await shop.read(id)).status, 'FAILED', 'five minutes of a clock that runs')
})

test('[P5] [CO-21] the refusal of an attempt that another one followed frees nothing', async (t) => {
  const shop = await workshop(t, { query: NOT_FOUND })
  const other = shop.another()
  const id = await shop.reserve()
  let calls = 0
  shop.partner.sendPayout = async () => {
    calls += 1
    if (calls > 1) return PROCESSING
    // This process sleeps with its refusal in its hand; the other one proves that nothing arrived, and sends again.
    for (let minute = 0; minute < 40 && calls < 2; minute++) {
      shop.clock.advance(MINUTE)
      await other.jobs.processNext()
    }
    return { kind: 'REJECTED', errorCode: 'limit', errorMessage: 'too much' }
  }
  await shop.later(0)
  const { status, facts } = await shop.read(id)
  assert.deepEqual([status, facts.attempts], ['DISPATCHED', 2])
  assert.deepEqual(await told(shop.database), ['PAID'])
})

test('[CO-19] a failure that is told and true while the call is open ends the payout once', async (t) => {
  const shop = await workshop(t, { put: PROCESSING, query: FAILED })
  const other = shop.another()
  const id = await shop.reserve()
  shop.partner.whileCalled = async () => {
    shop.partner.whileCalled = async () => undefined
    await other.commands.apply(id, [fails])
    await other.jobs.processNext()
  }
  await shop.later(0)
  await minutes(shop, 2)
  assert.equal((await shop.read(id)).status, 'FAILED')
  assert.deepEqual(await cases(shop.database), [])
  assert.deepEqual(await told(shop.database), ['PAID', 'FAILED'])
})
