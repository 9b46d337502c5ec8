import assert from 'node:assert/strict'
import test from 'node:test'
import { errors, fieldRefusal, Refusal } from '../src/errors.ts'

const STATUSES = [400, 401, 403, 404, 405, 409, 410, 413, 421, 422, 429, 500, 503]

for (const [code, { status, title, message }] of Object.entries(errors)) {
  test(`[http.2] ${code} is well formed`, () => {
    assert.match(code, /^[a-z]+(_[a-z]+)*$/)
    assert.ok(STATUSES.includes(status))
    assert.match(title, /^[A-Z].*[^.]$/)
    assert.match(message, /[^.]$/)
  })
}

test('[http.2] the messages of refunds are those of the specification, byte for byte', () => {
  assert.equal(errors.refund_value_not_positive.message, 'refundValue must be greater than zero')
  assert.equal(errors.refund_exceeds_available.message, 'refundValue exceeds the amount available for refund')
  assert.equal(errors.refund_deadline_exceeded.message, 'refund deadline of 89 days has been exceeded')
  assert.equal(errors.cash_in_not_paid.message, 'refunds can only be issued for PAID cash-in transactions')
  assert.equal(errors.cash_in_not_found.message, 'original cash-in transaction not found')
})

test('[http.2] a refusal carries the message of its code unless it knows a better one', () => {
  assert.equal(new Refusal('not_found').message, 'resource not found')
  const refusal = new Refusal('validation_error', {
    message: 'value is missing',
    fields: [{ field: 'transaction.value', code: 'required', message: 'is required' }],
  })
  assert.equal(refusal.message, 'value is missing')
  assert.equal(refusal.fields[0]?.field, 'transaction.value')
})

test('[http.1] a refused field is reported in the words of the error, under its whole path', () => {
  const refusal = fieldRefusal('value_not_positive', 'transaction.value', 'not_positive')
  assert.equal(refusal.code, 'value_not_positive')
  assert.equal(refusal.message, 'value must be greater than zero')
  assert.deepEqual(refusal.fields, [
    { field: 'transaction.value', code: 'not_positive', message: 'transaction.value must be greater than zero' },
  ])
})
