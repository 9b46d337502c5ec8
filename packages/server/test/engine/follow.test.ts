import assert from 'node:assert/strict'
import test from 'node:test'
import { machine } from '@pixgate/spec'
import { follow, notificationOf, reasonFact } from '../../src/engine/follow.ts'
import type { Decision, Operation } from '../../src/engine/operation.ts'
import { operationAs } from '../support/operation.ts'

type DoorStatus = 'PENDING' | 'PAID' | 'RECONCILIATION_REQUIRED'
type Door = Omit<Operation, 'status'> & { readonly status: DoorStatus }

/** A machine as small as one can be that uses everything a row may say. */
const DOOR = machine({
  resource: 'door',
  states: ['PENDING', 'PAID', 'RECONCILIATION_REQUIRED'],
  meanings: { PENDING: 'Open.', PAID: 'Shut.', RECONCILIATION_REQUIRED: 'Stuck.' },
  reasons: { no_answer: 'Nobody answers the bell.', conflict: 'Two say different things.' },
  triggers: ['push', 'pull', 'doubt', 'knock'],
  guards: { 'is heavy': 'the door is heavy', 'is locked': 'the door is locked' },
  // biome-ignore format: one line of the table is one line
  lines: [
    { from: 'PENDING', on: 'push', when: 'is locked', to: 'same', rule: 'door.1', says: 'A locked door does not move.' },
    { from: 'PENDING', on: 'push', when: 'is heavy', to: 'RECONCILIATION_REQUIRED:conflict', posts: 'arrived_unattributed', opens: 'bank_contradicts', rule: 'door.2', says: 'A heavy door sticks.' },
    { from: 'PENDING', on: 'push', to: 'PAID', emits: 'pix_cash_in', rule: 'door.3', says: 'Any other shuts.' },
    { from: 'PAID', on: 'knock', to: 'ignored', rule: 'door.7', says: 'Nobody hears.' },
    { from: 'PAID', on: 'pull', to: 'PENDING', rule: 'door.4', says: 'It opens.' },
    { from: 'RECONCILIATION_REQUIRED:conflict', on: 'pull', to: 'PENDING', rule: 'door.5', says: 'So does a stuck one.' },
    { from: 'RECONCILIATION_REQUIRED:*', on: 'doubt', to: 'same', opens: 'bank_contradicts', rule: 'door.6', says: 'A doubt stays one.' },
  ],
})

const NOW = 1_700_000_000_000

const door = (status: DoorStatus): Door => ({
  ...operationAs({
    id: 'door-1',
    dueAt: 5,
    facts: { colour: 'red', ...(status === 'RECONCILIATION_REQUIRED' ? reasonFact('conflict') : {}) },
    openCases: [
      { id: 'case 1', kind: 'charge_unclear', reference: '', rule: 'cash-in.unknown.7', version: 1 },
      { id: 'case 2', kind: 'payment_in_suspense', reference: 'E1', rule: 'cash-in.states.8', version: 1 },
      { id: 'case 3', kind: 'bank_contradicts', reference: '', rule: 'door.2', version: 1 },
    ],
  }),
  status,
})

type Outcome = { readonly after: Door; readonly isApplied: boolean }

function followed(
  status: DoorStatus,
  on: 'push' | 'pull' | 'doubt' | 'knock',
  holding: readonly string[] = [],
): Decision<Outcome> {
  return follow(
    DOOR,
    door(status),
    {
      on,
      holds: (guard) => holding.includes(guard),
      changes: ({ to }) => ({ facts: { became: to }, dueAt: null, endToEndId: 'E1' }),
      amounts: { p: 100n },
      reference: 'E1',
      notification: (status) => ({
        eventType: 'pix_cash_in',
        status,
        reference: '',
        event: { now: status },
      }),
      evidence: { pushedBy: 'Maria' },
      outcome: (after, isApplied) => ({ after, isApplied }),
    },
    NOW,
  )
}

test('[engine.1] where no row applies nothing changes, and the operation is the very same', () => {
  const decision = followed('PAID', 'push')
  assert.deepEqual(Object.keys(decision), ['outcome'])
  assert.deepEqual(decision.outcome, { after: door('PAID'), isApplied: false })
})

test('[engine.1] where a row says that it is ignored nothing is written either', () => {
  assert.deepEqual(followed('PAID', 'knock'), { outcome: { after: door('PAID'), isApplied: false } })
})

test('[engine.1] rows are tried in their order; the first whose condition holds counts', () => {
  const to = (holding: readonly string[]) => followed('PENDING', 'push', holding).outcome.after.status
  assert.equal(to([]), 'PAID')
  assert.equal(to(['is heavy']), 'RECONCILIATION_REQUIRED')
  assert.equal(to(['is heavy', 'is locked']), 'PENDING')
})

test('[engine.1] a row brings its move, with what it changes, and the operation as it then is', () => {
  const { moves, outcome } = followed('PENDING', 'push')
  assert.deepEqual(moves, [
    {
      operationId: 'door-1',
      trigger: 'push',
      to: 'PAID',
      facts: { became: 'PAID' },
      dueAt: null,
      endToEndId: 'E1',
    },
  ])
  const after = { status: 'PAID', version: 2, dueAt: null, endToEndId: 'E1', updatedAt: NOW }
  assert.deepEqual(outcome.after, { ...door('PENDING'), ...after, facts: { colour: 'red', became: 'PAID' } })
})

test('[engine.1] [events.4] the notification, the journal and the case stand beside the row that names them', () => {
  const told = followed('PENDING', 'push')
  assert.deepEqual(told.notifications, [
    {
      operationId: 'door-1',
      eventType: 'pix_cash_in',
      status: 'PAID',
      reference: '',
      body: Buffer.from('{"event_type":"pix_cash_in","event":{"now":"PAID"}}'),
    },
  ])
  assert.deepEqual([told.journals, told.cases], [[], []])
  const booked = followed('PENDING', 'push', ['is heavy'])
  assert.deepEqual(booked.journals, [
    { operationId: 'door-1', kind: 'arrived_unattributed', reference: 'E1', amounts: { p: 100n } },
  ])
  assert.deepEqual(booked.cases, [
    { operationId: 'door-1', kind: 'bank_contradicts', reference: 'E1', facts: { pushedBy: 'Maria', rule: 'door.2' } },
  ])
  assert.deepEqual(booked.notifications, [])
})

test('[engine.1] [ledger.suspense] leaving the doubt closes its cases, none of money in suspense and none that casts no doubt; else none closes', () => {
  const closes = (status: DoorStatus, on: 'push' | 'pull' | 'doubt') => followed(status, on).closes
  assert.deepEqual(closes('RECONCILIATION_REQUIRED', 'pull'), ['case 1'])
  assert.deepEqual(closes('RECONCILIATION_REQUIRED', 'doubt'), [])
  assert.deepEqual(closes('PAID', 'pull'), [])
})

test('[engine.19] what closes besides is named, and what is not known cannot be closed', () => {
  const closing = (before: Operation) => {
    const step = {
      on: 'push',
      holds: () => false,
      changes: () => ({ closes: ['case 2'] }),
      reference: '',
      outcome: () => undefined,
    } as const
    return follow(DOOR, before, step, NOW).closes
  }
  assert.deepEqual(closing(door('PENDING')), ['case 2'])
  const { openCases, ...unread } = door('RECONCILIATION_REQUIRED')
  assert.throws(() => follow(DOOR, unread, { ...PULL, outcome: () => undefined }, NOW), /open cases .* were not read/)
})

const PULL = { on: 'pull', holds: () => false, reference: '' } as const

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
