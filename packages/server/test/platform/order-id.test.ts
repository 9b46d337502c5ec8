import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { isOrderId, orderId, ownOrderId } from '../../src/platform/ids.ts'
import { INSTALLATION } from '../support/limits.ts'

test('[ids.4] an order id is the beginning of a SHA-256 over installation, kind, payment and external id', () => {
  const derived = (...name: string[]) => createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 32)
  assert.equal(
    orderId(INSTALLATION, { kind: 'cash_out', externalId: 'order "1"' }),
    derived(INSTALLATION, 'cash_out', 'order "1"'),
  )
  assert.equal(
    orderId(INSTALLATION, { kind: 'refund_in', endToEndId: 'E1', externalId: 'a' }),
    derived(INSTALLATION, 'refund_in', 'E1', 'a'),
  )
})

test('[ids.4] another installation, kind, payment or external id has another order id', () => {
  const ids = [
    orderId(INSTALLATION, { kind: 'cash_in', externalId: 'a' }),
    orderId(INSTALLATION, { kind: 'cash_out', externalId: 'a' }),
    orderId(INSTALLATION, { kind: 'cash_in', externalId: 'b' }),
    orderId('another', { kind: 'cash_in', externalId: 'a' }),
    orderId(INSTALLATION, { kind: 'refund_in', endToEndId: 'E1', externalId: 'a' }),
    orderId(INSTALLATION, { kind: 'refund_in', endToEndId: 'E2', externalId: 'a' }),
    ownOrderId('0198c0de-7a11-7000-8000-5f1d3c2b1a09'),
  ]
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.ok(isOrderId(id), id)
})

test('[ids.4] a public id, capitals and shorter texts are no order ids', () => {
  for (const text of ['0198c0de-7a11-7000-8000-5f1d3c2b1a09', 'A'.repeat(32), 'a'.repeat(31), ''])
    assert.ok(!isOrderId(text))
})
