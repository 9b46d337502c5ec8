import assert from 'node:assert/strict'
import test from 'node:test'
import { type CashInStatus, cashIn } from '@pixgate/spec'
import { createdView, detailView } from '../../src/cash-in/api.ts'
import type { CashIn } from '../../src/cash-in/cash-in.ts'
import { reasonFact } from '../../src/engine/follow.ts'
import { CHARGED, CREATED_AT, cashInAs, EXPIRES_AT, NOW, PAID, wentBack } from './situations.ts'

test('[cash-in.detail.1] a new charge shows all that was asked for, and null for what is not known', () => {
  assert.deepEqual(detailView(cashInAs('PENDING'), NOW), {
    id: '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
    correlationId: 'test',
    externalId: 'order-1',
    status: 'PENDING',
    valueCents: 10_000,
    pixCode: null,
    generateTime: '2026-11-21T13:00:00.000Z',
    expirationDate: '2026-11-21T14:00:00.000Z',
    providerTransactionId: null,
    description: null,
    payer: null,
    endToEndId: null,
    paidAt: null,
    payerName: null,
    payerDocument: null,
    payerIspb: null,
    feeAmountCents: 100,
    receivedCents: 0,
    refundedCents: 0,
    refundableCents: 0,
    refundDeadline: null,
    failureCode: null,
    failureReason: null,
    cancelRequestedAt: null,
    createdAt: '2026-11-21T13:00:00.000Z',
    updatedAt: '2026-11-21T13:00:00.000Z',
  })
})

test('[cash-in.failed.1] the code of a charge that failed is withheld', () => {
  const codeOf = (status: CashInStatus) => detailView(cashInAs(status, { facts: CHARGED }), NOW).pixCode
  assert.equal(codeOf('FAILED'), null)
  assert.equal(codeOf('PENDING'), CHARGED.pixCode)
})

test('[cash-in.detail.4] a payment is shown as the bank reported it, the document masked', () => {
  const detail = detailView(cashInAs('PAID'), NOW)
  assert.equal(detail.paidAt, '2026-11-21T13:29:00.000Z', 'when it settled, not when we heard of it')
  assert.equal(detail.payerName, 'Maria da Silva')
  assert.equal(detail.payerDocument, '***.982.247-**')
  assert.equal(detail.payerIspb, '99999010')
  assert.equal(detail.refundableCents, 10_000)
})

test('[cash-in.detail.4] an invalid document from the bank is not shown at all, nor what it does not report', () => {
  const payerOf = (payerDocument: string | null) =>
    detailView(cashInAs('PAID', { facts: { ...PAID, payerDocument } }), NOW).payerDocument
  for (const document of ['12345678901', '***.982.247-**', 'Maria', '', null]) assert.equal(payerOf(document), null)
  assert.equal(payerOf('12ABC34501DE35'), '**.ABC.345/01DE-**')
})

test('[cash-in.detail.5] the refund deadline is 89 days of 24 hours after the payment', () => {
  assert.equal(detailView(cashInAs('PAID'), NOW).refundDeadline, '2027-02-18T13:29:00.000Z')
  for (const status of cashIn.states.filter((state) => state !== 'PAID')) {
    const { refundDeadline, refundableCents } = detailView(cashInAs(status), NOW)
    assert.deepEqual([refundDeadline, refundableCents], [null, 0], status)
  }
})

test('[cash-in.refunds.7] what went back is shown, and what may still go back: neither what did nor what is about to', () => {
  const detailOf = (status: CashInStatus, refundsOpenCents: number, returns: Readonly<Record<string, number>>) => {
    const { refundedCents, refundableCents } = detailView(
      cashInAs(status, { facts: { ...PAID, refundsOpenCents, returns: wentBack(returns) } }),
      NOW,
    )
    return { refundedCents, refundableCents }
  }
  assert.deepEqual(detailOf('PAID', 0, {}), { refundedCents: 0, refundableCents: 10_000 })
  assert.deepEqual(detailOf('PAID', 2_500, { D1: 1_000, D2: 1 }), { refundedCents: 1_001, refundableCents: 6_499 })
  assert.deepEqual(detailOf('PAID', 5_000, { D1: 9_000 }), { refundedCents: 9_000, refundableCents: 0 })
  assert.deepEqual(detailOf('RECONCILIATION_REQUIRED', 0, { D1: 1 }), { refundedCents: 1, refundableCents: 0 })
})

test('[cash-in.detail.3] a PENDING charge reads as EXPIRED once its time has passed, and no other does', () => {
  const statusOf = (status: CashIn['status'], nowMs: number) =>
    detailView(cashInAs(status as (typeof cashIn.states)[number]), nowMs).status
  assert.equal(statusOf('PENDING', EXPIRES_AT), 'PENDING')
  assert.equal(statusOf('PENDING', EXPIRES_AT + 1), 'EXPIRED')
  for (const status of cashIn.states.slice(1)) assert.equal(statusOf(status, EXPIRES_AT + 1), status)
})

test('[cash-in.create.5] the 201 is PENDING whatever has happened since, and has the code where there is one', () => {
  for (const status of cashIn.states) assert.equal(createdView(cashInAs(status)).status, 'PENDING')
  for (const unknown of ['pixCode', 'providerTransactionId']) {
    assert.equal(unknown in createdView(cashInAs('PENDING')), false)
  }
  assert.equal(createdView(cashInAs('PENDING', { facts: CHARGED })).pixCode, 'the code')
  const { detail } = cashInAs('PENDING')
  const hidden = cashInAs('PENDING', { facts: CHARGED, detail: { ...detail, generateQrCode: false } })
  assert.equal('pixCode' in createdView(hidden), false)
  assert.equal(detailView(hidden, CREATED_AT).pixCode, null)
})

test('[cash-in.states.6] a code that was shown before is withheld once the bank contradicts', () => {
  const doubted = cashInAs('RECONCILIATION_REQUIRED', { facts: { ...CHARGED, ...reasonFact('conflict') } })
  assert.equal(detailView(doubted, NOW).pixCode, null)
  assert.equal('pixCode' in createdView(doubted), false)
})

test('[cash-in.detail.1] what was received is shown where it is more or less than what was asked for', () => {
  const receivedOf = (payments: Record<string, number>) =>
    detailView(cashInAs('RECONCILIATION_REQUIRED', { facts: { payments } }), NOW).receivedCents
  assert.equal(receivedOf({}), 0)
  assert.equal(receivedOf({ E1: 9_000 }), 9_000)
  assert.equal(receivedOf({ E1: 10_000, E2: 10_100 }), 20_100)
})
