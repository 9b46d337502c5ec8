import assert from 'node:assert/strict'
import test from 'node:test'
import { refundIn } from '@pixgate/spec'
import { createdView, detailView } from '../../src/refund-in/api.ts'
import { NOW } from '../cash-in/situations.ts'
import { REFUND_ID, refundAs } from './situations.ts'

const CREATED = {
  id: REFUND_ID,
  cashInId: '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
  externalId: 'refund-1',
  status: 'PENDING',
  valueCents: 3_000,
  createdAt: '2026-11-21T13:29:40.000Z',
}

test('[refund-in.create.5] the 201 is of what never changes, PENDING whatever has happened since', () => {
  for (const status of refundIn.states) assert.deepEqual(createdView(refundAs(status)), CREATED)
})

test('[refund-in.detail.1] the detail shows all that is known, and null for what is not', () => {
  const unknown = { transactionId: null, returnId: null, confirmedAt: null, failureCode: null, failureReason: null }
  const rest = {
    ...CREATED,
    ...unknown,
    reason: null,
    endToEndId: 'E1',
    origin: 'MERCHANT',
    updatedAt: '2026-11-21T13:29:40.000Z',
  }
  assert.deepEqual(detailView(refundAs('PENDING')), rest)
  assert.deepEqual(detailView(refundAs('CONFIRMED', { transactionId: 'tx-r', updatedAt: NOW })), {
    ...rest,
    status: 'CONFIRMED',
    transactionId: 'tx-r',
    returnId: 'D1',
    confirmedAt: '2026-11-21T13:29:55.000Z',
    updatedAt: '2026-11-21T13:30:00.000Z',
  })
  assert.deepEqual(detailView(refundAs('FAILED')), { ...rest, status: 'FAILED', failureCode: 'refused' })
})
