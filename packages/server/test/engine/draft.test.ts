import assert from 'node:assert/strict'
import test from 'node:test'
import { type AccountCode, accounts } from '@pixgate/spec'
import { Draft, type Known } from '../../src/engine/draft.ts'
import type { Command, Create, Decision, Journal, Operation } from '../../src/engine/operation.ts'

const NOW = 1_700_000_000_000

function operation(id: string, given: Partial<Operation> = {}): Operation {
  return {
    id,
    kind: 'cash_in',
    externalId: `external ${id}`,
    status: 'PENDING',
    version: 7,
    valueCents: 100n,
    feeCents: 0n,
    correlationId: 'test',
    bodyHash: Buffer.alloc(32),
    idempotencyKey: null,
    expiresAt: null,
    dueAt: null,
    transactionId: null,
    endToEndId: null,
    detail: {},
    facts: {},
    createdAt: 1,
    updatedAt: 1,
    ...given,
  }
}

/** A batch that knows these operations, with 100 centavos available. */
function draft(...operations: Operation[]): Draft {
  const known: Known = {
    operations: new Map(operations.map((known) => [known.id, known])),
    accounts: new Map(
      (Object.keys(accounts) as AccountCode[]).map((code) => [
        code,
        { version: 5n, balanceCents: code === 'available' ? 100n : 0n },
      ]),
    ),
  }
  return new Draft(known, NOW)
}

function add(draft: Draft, decision: Partial<Decision<unknown>>, reads: readonly string[] = []): void {
  const command: Command<unknown> = { reads, decide: () => ({ outcome: undefined }) }
  draft.add(command, { outcome: undefined, ...decision })
}

const creating = (given: Operation): { creates: Create[] } => {
  const { version, createdAt, updatedAt, ...create } = given
  return { creates: [{ operation: create }] }
}

const moving = (operationId: string, to: string, facts = {}) => ({
  moves: [{ operationId, trigger: 'test', to, facts }],
})

/** Takes some centavos from the available account. */
const spending = (operationId: string, v: bigint): { journals: Journal[] } => ({
  journals: [{ operationId, kind: 'cash_out_reserved', reference: '', amounts: { v, f: 0n } }],
})

test('[engine.2] several moves of an operation are several moves and one row, the last one', () => {
  const batch = draft(operation('a'))
  add(batch, moving('a', 'PAID', { one: 1 }), ['a'])
  add(batch, moving('a', 'RECONCILIATION_REQUIRED', { two: 2 }), ['a'])
  assert.deepEqual(
    batch.moves.map(({ before, after, facts }) => [before?.status, after.status, after.version, facts]),
    [
      ['PENDING', 'PAID', 8, { one: 1 }],
      ['PAID', 'RECONCILIATION_REQUIRED', 9, { two: 2 }],
    ],
  )
  const [moved, ...others] = batch.movedOperations.values()
  assert.deepEqual(others, [])
  assert.deepEqual([moved?.version, moved?.facts, moved?.updatedAt], [9, { one: 1, two: 2 }, NOW])
  assert.deepEqual([...batch.readVersions], [['a', 7]], 'and what is compared is what was read at first')
})

test('[engine.2] what a batch creates it can also move; all of it is one new row', () => {
  const batch = draft()
  add(batch, creating(operation('a')))
  add(batch, moving('a', 'PAID'), ['a'])
  assert.equal(batch.operation('a')?.status, 'PAID')
  assert.equal(batch.createdOperations.get('a')?.version, 2)
  assert.equal(batch.movedOperations.size, 0)
  assert.equal(batch.readVersions.size, 0, 'a row that is not there yet cannot be compared')
  assert.equal(batch.moves.length, 2)
})

test('[engine.2] within one decision a move sees what was created and moved before it', () => {
  const batch = draft()
  add(batch, { ...creating(operation('a')), moves: [...moving('a', 'PAID').moves, ...moving('a', 'FAILED').moves] })
  assert.deepEqual(
    batch.moves.map(({ after }) => [after.status, after.version]),
    [
      ['PENDING', 1],
      ['PAID', 2],
      ['FAILED', 3],
    ],
  )
})

