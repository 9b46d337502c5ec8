import assert from 'node:assert/strict'
import test from 'node:test'
import {
  type CaseDecision,
  type CaseKind,
  type CaseWithoutOperation,
  caseKinds,
  cashIn,
  cashOut,
  refundIn,
} from '@pixgate/spec'
import { type CaseSubject, optionsOf, type ReadCase } from '../../../src/cases/without-operation.ts'

/** No kind of case is without a way out, and none offers what is not declared of it. */

const EVENT: CaseSubject = {
  is: 'event',
  inboxId: 'inbox',
  ordinal: 0,
  endpoint: 'cash-in',
  body: Buffer.from('{}'),
  receivedAt: 0,
  state: 'PARKED',
  outcome: 'CASE_OPENED',
  setAsideAt: 1,
  isReadable: true,
  valueCents: 1n,
}
const LINE: CaseSubject = {
  is: 'line',
  kind: 'PAYOUT_SENT',
  direction: 'out',
  movementId: 'E1',
  valueCents: 1n,
  bookedOn: null,
  takenBackFrom: null,
}
const MOVEMENT = { direction: 'in', id: 'E1', valueCents: 1n } as const
const NOTHING: CaseSubject = { is: 'nothing' }
const booked = [{ status: 'CREDITED', valueCents: 1n }] as const

/** What each kind is about, where there is something to decide. What is booked or told meanwhile closes its case by itself. */
const SUBJECTS: Readonly<Record<CaseWithoutOperation, readonly CaseSubject[]>> = {
  unexplained_debit: [LINE],
  line_missing: [-1n, 1n].map((cents) => ({ is: 'difference', cents, movement: MOVEMENT })),
  line_differs: [-1n, 1n, 0n].map((cents) => ({ is: 'difference', cents, movement: MOVEMENT })),
  adjustment_requested: [-1n, 1n].map((cents) => ({ is: 'request', cents })),
  refund_requested: [{ is: 'refund', cashInId: 'c', valueCents: 1n, reason: 'r', externalId: null }],
  statement_unreadable: [NOTHING],
  event_set_aside: [EVENT, { ...EVENT, body: null }, { ...EVENT, isReadable: false }],
  ledger_drift: [NOTHING],
  close_differs: [NOTHING],
}

function decisionsOf(kind: CaseWithoutOperation, subject: CaseSubject): CaseDecision[] {
  const read: ReadCase = {
    ...{ id: 'case', kind, reference: 'in E1', rule: '', facts: {}, amountCents: null, closedAt: null, version: 1 },
    ...{ subject, about: 'about', booked: subject.is === 'line' ? [] : booked },
  }
  assert.deepEqual(optionsOf({ ...read, closedAt: 1 }), [], 'nothing is decided of a case that is closed')
  return optionsOf(read).map(({ decision }) => decision)
}

test('[cases.57] an event that is being applied is not dismissed', () => {
  assert.deepEqual(decisionsOf('event_set_aside', { ...EVENT, setAsideAt: null }), [])
})

test('[cases.54] what the merchant has not, or not whole, is neither taken back from them nor given back', () => {
  for (const cents of [-1n, 1n]) {
    const subject = { is: 'difference', cents, movement: MOVEMENT, isOthers: true } as const
    assert.deepEqual(decisionsOf('line_missing', subject), ['write_off'])
  }
})

for (const [kind, subjects] of Object.entries(SUBJECTS) as [CaseWithoutOperation, readonly CaseSubject[]][]) {
  test(`[cases.50] ${kind} has a way out while anything of it is to be decided`, () => {
    const seen = new Set<string>()
    for (const subject of subjects) {
      const decisions = decisionsOf(kind, subject)
      assert.ok(decisions.length > 0)
      for (const decision of decisions) seen.add(decision)
    }
    assert.deepEqual([...seen].toSorted(), Object.keys(caseKinds[kind].decisions).toSorted(), 'each can be reached')
  })
}

test('[cases.50] every kind and every decision is explained in a whole sentence', () => {
  for (const { meaning, decisions = {} } of Object.values<CaseKind>(caseKinds)) {
    for (const says of [meaning, ...Object.values(decisions)]) assert.match(says, /^[A-Z].*\.$/)
  }
})

test('[cases.10] no kind of case of an operation is without a way out', () => {
  for (const [operation, decides] of [
    ['cash_in', cashIn.rows.flatMap(({ decides = [] }) => decides)],
    ['cash_out', cashOut.rows.flatMap(({ decides = [] }) => decides)],
    ['refund_in', refundIn.rows.flatMap(({ decides = [] }) => decides)],
  ] as const) {
    const decided = new Set<string>(decides)
    const stuck = Object.entries<CaseKind>(caseKinds).filter(
      ([kind, { of }]) => of.includes(operation) && !decided.has(kind),
    )
    assert.deepEqual(stuck, [], operation)
  }
})

/** Kinds about money that the bank and the books have otherwise. */
const HOLDING = ['unexplained_debit', 'line_missing'] as const

test('[cases.61] no case of no operation that holds money can be closed', () => {
  for (const kind of HOLDING) {
    for (const subject of SUBJECTS[kind]) assert.ok(!decisionsOf(kind, subject).includes('close'), kind)
  }
  const closable = [-1n, 0n, 1n].map((cents) =>
    decisionsOf('line_differs', { is: 'difference', cents, movement: MOVEMENT }).includes('close'),
  )
  assert.deepEqual(closable, [false, true, false])
})
