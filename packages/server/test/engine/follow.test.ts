import assert from 'node:assert/strict'
import test from 'node:test'
import { machine } from '@pixgate/spec'
import { follow, notificationOf, reasonFact } from '../../src/engine/follow.ts'
import type { Operation } from '../../src/engine/operation.ts'
import { operationAs } from '../support/operation.ts'

/** What rows post, notify, open and close is tested with the rows themselves: cash-in/rules, cash-out/rules, refund-in/rules. */

const DOOR = machine({
  resource: 'door',
  states: ['PENDING', 'PAID', 'RECONCILIATION_REQUIRED'],
  meanings: { PENDING: 'Open.', PAID: 'Shut.', RECONCILIATION_REQUIRED: 'Stuck.' },
  reasons: { no_answer: 'Nobody answers the bell.', conflict: 'Two say different things.' },
  triggers: ['push', 'pull', 'doubt'],
  guards: {},
  // biome-ignore format: one line of the table is one line
  lines: [
    { from: 'PENDING', on: 'push', to: 'PAID', rule: 'door.1', says: 'It shuts.' },
    { from: 'RECONCILIATION_REQUIRED:conflict', on: 'pull', to: 'PENDING', rule: 'door.2', says: 'It opens.' },
    { from: 'RECONCILIATION_REQUIRED:*', on: 'doubt', to: 'same', rule: 'door.3', says: 'A doubt stays one.' },
  ],
})

const NOW = 1_700_000_000_000

const OPEN = operationAs({
  ...{ id: 'door-1', status: 'PENDING', dueAt: 5, facts: { colour: 'red' } },
  openCases: [{ id: 'case 2', kind: 'payment_in_suspense', reference: 'E1', rule: 'cash-in.states.8', version: 1 }],
})

test('[engine.1] a row brings its move, with what it changes, and the operation as it then is', () => {
  const changed = { facts: { became: 'PAID' }, dueAt: null, endToEndId: 'E1' }
  const step = { on: 'push', holds: () => false, reference: 'E1', changes: () => changed } as const
  const { moves, outcome } = follow(DOOR, OPEN, { ...step, outcome: (after) => after }, NOW)
  assert.deepEqual(moves, [{ operationId: 'door-1', trigger: 'push', to: 'PAID', ...changed }])
  const after = { ...OPEN, ...changed, status: 'PAID', version: 2, updatedAt: NOW }
  assert.deepEqual(outcome, { ...after, facts: { colour: 'red', became: 'PAID' } })
})

test('[engine.19] what closes besides is named, and what is not known cannot be closed', () => {
  const step = { holds: () => false, reference: '', outcome: () => undefined }
  const closing = { ...step, on: 'push', changes: () => ({ closes: ['case 2'] }) } as const
  assert.deepEqual(follow(DOOR, OPEN, closing, NOW).closes, ['case 2'])
  const { openCases, ...unread } = OPEN
  const stuck: Operation = { ...unread, status: 'RECONCILIATION_REQUIRED', facts: reasonFact('conflict') }
  assert.throws(() => follow(DOOR, stuck, { ...step, on: 'pull' }, NOW), /open cases .* were not read/)
})

test('[events.6] the notification of a failure says why, any other does not', () => {
  const facts = { failureCode: 'removed', failureReason: 'removed by the bank' }
  const events = (['FAILED', 'PAID'] as const).map((status) => {
    const told = { eventType: 'pix_cash_in', status, reference: '', event: { status } } as const
    return JSON.parse(String(notificationOf('door-1', told, facts).body)).event
  })
  assert.deepEqual(events, [
    { status: 'FAILED', failure_code: 'removed', failure_reason: 'removed by the bank' },
    { status: 'PAID' },
  ])
})
