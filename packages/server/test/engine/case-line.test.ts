import assert from 'node:assert/strict'
import test from 'node:test'
import { type CaseKindName, caseKinds } from '@pixgate/spec'
import { caseLine } from '../../src/engine/cases.ts'
import type { Case } from '../../src/engine/operation.ts'

const CHARGE = { kind: 'cash_in', valueCents: 1_000n } as const
const BOOKED = { operationId: 'charge-1', valueCents: 7 }

type Line = readonly [kind: CaseKindName, of: typeof CHARGE | undefined, facts: object, fields: object]

/** Facts of a case, and the fields that its line has for them. */
const LINES: readonly Line[] = [
  ['payment_in_suspense', CHARGE, { valueCents: 900, payer: 'A' }, { reportedCents: 900, expectedCents: 1_000 }],
  ['charge_unclear', CHARGE, {}, {}],
  ['event_set_aside', undefined, { inboxId: 'inbox-1' }, { inboxId: 'inbox-1' }],
  ['line_differs', undefined, { valueCents: 5, booked: BOOKED }, { reportedCents: 5, expectedCents: 7 }],
]

for (const [kind, of, facts, fields] of LINES)
  test(`[logs.3] the line of ${kind} has the amounts or the event that the case has, and nothing else of it`, () => {
    const opened = { operationId: of ? 'charge-1' : null, kind, reference: 'E1', facts: { rule: 'test.1', ...facts } }
    const { operationId, reference } = opened
    const line = { case: kind, operationId, reference, meaning: caseKinds[kind].meaning, rule: 'test.1' }
    assert.deepEqual(caseLine(opened as Case, of), { ...line, ...fields })
  })
