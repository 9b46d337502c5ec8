import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { CashOutInput } from '../../src/cash-out/cash-out.ts'
import { createCashOutStore } from '../../src/cash-out/commands.ts'
import { cashOutFixture } from './fixture.ts'
import { confirmed, INPUTS, returned } from './situations.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
/** So much time passes. */
const QUARTER = 900_000 as const
const AT = { occurredAt: 1_700_000_000_000 }

const CLAIMED = INPUTS['send.claimed']
const UNSENT = INPUTS['send.not_sent']
const UNKNOWN = INPUTS['send.unknown']

type Happened = Readonly<Record<string, readonly (CashOutInput | typeof QUARTER)[]>>

/** Makes payouts, named by their ids in the client's system, to which all this happened, one after the other. */
async function storeFixture(t: TestContext, happened: Happened) {
  const fixture = await cashOutFixture(t)
  await fixture.fund(1_000_00n)
  for (const [name, inputs] of Object.entries(happened)) {
    const id = await fixture.reserve(name)
    for (const input of inputs) {
      if (input === QUARTER) fixture.clock.advance(input)
      else await fixture.commands.apply(id, [input])
    }
  }
  const store = createCashOutStore(fixture.database)
  /** What is due later. */
  const due = async (afterMs: number, isSending: boolean, limit = 100) => {
    const found = await store.due(fixture.clock.now() + afterMs, limit, isSending)
    return found.map(({ externalId }) => externalId).toSorted()
  }
  return { ...fixture, due }
}

test('[CO-24] [CO-10] while nothing may be sent, what waits to be sent is left out until it is released', async (t) => {
  const { due } = await storeFixture(t, {
    'missing and unsent': [CLAIMED, UNKNOWN, UNSENT, QUARTER, UNKNOWN],
    reserved: [],
    unsent: [CLAIMED, UNSENT],
    'unsent after all': [CLAIMED, UNKNOWN, UNSENT],
  })
  assert.deepEqual(await due(0, true), ['reserved'])
  assert.deepEqual(await due(10 * MINUTE, true), ['missing and unsent', 'reserved', 'unsent', 'unsent after all'])
  assert.deepEqual(await due(10 * MINUTE, false), [])
  const unsent = ['missing and unsent', 'unsent', 'unsent after all']
  assert.deepEqual(await due(31 * MINUTE, false), unsent)
  assert.deepEqual(await due(DAY + MINUTE, false), ['missing and unsent', 'reserved', 'unsent', 'unsent after all'])
})

test('[CO-24] [cash-out.states.5] while nothing may be sent, questions are due: also about what was never sent', async (t) => {
  const questions: Happened = {
    missing: [CLAIMED, UNKNOWN, QUARTER, UNKNOWN],
    tried: [CLAIMED, UNKNOWN],
    accepted: [CLAIMED, UNSENT, INPUTS['send.accepted']],
    unrecorded: [confirmed(AT, false)],
    'left unsent': [CLAIMED, UNSENT, confirmed(AT), INPUTS['work.requested']],
  }
  const { due } = await storeFixture(t, questions)
  assert.deepEqual(await due(20 * MINUTE, false), Object.keys(questions).toSorted())
})

test('[CO-24] [cash-out.ended.3] a payout that was given back unclaimed and then doubted is asked about', async (t) => {
  const { due, clock, reserve, later, commands } = await storeFixture(t, {})
  const id = await reserve('released')
  clock.advance(DAY)
  await later(0)
  await commands.apply(id, [returned(AT, false)])
  assert.deepEqual(await due(0, false), ['released'])
})

test('[CO-24] [P8] what waits to be sent leaves room for questions, however old it is', async (t) => {
  const { due } = await storeFixture(t, { first: [], second: [], unknown: [CLAIMED, UNKNOWN] })
  assert.deepEqual(await due(MINUTE, true, 1), ['first'])
  assert.deepEqual(await due(MINUTE, false, 1), ['unknown'])
})
