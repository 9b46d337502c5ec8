import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { readBody } from '../../src/banks/pixgate/messages.ts'
import { charges } from '../../src/banks/pixgate/protocol/charge.ts'
import { payouts } from '../../src/banks/pixgate/protocol/payout.ts'
import { qrCodeOf } from '../../src/banks/pixgate/protocol/qr-code.ts'
import { refunds } from '../../src/banks/pixgate/protocol/refund.ts'
import { visibleText } from '../../src/banks/visible-text.ts'
import { CHARGE, ID as CHARGE_ID, REQUEST as CHARGE_REQUEST, PAYMENT } from './pixgate/charges.ts'
import { CONFIRMED, PROCESSING as PAYING, ID as PAYOUT_ID, REQUEST as PAYOUT_REQUEST } from './pixgate/payouts.ts'
import { QR_CODE } from './pixgate/qr-codes.ts'
import { ID as REFUND_ID, REQUEST as REFUND_REQUEST, PROCESSING as REFUNDING } from './pixgate/refunds.ts'

/** What turns the text after it, and what ends a line. */
const HIDDEN = 'Maria \u202eavliS ad\u0085'
const SHOWN = 'Maria \ufffdavliS ad\ufffd'
const WHO = { name: HIDDEN, document: '529\u2066', ispb: '9\u009b' }
const WHOM = { name: SHOWN, document: '529\ufffd', ispb: '9\ufffd' }
const WHY = { errorCode: 'AC\u202e', errorMessage: HIDDEN }
const REASON = { errorCode: 'AC\ufffd', errorMessage: SHOWN }

const answered = (json: unknown) => ({ kind: 'answered', httpStatus: 200, json }) as const

test('[text.3] in an answer, names, documents and reasons hide nothing', () => {
  const paid = { ...CHARGE, status: 'PAID', payments: [{ ...PAYMENT, payer: WHO }] }
  assert.partialDeepStrictEqual(charges.judge(CHARGE_ID, charges.termsOf(CHARGE_REQUEST))(answered(paid)), {
    charge: { payments: [{ endToEndId: PAYMENT.endToEndId, payer: WHOM }] },
  })
  const payout = payouts.judge(PAYOUT_ID, payouts.termsOf(PAYOUT_REQUEST))
  assert.partialDeepStrictEqual(payout(answered({ ...CONFIRMED, recipient: WHO })), { payout: { recipient: WHOM } })
  assert.partialDeepStrictEqual(payout(answered({ ...PAYING, status: 'FAILED', ...WHY })), { payout: REASON })
  const refund = refunds.judge(REFUND_ID, refunds.termsOf(REFUND_REQUEST))
  assert.partialDeepStrictEqual(refund(answered({ ...REFUNDING, status: 'FAILED', ...WHY })), { refund: REASON })
  const { name, document } = WHO
  assert.partialDeepStrictEqual(qrCodeOf({ ...QR_CODE, recipient: { ...QR_CODE.recipient, name, document } }), {
    recipient: { name: WHOM.name, document: WHOM.document },
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

test('[text.3] any text stays as long as it is, and what everybody may write stays as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const shown = visibleText(text)
      assert.equal(shown.length, text.length)
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/u)
    }),
  )
  for (const text of ['José da Conceição', '李小龍', 'שלום', '👩🏽‍💻', '']) assert.equal(visibleText(text), text)
})
