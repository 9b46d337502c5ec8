import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { RefundInInput } from '../../src/refund-in/refund-in.ts'
import { refundOffice } from './fixture.ts'
import { confirmed, INPUTS } from './situations.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
/** So much time passes. */
const QUARTER = 900_000 as const

const CLAIMED = INPUTS['send.claimed']
const UNSENT = INPUTS['send.not_sent']
const UNKNOWN = INPUTS['send.unknown']

/** The bank says that a refund left. */
const left = (given: { readonly returnId: string }, isVerified = true) =>
  confirmed({ occurredAt: 1_700_000_000_000, valueCents: 1_00n, ...given }, isVerified)

type Happened = Readonly<Record<string, readonly (RefundInInput | typeof QUARTER)[]>>

/** Makes refunds of R$ 1,00 of one payment, named by their ids in the client's system, to which all this happened, one after the other. */
async function storeFixture(t: TestContext, happened: Happened) {
  const { store, engine, one, paid, request } = await refundOffice(t)
  const { clock } = engine
  const cashInId = await paid()
  for (const [externalId, inputs] of Object.entries(happened)) {
    const { id } = (await one.create(request(cashInId, { externalId, valueCents: 1_00n }))).refund
    for (const input of inputs) {
      if (input === QUARTER) clock.advance(input)
      else await one.apply(id, [input])
    }
  }
  /** What is due later. */
  return async (afterMs: number, isSending: boolean) => {
    const found = await store.due(clock.now() + afterMs, 100, isSending)
    return found.map(({ externalId }) => externalId).toSorted()
  }
}

test('[refund-in.work.4] [CO-10] while nothing can be sent, what waits to be sent is left out until it is released', async (t) => {
  const due = await storeFixture(t, {
    new: [],
    unsent: [CLAIMED, UNSENT],
    'unsent after all': [CLAIMED, UNKNOWN, UNSENT],
  })
  assert.deepEqual(await due(20 * MINUTE, true), ['new', 'unsent', 'unsent after all'])
  assert.deepEqual(await due(20 * MINUTE, false), [])
  assert.deepEqual(await due(31 * MINUTE, false), ['unsent', 'unsent after all'])
  assert.deepEqual(await due(DAY + MINUTE, false), ['new', 'unsent', 'unsent after all'])
})

test('[P8] [refund-in.doubt.2] while nothing can be sent, questions are due: also about what was never sent', async (t) => {
  const questions: Happened = {
    missing: [CLAIMED, UNKNOWN, QUARTER, UNKNOWN],
    tried: [CLAIMED, UNKNOWN],
    accepted: [CLAIMED, UNSENT, INPUTS['send.accepted']],
    unrecorded: [left({ returnId: 'D1' }, false)],
    contradicted: [CLAIMED, UNSENT, INPUTS['send.contradicted'], INPUTS['work.requested']],
    'left unsent': [CLAIMED, UNSENT, left({ returnId: 'D2' }), INPUTS['work.requested']],
  }
  const due = await storeFixture(t, questions)
  assert.deepEqual(await due(20 * MINUTE, false), Object.keys(questions).toSorted())
})
