import assert from 'node:assert/strict'
import test from 'node:test'
import { withBreaker } from '../../src/banks/breaker.ts'
import { lacking } from '../../src/banks/lacking.ts'
import type { Partner, PayoutAnswer } from '../../src/banks/port.ts'
import { withBreakerLog } from '../../src/banks/reporting.ts'
import { capturedLog } from '../support/captured-log.ts'

const PAYOUT = { valueCents: 100n, recipient: { pixKey: 'a@b.example', pixKeyType: 'email' } } as const

/** A bank behind a breaker whose lines are read. */
function watched(given: Partial<Partner>) {
  const log = capturedLog()
  let nowMs = 0
  const bank: Partner = { ...lacking, capabilities: new Set(), idempotencyWindowMs: 0, ...given }
  const partner = withBreakerLog(withBreaker(bank, { now: () => nowMs }), log.logger)
  const advance = (ms: number) => {
    nowMs += ms
  }
  return { partner, advance, lines: () => log.lines.map(({ level, breaker, reason }) => [level, breaker, reason]) }
}

test('[logs.3] the breaker of orders says when it opens and why, and when it closes', async () => {
  let answer: PayoutAnswer = { kind: 'NOT_SENT', reason: 'ECONNREFUSED' }
  const { partner, advance, lines } = watched({ sendPayout: async () => answer })
  for (let sends = 0; sends < 5; sends++) await partner.sendPayout('payout-1', PAYOUT, undefined as never)
  const opened = ['error', 'orders', 'ECONNREFUSED']
  assert.deepEqual(lines(), [opened])
  advance(60_000)
  answer = { kind: 'REJECTED', errorCode: 'no_such_key', errorMessage: undefined }
  await partner.sendPayout('payout-1', PAYOUT, undefined as never)
  assert.deepEqual(lines(), [opened, ['info', 'orders', undefined]])
})

test('[logs.3] a bank that refuses our calls as such opens the breaker of orders, whichever call it was', async () => {
  const { partner, lines } = watched({
    getCharge: async () => ({ kind: 'UNKNOWN', reason: 'HTTP 401', httpStatus: 401 }),
  })
  await partner.getCharge('charge-1', undefined as never)
  assert.equal(partner.sendsWanted(), 0)
  assert.deepEqual(lines(), [['error', 'orders', 'HTTP 401']])
})
