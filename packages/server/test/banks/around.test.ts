import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import { withBreaker } from '../../src/banks/breaker.ts'
import { lacking, withinCapabilities } from '../../src/banks/lacking.ts'
import type { Partner } from '../../src/banks/port.ts'
import { withBreakerLog, withReporting } from '../../src/banks/reporting.ts'
import { watchBank } from '../../src/banks/watch.ts'

const SILENT = pino({ level: 'silent' })

const BANK: Partner = {
  ...lacking,
  capabilities: new Set(['statement']),
  idempotencyWindowMs: 1,
  listedWithinMs: { ...lacking.listedWithinMs, PAYOUT_SENT: 2 },
  stamps: { offsetMs: () => 3, assume: () => undefined },
}

test('[api-pix.17] what a connector tells of its bank is told through everything that stands around it', () => {
  const { partner: watched } = watchBank(BANK, { settings: [], host: '' } as never, () => undefined)
  const reported = withReporting(watched, { logger: SILENT, onCall: () => undefined })
  const guarded = withBreakerLog(withBreaker(withinCapabilities(reported), { now: () => 0 }), SILENT)
  const { capabilities, idempotencyWindowMs, listedWithinMs, stamps } = guarded
  assert.deepEqual(
    { capabilities, idempotencyWindowMs, listedWithinMs, stamps },
    {
      capabilities: BANK.capabilities,
      idempotencyWindowMs: BANK.idempotencyWindowMs,
      listedWithinMs: BANK.listedWithinMs,
      stamps: BANK.stamps,
    },
  )
})
