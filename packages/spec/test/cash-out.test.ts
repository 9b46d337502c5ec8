import assert from 'node:assert/strict'
import test from 'node:test'
import { type CashOutStatus, cashOut } from '../src/cash-out.ts'
import type { EventType } from '../src/events.ts'
import { journals, type Posting } from '../src/ledger.ts'
import { rowsOf } from './support/rows.ts'

const HOLDS: readonly (CashOutStatus | null)[] = ['RESERVED', 'DISPATCHED', 'PROVIDER_RESULT_UNKNOWN']
const EVENTS: Partial<Record<CashOutStatus, EventType>> = {
  CONFIRMED: 'pix_cash_out',
  FAILED: 'pix_cash_out',
  RELEASED: 'pix_cash_out',
  REVERSED: 'pix_cash_out_reversal',
}

for (const { row, title } of rowsOf(cashOut)) {
  test(`${title}: reservation, notification and case agree`, () => {
    assert.equal(row.posts === 'left_after_release' ? 0 : reservedBy(row.posts), heldBy(row))

    const isReturn = row.on === 'partner.returned' && row.to === 'REVERSED'
    assert.equal(row.emits, row.from !== row.to || isReturn ? EVENTS[row.to] : undefined)

    if (row.posts?.endsWith('unattributed')) assert.ok(row.opens, 'money in suspense always has a case')
    if (row.to === 'RECONCILIATION_REQUIRED') assert.ok(row.opens, 'a doubt always has a case')
  })
}

test('[cash-out.unknown.3] silence and doubt never release money', () => {
  const doubtful = ['send.unknown', 'send.contradicted', 'clock.escalated', 'partner.not_found']
  for (const row of cashOut.rows) if (doubtful.includes(row.on)) assert.equal(row.posts, undefined)
})

/** What a move does to the hold, told from its states: a doubt keeps what there is. */
function heldBy({ from, to }: { from: CashOutStatus | null; to: CashOutStatus }): number {
  if (from === null) return 1
  if (to === 'RECONCILIATION_REQUIRED' || HOLDS.includes(to)) return 0
  return from === 'RECONCILIATION_REQUIRED' || HOLDS.includes(from) ? -1 : 0
}

/** What a journal does to the hold, told from its postings. */
function reservedBy(journal: keyof typeof journals | undefined): number {
  const postings: readonly Posting[] = journal === undefined ? [] : journals[journal].postings
  return postings.find(({ account }) => account === 'reserved')?.amount.v ?? 0
}
