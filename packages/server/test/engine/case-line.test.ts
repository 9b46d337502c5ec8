import assert from 'node:assert/strict'
import test from 'node:test'
import { cashIn, looseCases } from '@pixgate/spec'
import { caseLine } from '../../src/engine/case-line.ts'
import type { Case } from '../../src/engine/operation.ts'

const CHARGE = { kind: 'cash_in', valueCents: 1_000n } as const

test('[logs.3] a case with money says how much was expected and told, and what was done with it', () => {
  const facts = { endToEndId: 'E1', valueCents: 900, occurredAt: 0 }
  const opened = { operationId: 'charge-1', kind: 'amount_differs', reference: 'E1', facts }
  assert.deepEqual(caseLine(opened, CHARGE), {
    ...{ case: 'amount_differs', operationId: 'charge-1', reference: 'E1', reportedCents: 900, expectedCents: 1_000 },
    meaning: cashIn.cases.amount_differs,
  })
})

test('[logs.3] a case without money says no amount', () => {
  const opened = { operationId: 'charge-1', kind: 'result_missing', reference: '', facts: {} }
  assert.deepEqual(caseLine(opened, CHARGE), {
    ...{ case: 'result_missing', operationId: 'charge-1', reference: '' },
    meaning: cashIn.cases.result_missing,
  })
})

test('[logs.3] a case of an event names it, and one of the statement both amounts', () => {
  const ofEvent: Case = {
    operationId: null,
    kind: 'quarantined_event',
    reference: 'hash',
    facts: { inboxId: 'inbox-1' },
  }
  assert.deepEqual(caseLine(ofEvent, undefined), {
    ...{ case: 'quarantined_event', operationId: null, reference: 'hash', inboxId: 'inbox-1' },
    meaning: looseCases.quarantined_event.meaning,
  })
  const facts = { valueCents: 5, booked: { operationId: 'charge-1', valueCents: 7 } }
  const ofStatement: Case = { operationId: null, kind: 'statement_differs', reference: 'in E1', facts }
  assert.deepEqual(caseLine(ofStatement, undefined), {
    ...{ case: 'statement_differs', operationId: null, reference: 'in E1', reportedCents: 5, expectedCents: 7 },
    meaning: looseCases.statement_differs.meaning,
  })
})
