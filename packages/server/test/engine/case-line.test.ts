import assert from 'node:assert/strict'
import test from 'node:test'
import { caseKinds } from '@pixgate/spec'
import { caseLine } from '../../src/engine/cases.ts'
import type { Case } from '../../src/engine/operation.ts'

const CHARGE = { kind: 'cash_in', valueCents: 1_000n } as const

test('[logs.3] a case with money says how much was expected and told, and what was done with it', () => {
  const facts = { rule: 'cash-in.states.8', endToEndId: 'E1', valueCents: 900, occurredAt: 0 }
  const opened: Case = { operationId: 'charge-1', kind: 'payment_in_suspense', reference: 'E1', facts }
  assert.deepEqual(caseLine(opened, CHARGE), {
    ...{
      case: 'payment_in_suspense',
      operationId: 'charge-1',
      reference: 'E1',
      reportedCents: 900,
      expectedCents: 1_000,
    },
    meaning: caseKinds.payment_in_suspense.meaning,
    rule: 'cash-in.states.8',
  })
})

test('[logs.3] a case without money says no amount', () => {
  const opened: Case = {
    operationId: 'charge-1',
    kind: 'charge_unclear',
    reference: '',
    facts: { rule: 'cash-in.unknown.7' },
  }
  assert.deepEqual(caseLine(opened, CHARGE), {
    ...{ case: 'charge_unclear', operationId: 'charge-1', reference: '' },
    meaning: caseKinds.charge_unclear.meaning,
    rule: 'cash-in.unknown.7',
  })
})

test('[logs.3] a case of an event names it, and one of the statement both amounts', () => {
  const ofEvent: Case = {
    operationId: null,
    kind: 'event_set_aside',
    reference: 'hash',
    facts: { rule: 'partner-inbox.13', inboxId: 'inbox-1' },
  }
  assert.deepEqual(caseLine(ofEvent, undefined), {
    ...{ case: 'event_set_aside', operationId: null, reference: 'hash', inboxId: 'inbox-1' },
    meaning: caseKinds.event_set_aside.meaning,
    rule: 'partner-inbox.13',
  })
  const facts = { rule: 'statement.7', valueCents: 5, booked: { operationId: 'charge-1', valueCents: 7 } }
  const ofStatement: Case = { operationId: null, kind: 'line_differs', reference: 'in E1', facts }
  assert.deepEqual(caseLine(ofStatement, undefined), {
    ...{ case: 'line_differs', operationId: null, reference: 'in E1', reportedCents: 5, expectedCents: 7 },
    meaning: caseKinds.line_differs.meaning,
    rule: 'statement.7',
  })
})