test('[engine.3] an external id or idempotency key is taken once in a batch, per kind', () => {
  const batch = draft()
  add(batch, creating(operation('a', { externalId: 'x', idempotencyKey: 'k' })))
  const isTaken = (given: object) => batch.isTaken({ kind: 'cash_in', externalId: 'y', idempotencyKey: null, ...given })
  assert.equal(isTaken({ externalId: 'x' }), true)
  assert.equal(isTaken({ idempotencyKey: 'k' }), true)
  assert.equal(isTaken({ kind: 'cash_out', externalId: 'x' }), false)
  assert.equal(isTaken({}), false)
})

test('[engine.5] each decision sees the balance that the ones before it leave', () => {
  const batch = draft(operation('a'), operation('b'))
  add(batch, { ...moving('a', 'PAID'), ...spending('a', 60n) }, ['a'])
  assert.equal(batch.balance('available'), 40n)
  assert.throws(() => add(batch, { ...moving('b', 'PAID'), ...spending('b', 41n) }, ['b']), /available would go below/)
  assert.equal(batch.balance('available'), 40n)
  assert.equal(batch.operation('b')?.status, 'PENDING', 'a decision is taken in whole or not at all')
  assert.equal(batch.moves.length, 1)
  add(batch, { ...moving('b', 'PAID'), ...spending('b', 40n) }, ['b'])
  assert.equal(batch.balance('available'), 0n)
})

test('[engine.5] an account must bear the lowest point of a batch, not only its end', () => {
  const batch = draft(operation('a'))
  add(batch, {
    ...moving('a', 'PAID'),
    journals: [
      ...spending('a', 100n).journals,
      { operationId: 'a', kind: 'cash_in_paid', reference: 'E1', amounts: { v: 100n, f: 0n } },
    ],
  })
  const change = batch.accountChanges.get('available')
  assert.deepEqual([change?.delta, change?.lowest, change?.entries.length], [0n, -100n, 2])
})

test('[engine.6] whatever a decision looked at is compared, moved or not', () => {
  const batch = draft(operation('a'), operation('b'))
  add(batch, { ...moving('a', 'PAID'), exact: ['available'] }, ['a', 'b', 'nobody'])
  assert.deepEqual([...batch.readVersions.keys()].sort(), ['a', 'b'])
  assert.equal(batch.accountChanges.get('available')?.exact, true)
  assert.equal(batch.accountVersion('available'), 5n)
})

test('[engine.1] money moves only with a move, and only of what there is', () => {
  const batch = draft(operation('a'))
  assert.throws(() => add(batch, spending('a', 1n), ['a']), /money needs a move/)
  assert.throws(() => add(batch, moving('nobody', 'PAID')), /operation nobody does not exist/)
  assert.throws(() => add(batch, creating(operation('a'))), /operation a exists/)
  assert.equal(batch.isEmpty, true)
})

test('[engine.1] a case alone is something to write; what leaves the doubt closes its cases', () => {
  const batch = draft(operation('a', { status: 'RECONCILIATION_REQUIRED' }))
  assert.equal(batch.isEmpty, true)
  add(batch, { cases: [{ operationId: null, kind: 'unmatched_event', reference: '', facts: {} }] })
  assert.equal(batch.isEmpty, false)
  add(batch, { moves: [{ operationId: 'a', trigger: 'test', to: 'PAID', closesCases: true }] })
  assert.deepEqual([...batch.closedCaseOperations], ['a'])
})

test('[engine.1] a case that the same batch opened is closed with the others; one that it opens later is not', () => {
  const batch = draft(operation('a', { status: 'RECONCILIATION_REQUIRED' }), operation('b'))
  const doubt = (operationId: string, kind: string) => ({
    ...moving(operationId, 'RECONCILIATION_REQUIRED'),
    cases: [{ operationId, kind, reference: '', facts: {} }],
  })
  add(batch, doubt('a', 'earlier'))
  add(batch, doubt('b', 'another operation’s'))
  add(batch, { moves: [{ operationId: 'a', trigger: 'test', to: 'PAID', closesCases: true }] })
  add(batch, doubt('a', 'later'))
  assert.deepEqual(
    batch.cases.map(({ kind, isClosed }) => [kind, isClosed]),
    [
      ['earlier', true],
      ['another operation’s', false],
      ['later', false],
    ],
  )
})
