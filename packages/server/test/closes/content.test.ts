import assert from 'node:assert/strict'
import test from 'node:test'
import { contentOf, type Figures, lacksMore } from '../../src/closes/figures.ts'
import { boundsOf } from '../../src/platform/sao-paulo.ts'

const NOTHING: Figures = {
  accounts: [{ account: 'settlement', openingCents: 0, closingCents: -100 }],
  journals: [],
  reservations: { count: 0, cents: 0 },
  bank: null,
  timing: { count: 0, cents: 0 },
  kept: { count: 0, cents: 0 },
  differences: [],
  openCases: { count: 0, cases: [] },
  carried: { cents: 0, count: 0, movedCents: 0 },
}

/** Of books that have 100, and a balance. @param carriedCents what was unexplained before */
function said(closingCents: number, setAsideCents: number, carriedCents = 0) {
  const carried = { ...NOTHING.carried, cents: carriedCents }
  const figures = { ...NOTHING, bank: { closingCents, setAsideCents }, carried }
  const { bank, unexplainedCents, status } = contentOf({ day: '2026-11-22', ...boundsOf('2026-11-22') }, figures)
  return [bank?.closingCents ?? null, unexplainedCents, status]
}

test('[close.12] a balance with nothing set aside is what the bank had', () => {
  assert.deepEqual(said(100, 0), [100, 0, 'BALANCED'])
  assert.deepEqual(said(93, 0), [93, -7, 'DIFFERS'])
  assert.deepEqual(said(93, 0, 20), [93, -7, 'DIFFERS'], 'whatever was unexplained before')
})

test('[close.12] a bank may have taken off what is set aside, or not', () => {
  assert.deepEqual(said(100, 30), [100, 0, 'BALANCED'])
  assert.deepEqual(said(70, 30), [100, 0, 'BALANCED'])
  assert.deepEqual(said(120, 30, 20), [120, 20, 'DIFFERS'], 'what was unexplained before is so still')
  assert.deepEqual(said(90, 30, 20), [120, 20, 'DIFFERS'])
})

test('[close.12] what a part of the orders under way may explain proves nothing, and what is beyond them differs', () => {
  assert.deepEqual(said(80, 30), [null, null, 'UNCONFIRMED'])
  assert.deepEqual(said(60, 30), [90, -10, 'DIFFERS'], 'less is missing if all was taken off')
  assert.deepEqual(said(110, 30), [110, 10, 'DIFFERS'], 'less is too much if nothing was')
})

test('[trip-wire.9] the bank lacks more where what is unexplained fell by more than the fees that it does not list', () => {
  const fees = { centsPerMovement: 2n, percent: 1n }
  const carried = { cents: -100, count: 3, movedCents: 1_000 }
  assert.equal(lacksMore(-116, carried, fees), false)
  assert.equal(lacksMore(-117, carried, fees), true)
  assert.equal(lacksMore(-101, carried), true, 'a bank that lists all its fees')
  assert.equal(lacksMore(-100, carried), false)
  assert.equal(lacksMore(50, carried), false)
  assert.equal(lacksMore(null, carried), false, 'nobody knows what the bank had')
})
