import assert from 'node:assert/strict'
import test from 'node:test'
import { contentOf, type Figures, lacksMore } from '../../src/closes/content.ts'

/** What a day says of the bank's balance. */

const NOTHING: Figures = {
  accounts: [{ account: 'settlement', openingCents: 0n, closingCents: -100n }],
  journals: [],
  bank: null,
  timing: { count: 0, cents: 0n },
  kept: { count: 0, cents: 0n },
  differences: [],
  openCases: { count: 0, cases: [] },
}

/** Of books that have 100, and a balance. @param carriedCents what was unexplained before */
function said(closingCents: bigint, setAsideCents: bigint, carriedCents = 0) {
  const figures = { ...NOTHING, bank: { closingCents, setAsideCents } }
  const { bank, unexplainedCents, status } = contentOf('2026-11-22', { from: 0, to: 86_400_000 }, figures, {
    same: undefined,
    carried: { cents: carriedCents, moved: { count: 0, cents: 0n } },
  })
  return [bank?.closingCents ?? null, unexplainedCents, status]
}

test('[close.12] a balance with nothing set aside is what the bank had', () => {
  assert.deepEqual(said(100n, 0n), [100, 0, 'BALANCED'])
  assert.deepEqual(said(93n, 0n), [93, -7, 'DIFFERS'])
  assert.deepEqual(said(93n, 0n, 20), [93, -7, 'DIFFERS'], 'whatever was unexplained before')
})

test('[close.12] a bank may have taken off what is set aside, or not', () => {
  assert.deepEqual(said(100n, 30n), [100, 0, 'BALANCED'])
  assert.deepEqual(said(70n, 30n), [100, 0, 'BALANCED'])
  assert.deepEqual(said(120n, 30n, 20), [120, 20, 'DIFFERS'], 'what was unexplained before is so still')
  assert.deepEqual(said(90n, 30n, 20), [120, 20, 'DIFFERS'])
})

test('[close.12] what a part of the orders under way may explain proves nothing, and what is beyond them differs', () => {
  assert.deepEqual(said(80n, 30n), [null, null, 'UNCONFIRMED'])
  assert.deepEqual(said(60n, 30n), [90, -10, 'DIFFERS'], 'less is missing if all was taken off')
  assert.deepEqual(said(110n, 30n), [110, 10, 'DIFFERS'], 'less is too much if nothing was')
})

test('[trip-wire.9] the bank lacks more where what is unexplained fell by more than the fees that it does not list', () => {
  const fees = { centsPerMovement: 2n, percent: 1n }
  const carried = { cents: -100, moved: { count: 3, cents: 1_000n } }
  assert.equal(lacksMore(-116, carried, fees), false)
  assert.equal(lacksMore(-117, carried, fees), true)
  assert.equal(lacksMore(-101, carried), true, 'a bank that lists all its fees')
  assert.equal(lacksMore(-100, carried), false)
  assert.equal(lacksMore(50, carried), false)
  assert.equal(lacksMore(null, carried), false, 'nobody knows what the bank had')
})
