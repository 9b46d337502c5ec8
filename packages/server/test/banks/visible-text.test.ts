import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { readBody } from '../../src/banks/pixgate/inbound.ts'
import { qrCodeAnswer, readCharge, readPayout, readRefund } from '../../src/banks/pixgate/protocol.ts'
import { visibleText } from '../../src/banks/values.ts'
import { CHARGE, PAYMENT } from './pixgate/charges.ts'
import { CONFIRMED, PROCESSING as PAYING } from './pixgate/payouts.ts'
import { QR_CODE } from './pixgate/qr-codes.ts'
import { PROCESSING as REFUNDING } from './pixgate/refunds.ts'

/** Characters that turn the text after them or end a line. */
const HIDDEN = 'Maria \u202eavliS ad\u0085'
const SHOWN = 'Maria \ufffdavliS ad\ufffd'
const WHO = { name: HIDDEN, document: '529\u2066', ispb: '9\u009b' }
const WHOM = { name: SHOWN, document: '529\ufffd', ispb: '9\ufffd' }
const WHY = { errorCode: 'AC\u202e', errorMessage: HIDDEN }
const REASON = { errorCode: 'AC\ufffd', errorMessage: SHOWN }

test('[text.3] in an answer, names, documents and reasons hide nothing', () => {
  const paid = { ...CHARGE, status: 'PAID', payments: [{ ...PAYMENT, payer: WHO }] }
  assert.partialDeepStrictEqual(readCharge(paid), { payments: [{ endToEndId: PAYMENT.endToEndId, payer: WHOM }] })
  assert.partialDeepStrictEqual(readPayout({ ...CONFIRMED, recipient: WHO }), { recipient: WHOM })
  assert.partialDeepStrictEqual(readPayout({ ...PAYING, status: 'FAILED', ...WHY }), REASON)
  assert.partialDeepStrictEqual(readRefund({ ...REFUNDING, status: 'FAILED', ...WHY }), REASON)
  const { name, document } = WHO
  const code = { ...QR_CODE, recipient: { ...QR_CODE.recipient, name, document } }
  assert.partialDeepStrictEqual(qrCodeAnswer({ kind: 'answered', httpStatus: 200, json: code }), {
    qrCode: { recipient: { name: WHOM.name, document: WHOM.document } },
  })
})

test('[text.3] in an event, names, documents and reasons hide nothing', () => {
  const told = { transactionId: 'tx', externalId: 'order-1', valueCents: 1000, endToEndId: 'E1' }
  const about = { ...told, eventId: '1', occurredAt: '2026-11-21T13:15:00Z' }
  const read = (route: 'cash-in' | 'cash-out', event: object) => readBody(route, Buffer.from(JSON.stringify(event)))
  const payment = { event: 'CashIn', status: 'CONFIRMED', ...about, payer: WHO }
  assert.partialDeepStrictEqual(read('cash-in', payment), { payment: { payer: WHOM } })
  const payout = { event: 'CashOut', status: 'CONFIRMED', ...about, recipient: WHO }
  assert.partialDeepStrictEqual(read('cash-out', payout), { movement: { recipient: WHOM } })
  const failed = { event: 'CashOut', status: 'FAILED', ...about, ...WHY }
  assert.partialDeepStrictEqual(read('cash-out', failed), { failure: REASON })
})

test('[text.3] any text keeps its length, and harmless text is unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const shown = visibleText(text)
      assert.equal(shown.length, text.length)
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u)
    }),
  )
  for (const text of ['José da Conceição', '李小龍', 'שלום', '👩🏽‍💻', '']) assert.equal(visibleText(text), text)
})
