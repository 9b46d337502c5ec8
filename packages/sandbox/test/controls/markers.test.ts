import assert from 'node:assert/strict'
import test from 'node:test'
import { world } from '../../../server/test/support/world.ts'

test('[sandbox.21] a marker in the description reaches the bank and concerns its operation alone', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await pix.balance(10_000)
  const failing = await pix.cashOut({ description: 'Repasse bank:fail:AB03' })
  const other = await pix.cashOut({ description: 'Repasse' })
  const failed = await pix.until(`/api/pix/cash-out/${failing.id}`, ({ status }) => status === 'FAILED')
  assert.equal(failed.failureCode, 'AB03')
  await pix.until(`/api/pix/cash-out/${other.id}`, ({ status }) => status === 'CONFIRMED')
  const paying = await pix.charge('10.00', { description: 'Pedido bank:pay' })
  await pix.until(`/api/pix/cash-in/${paying.id}`, ({ status }) => status === 'PAID')
  await pix.assertBooksAgree()
})
