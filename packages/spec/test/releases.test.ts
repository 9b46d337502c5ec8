import assert from 'node:assert/strict'
import test from 'node:test'
import { cashIn } from '../src/cash-in/index.ts'
import { cashOut } from '../src/cash-out/index.ts'
import type { Machine } from '../src/machine.ts'
import { adjustment } from '../src/operator.ts'
import { refundIn } from '../src/refund-in/index.ts'
import { releases } from '../src/releases.ts'

test('[ledger.releases] these journals make what a merchant may spend grow, and no other', () => {
  assert.deepEqual(releases, {
    cash_in_paid: 'credit',
    suspense_credited: 'credit',
    cash_in_attributed: 'credit',
    payout_return_credited: 'credit',
    payout_left_in_suspense: 'hold',
    refund_left_in_suspense: 'hold',
    left_written_off: 'hold',
    cash_out_released: 'hold',
    cash_out_returned: 'credit',
    refund_in_released: 'hold',
    return_known: 'hold',
    adjustment_credited: 'credit',
    held_credited: 'credit',
  })
})

test('[ledger.releases] these rules free or credit money, and no other', () => {
  const machines: readonly Machine[] = [cashIn, cashOut, refundIn, adjustment]
  const lines = machines.flatMap(({ lines }) => lines)
  const freeing = lines.filter(({ posts }) => posts !== undefined && releases[posts] !== undefined)
  assert.deepEqual(
    freeing.map(({ rule }) => rule),
    [
      'cash-in.states.7',
      'cash-in.unknown.4',
      'cash-in.expired.2',
      'cash-in.returns.5',
      'cash-in.cases.1',
      'cash-in.cases.1',
      'cash-in.cases.6',
      'cash-in.cases.9',
      'cash-out.states.3',
      'cash-out.states.10',
      'cash-out.states.7',
      'cash-out.states.13',
      'cash-out.unknown.6',
      'cash-out.approval.8',
      'cash-out.approval.9',
      'cash-out.reversal.1',
      'cash-out.cases.2',
      'cash-out.cases.2',
      'cash-out.cases.3',
      'cash-out.cases.5',
      'cash-out.cases.6',
      'refund-in.states.6',
      'refund-in.states.4',
      'refund-in.states.8',
      'refund-in.unknown.3',
      'refund-in.states.11',
      'refund-in.cases.2',
      'refund-in.cases.2',
      'refund-in.cases.3',
      'refund-in.cases.3',
      'refund-in.cases.5',
      'adjustment.states.1',
      'adjustment.held.5',
    ],
  )
})
