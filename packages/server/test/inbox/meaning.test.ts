import assert from 'node:assert/strict'
import test from 'node:test'
import type { Match } from '../../src/engine/operation-store.ts'
import { meaningOf, meaningOfReversal } from '../../src/inbox/rules.ts'

function named(id: string, by: Match['by'], given: Partial<Match> = {}): Match {
  return { id, by, of: null, isBanks: false, ...given }
}

const refund = (id: string, by: Match['by'], of = 'A') => named(id, by, { of })

test('[partner-inbox.12] references must agree, or the event matches no operation', () => {
  assert.deepEqual(meaningOf([]), { id: undefined, among: [] })
  assert.deepEqual(meaningOf([named('A', 'orderId'), named('A', 'transactionId')]), { id: 'A', among: ['A'] })
  const two = { id: undefined, among: ['A', 'B'] }
  assert.deepEqual(meaningOf([named('A', 'externalId'), named('B', 'transactionId')]), two)
  assert.deepEqual(meaningOf([named('A', 'orderId'), named('B', 'endToEndId')]), two)
})

test('[partner-inbox.12] [EV-34] our own id in an event matches no operation that has it as its externalId', () => {
  assert.equal(meaningOf([named('A', 'orderId'), named('B', 'externalId')]).id, 'A')
  assert.equal(meaningOfReversal([refund('R', 'externalId', 'B')], [named('A', 'orderId')]).id, 'A')
})

test('[partner-inbox.10] a refund may be named beside its cash-in, and by its cash-in’s end-to-end id', () => {
  const cashIn = [named('A', 'endToEndId'), named('A', 'transactionId')]
  assert.deepEqual(meaningOfReversal([refund('R', 'orderId')], cashIn), { id: 'R', among: ['R'] })
  assert.deepEqual(meaningOfReversal([], cashIn), { id: 'A', among: ['A'] })
})

test('[partner-inbox.10] returns made by the bank under one reference belong to their cash-in', () => {
  const banks = ['P', 'Q'].map((id) => named(id, 'transactionId', { of: 'A', isBanks: true }))
  assert.deepEqual(meaningOfReversal(banks, []), { id: 'A', among: ['A'] })
  assert.equal(meaningOfReversal([...banks, refund('R', 'orderId')], []).id, 'R')
})

test('[partner-inbox.12] [EV-26] two refunds, or a refund and another cash-in, cause a query', () => {
  const two = [refund('R', 'transactionId'), refund('S', 'externalId')]
  assert.deepEqual(meaningOfReversal(two, [named('A', 'endToEndId')]), { id: undefined, among: ['R', 'S'] })
  const other = meaningOfReversal([refund('R', 'externalId')], [named('B', 'endToEndId')])
  assert.deepEqual(other, { id: undefined, among: ['R', 'B'] })
})
