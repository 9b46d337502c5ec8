import assert from 'node:assert/strict'
import test from 'node:test'
import { suspenseCases } from '../src/suspense-cases.ts'

test('[ledger.suspense] cases of money that arrived or left unattributed are distinguished from those that the end of a doubt closes', () => {
  const arrived = ['paid_before_charge', 'paid_after_failure', 'returned_in_doubt', 'suspended_payment_returned']
  const left = ['return_unattributed', 'return_unexplained', 'confirmed_in_doubt', 'confirmed_unnamed']
  const none = ['result_missing', 'outcome_overdue', 'charge_contradicted', 'end_unknown', 'send_contradicted']
  for (const kind of [...arrived, ...left, 'movement_elsewhere', 'second_payment', 'amount_differs'])
    assert.equal(suspenseCases.has(kind), true, kind)
  for (const kind of none) assert.equal(suspenseCases.has(kind), false, kind)
})
