import assert from 'node:assert/strict'
import test from 'node:test'
import { createBankClock } from '../../../src/banks/api-pix/charges.ts'

const NOON = Date.parse('2026-11-22T12:00:00Z')
const MINUTE = 60_000

function clockAt(ours = NOON) {
  const at = { ours }
  const clock = createBankClock(() => at.ours)
  return { at, clock }
}

test('[api-pix.16] before the bank’s first answer its time is ours', () => {
  const { at, clock } = clockAt()
  at.ours += 3 * MINUTE
  assert.equal(clock.now(), NOON + 3 * MINUTE)
  clock.observe(NOON)
  assert.equal(clock.now(), NOON, 'what ours was does not hold it back')
  at.ours += 250
  assert.equal(clock.now(), NOON + 250)
})

test('[api-pix.16] [AP-22] a Date more than ten minutes from our time is ignored, and the bank’s time goes on', () => {
  const { at, clock } = clockAt()
  clock.observe(NOON + 1_000)
  for (const minutes of [-10, 10]) clock.observe(NOON + minutes * MINUTE + Math.sign(minutes))
  clock.observe(Date.parse('2036-11-22T12:00:00Z'))
  at.ours += 500
  assert.equal(clock.now(), NOON + 1_500)
  clock.observe(NOON + 10 * MINUTE)
  assert.equal(clock.now(), NOON + 10 * MINUTE)
})

test('[api-pix.16] the bank clock never goes back', () => {
  const { at, clock } = clockAt()
  clock.observe(NOON + 9 * MINUTE)
  clock.now()
  at.ours += 1_000
  clock.observe(NOON + 1_000)
  assert.equal(clock.now(), NOON + 9 * MINUTE)
  at.ours += 10 * MINUTE
  assert.equal(clock.now(), NOON + 10 * MINUTE + 1_000, 'and a wrong Date holds for as long as it is ahead')
})
