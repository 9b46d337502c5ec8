import assert from 'node:assert/strict'
import test from 'node:test'
import { cashOut } from '@pixgate/spec'
import { createdFromQrCodeView, createdView, detailView } from '../../src/cash-out/api.ts'
import { cashOutAs, LEFT } from './situations.ts'

/** What both answers say of the payout of these tests when it is new; of this only its status changes. */
const NEW = {
  id: '0198c0e1-22b4-7000-8000-6a7b8c9d0e1f',
  externalId: 'payout-1',
  status: 'RESERVED',
  valueCents: 3000,
  createdAt: '2026-11-21T13:20:00.000Z',
}

test('[cash-out.detail.1] a new payout shows all that was asked for, and null for what is not known', () => {
  assert.deepEqual(detailView(cashOutAs('RESERVED')), {
    ...NEW,
    correlationId: 'test',
    description: null,
    paymentType: 'key',
    recipient: { name: 'João', pixKey: 'joao@example.com', pixKeyType: 'email', document: null, ispb: null },
    max_fee_cents: 100,
    reserved_total_cents: 3100,
    endToEndId: null,
    transactionId: null,
    feeAmountCents: 0,
    reversedCents: 0,
    failureCode: null,
    failureReason: null,
    dispatchedAt: null,
    confirmedAt: null,
    updatedAt: '2026-11-21T13:28:00.000Z',
  })
})

test('[cash-out.detail.1] what left is shown as the bank reported it, the document masked', () => {
  const detail = detailView(cashOutAs('CONFIRMED'))
  assert.deepEqual(detail.recipient, {
    name: 'João Souza',
    pixKey: 'joao@example.com',
    pixKeyType: 'email',
    document: '***.444.777-**',
    ispb: '99999010',
  })
  assert.deepEqual([detail.endToEndId, detail.transactionId, detail.feeAmountCents], ['E1', 'tx', 100])
  assert.deepEqual([detail.dispatchedAt, detail.confirmedAt], ['2026-11-21T13:28:00.000Z', '2026-11-21T13:29:00.000Z'])
})

test('[cash-out.detail.1] a document that the bank made up is not shown at all', () => {
  const documentOf = (recipientDocument: string | null) =>
    detailView(cashOutAs('CONFIRMED', { facts: { ...LEFT, recipientDocument } })).recipient.document
  for (const document of ['12345678901', 'João', '', null]) assert.equal(documentOf(document), null)
})

test('[cash-out.reversal.1] what came back is added up, and what is in suspense is not credited', () => {
  const facts = { ...LEFT, returns: { D1: 10_00, D2: 5_00 }, suspendedReturns: { D3: 30_00 } }
  assert.equal(detailView(cashOutAs('REVERSED', { facts })).reversedCents, 15_00)
  assert.equal(detailView(cashOutAs('REVERSED', { facts })).feeAmountCents, 100, 'the fee is kept')
})

test('[cash-out.states.3] a release is shown as such, with its reason', () => {
  const { status, failureCode, feeAmountCents } = detailView(cashOutAs('RELEASED'))
  assert.deepEqual([status, failureCode, feeAmountCents], ['RELEASED', 'never_sent', 0])
})

test('[cash-out.create.4] the 201 says RESERVED whatever has happened since, and only what never changes', () => {
  for (const status of cashOut.states) {
    const recipient = { name: 'João', pixKey: 'joao@example.com' }
    assert.deepEqual(createdView(cashOutAs(status)), { ...NEW, recipient })
    assert.deepEqual(createdFromQrCodeView(cashOutAs(status)), { ...NEW, recipient, paymentType: 'qrcode' })
  }
})

test('[cash-out.create.5] the 201 has what was given and leaves out what was not', () => {
  const { detail } = cashOutAs('RESERVED')
  const given = createdView(cashOutAs('RESERVED', { detail: { ...detail, description: 'Invoice 77' } }))
  assert.equal(given.description, 'Invoice 77')
  const recipient = { ...detail.recipient, name: null }
  const { pixKey } = recipient
  assert.deepEqual(createdView(cashOutAs('RESERVED', { detail: { ...detail, recipient } })).recipient, { pixKey })
})
