import assert from 'node:assert/strict'
import test from 'node:test'
import { cashIn, cashOut, refundIn } from '@pixgate/spec'
import { doubtCaseIds } from '../../src/engine/cases.ts'
import { operationAs } from '../support/operation.ts'

/** Whether the end of a doubt closes a case that was opened by this rule. */
function isClosedByEnd(rule: string): boolean {
  const kind = [...cashIn.lines, ...cashOut.lines, ...refundIn.lines].find((line) => line.rule === rule)?.opens
  assert.ok(kind, `${rule} opens a case`)
  const openCases = [{ id: 'open', kind, reference: '', rule, version: 1 }]
  return doubtCaseIds(operationAs({ id: 'a', openCases })).length > 0
}

test('[ledger.suspense] the end of a doubt closes no case of money that arrived or left unattributed, nor one that casts no doubt, and every other', () => {
  const arrived = ['cash-in.states.14', 'cash-in.failed.2', 'cash-in.paid.4', 'cash-out.reconciliation.3']
  const left = ['cash-in.refunds.9', 'cash-in.returns.4', 'cash-out.reconciliation.2', 'refund-in.doubt.8']
  const beside = ['cash-in.refunds.6', 'cash-in.refunds.11', 'cash-in.credits.4']
  for (const rule of [...arrived, ...left, ...beside]) assert.equal(isClosedByEnd(rule), false, rule)
  const answers = ['cash-in.unknown.7', 'cash-in.states.6', 'cash-in.expired.5']
  const outcomes = ['cash-out.states.15', 'cash-out.states.9', 'refund-in.states.10']
  const elsewhere = ['cash-in.states.13', 'cash-out.states.16', 'refund-in.doubt.9']
  for (const rule of [...answers, ...outcomes, ...elsewhere]) assert.equal(isClosedByEnd(rule), true, rule)
})
