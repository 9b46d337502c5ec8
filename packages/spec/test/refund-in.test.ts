import assert from 'node:assert/strict'
import test from 'node:test'
import { refundIn } from '../src/refund-in.ts'
import { rowsOf } from './support/rows.ts'

const ENDS: Partial<Record<string, string>> = { CONFIRMED: 'refund_in_confirmed', FAILED: 'refund_in_released' }

for (const { row, title } of rowsOf(refundIn)) {
  test(`${title}: reservation, notification and case agree`, () => {
    const ends = row.from === 'PENDING' && row.to !== 'PENDING'

    assert.equal(row.emits, ends || row.on === 'partner.returned' ? 'pix_cash_in_reversal' : undefined)
    if (ends) assert.equal(row.posts, ENDS[row.to], 'an end settles or releases what was set aside')
    else if (row.from !== null) assert.ok(row.posts === undefined || row.opens, 'money after the end has a case')
    if (row.from === row.to && row.from !== 'PENDING') assert.ok(row.opens, 'whatever contradicts an end has a case')
  })
}

test('[refund-in.states.7] silence never releases money', () => {
  const doubtful = ['send.unknown', 'send.contradicted', 'clock.escalated', 'partner.not_found']
  for (const row of refundIn.rows) if (doubtful.includes(row.on)) assert.equal(row.posts, undefined)
})
