import assert from 'node:assert/strict'
import test from 'node:test'
import { type AccountCode, accounts, type CaseOfOperation } from '@pixgate/spec'
import fc from 'fast-check'
import { Draft } from '../../src/engine/draft.ts'
import { reasonFact } from '../../src/engine/follow.ts'
import type { LoadedState } from '../../src/engine/loader.ts'
import type { Command, Create, Decision, Journal, Operation } from '../../src/engine/operation.ts'
import { NO_ALLOWANCES } from '../support/limits.ts'
import { operationAs } from '../support/operation.ts'

const NOW = 1_700_000_000_000

function operation(id: string, given: Partial<Operation> = {}): Operation {
  return operationAs({ id, version: 7, createdAt: 1, updatedAt: 1, ...given })
}

/** What was booked before: no movement. */
const NOWHERE = Object.assign(new Map<string, null>(), { get: () => null })

/** A batch that knows these operations, with 100 centavos available. */
function draft(...operations: Operation[]): Draft {
  return draftKnowing({ operations }, { available: 100n })
}

/** A batch that knows all this; accounts that are not given are empty. */
function draftKnowing(
  given: Partial<Omit<LoadedState, 'operations'>> & { readonly operations: readonly Operation[] },
  balances: Partial<Record<AccountCode, bigint>>,
): Draft {
  const known: LoadedState = {
    controls: new Map(),
    debts: new Map(),
    openCases: [],
    movements: NOWHERE,
    ...NO_ALLOWANCES,
    ...given,
    operations: new Map(given.operations.map((known) => [known.id, known])),
    accounts: new Map(
      (Object.keys(accounts) as AccountCode[]).map((code) => [
        code,
        { version: 5n, balanceCents: balances[code] ?? 0n },
      ]),
    ),
  }
  let made = 0
  return new Draft(known, NOW, { uuid: () => `id ${++made}` })
}

function add(
  draft: Draft,
  decision: Partial<Decision<unknown>>,
  reads: readonly string[] = [],
  looks: Pick<Command<unknown>, 'controls' | 'cases'> = {},
): void {
  const command: Command<unknown> = { reads, ...looks, decide: () => ({ outcome: undefined }) }
  draft.add(command, { outcome: undefined, ...decision })
}

const creating = (given: Operation): { creates: Create[] } => {
  const { version, createdAt, updatedAt, ...create } = given
  return { creates: [{ operation: create }] }
}

const moving = (operationId: string, to: Operation['status'], facts = {}) => ({
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

test('[feed.1] a notification is later than the last move of its operation, even of a process whose clock is ahead', () => {
  const notifying = (operationId: string) => ({
    ...moving(operationId, 'PAID'),
    notifications: [
      { operationId, eventType: 'pix_cash_in' as const, status: 'PAID', reference: '', body: Buffer.alloc(0) },
    ],
  })
  const notifiedAt = (updatedAt: number) => {
    const batch = draft(operation('a', { updatedAt }), operation('b', { updatedAt: NOW + 60_000 }))
    add(batch, notifying('a'), ['a'])
    add(batch, moving('b', 'PAID'), ['b'])
    return batch.notifiedAt('a') - NOW
  }
  assert.deepEqual([NOW - 1, NOW, NOW + 2_000].map(notifiedAt), [0, 0, 2_001])
})

test('[engine.2] what a batch creates it can also move, within one decision and later; all of it is one new row', () => {
  const batch = draft()
  add(batch, { ...creating(operation('a')), ...moving('a', 'PAID') })
  add(batch, moving('a', 'FAILED'), ['a'])
  assert.deepEqual([batch.operation('a')?.status, batch.createdOperations.get('a')?.version], ['FAILED', 3])
  assert.deepEqual([batch.movedOperations.size, batch.readVersions.size], [0, 0])
  assert.deepEqual(
    batch.moves.map(({ after }) => [after.status, after.version]),
    [
      ['PENDING', 1],
      ['PAID', 2],
      ['FAILED', 3],
    ],
  )
})

test('[engine.3] an external id or idempotency key is taken once in a batch, per kind; an exclusive key once for all kinds', () => {
  const batch = draft()
  add(batch, creating(operation('a', { externalId: 'x', idempotencyKey: 'k', exclusiveKey: 'e' })))
  const isTaken = (given: object) => batch.isTaken({ kind: 'cash_in', externalId: 'y', idempotencyKey: null, ...given })
  for (const taken of [{ externalId: 'x' }, { idempotencyKey: 'k' }, { kind: 'cash_out', exclusiveKey: 'e' }])
    assert.equal(isTaken(taken), true, JSON.stringify(taken))
  for (const free of [{ kind: 'cash_out', externalId: 'x' }, {}, { exclusiveKey: 'another' }, { exclusiveKey: null }])
    assert.equal(isTaken(free), false, JSON.stringify(free))
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

test('[engine.6] every row that a decision read is compared, moved or not', () => {
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

/** Opens a case of an operation, with a move of it. */
const opening = (operationId: string, kind: CaseOfOperation, reference = '') => ({
  ...moving(operationId, 'RECONCILIATION_REQUIRED'),
  cases: [{ operationId, kind, reference, facts: { rule: 'test.1' } }],
})

/** Ids of an operation's open cases as the next decision sees them. */
const openIn = (batch: Draft, operationId: string) => batch.operation(operationId)?.openCases?.map(({ id }) => id)

test('[engine.2] [engine.19] however often a batch opens and closes a case, it is one row, as it is left', () => {
  const openCases = [{ id: 'x', kind: 'charge_unclear', reference: '', rule: 'cash-in.unknown.7', version: 1 }]
  const batch = draft(operation('a', { openCases }))
  const written = () => [batch.cases.opened.map(({ id, isClosed }) => [id, isClosed]), batch.cases.closedIds]
  add(batch, opening('a', 'charge_unclear'))
  assert.deepEqual(written(), [[], []], 'it is open')
  add(batch, { ...moving('a', 'PAID'), closes: ['x', 'x'] })
  assert.deepEqual(written(), [[], ['x']])
  add(batch, opening('a', 'charge_unclear'))
  assert.deepEqual([written(), openIn(batch, 'a')], [[[], []], ['x']], 'it stays open')
  add(batch, { ...opening('a', 'charge_unclear'), closes: ['x'] })
  assert.deepEqual([written(), openIn(batch, 'a')], [[[], []], ['x']], 'closed and opened by one decision')

  const fresh = draft(operation('a'), operation('b'))
  add(fresh, opening('a', 'charge_unclear'))
  add(fresh, { ...moving('a', 'PAID'), closes: ['id 1'] })
  add(fresh, opening('a', 'charge_unclear'))
  add(fresh, opening('a', 'charge_unclear', 'E1'))
  add(fresh, opening('b', 'charge_unclear'))
  assert.deepEqual(
    fresh.cases.opened.map(({ id, reference, isClosed }) => [id, reference, isClosed]),
    [
      ['id 1', '', false],
      ['id 2', 'E1', false],
      ['id 3', '', false],
    ],
  )
  assert.deepEqual([openIn(fresh, 'a'), openIn(fresh, 'b')], [['id 1', 'id 2'], ['id 3']])
})

test('[cases.48] a repeated report of a case is noted with it, unless the batch closes it', () => {
  const openCases = [{ id: 'x', kind: 'charge_unclear', reference: '', rule: 'cash-in.unknown.7', version: 1 }]
  const telling = (operationId: string, valueCents: number) => ({
    ...moving(operationId, 'RECONCILIATION_REQUIRED'),
    cases: [{ operationId, kind: 'charge_unclear' as const, reference: '', facts: { rule: 'test.1', valueCents } }],
  })
  const batch = draft(operation('a', { openCases }), operation('b'))
  add(batch, telling('a', 1))
  add(batch, telling('a', 2))
  const told = [1, 2].map((valueCents) => ({ rule: 'test.1', valueCents }))
  assert.deepEqual(batch.cases.changed, [{ id: 'x', operationId: 'a', reports: told, isTouched: true }])
  add(batch, telling('b', 1))
  add(batch, telling('b', 2))
  assert.deepEqual(
    batch.cases.opened.map(({ id, facts, reports: all }) => [id, facts, all]),
    [['id 1', told[1], told]],
  )
  add(batch, { ...moving('a', 'PAID'), closes: ['x'] })
  assert.deepEqual([batch.cases.changed, batch.cases.closedIds], [[], ['x']])
  add(batch, telling('a', 3))
  assert.deepEqual(batch.cases.changed, [
    { id: 'x', operationId: 'a', reports: [{ rule: 'test.1', valueCents: 3 }], isTouched: true },
  ])
})

test('[engine.22] a change of status, doubt, money or cases of an operation raises the versions of its open cases, once in a batch', () => {
  const openCases = [
    { id: 'x', kind: 'charge_unclear', reference: '', rule: 'cash-in.unknown.7', version: 3 },
    { id: 'y', kind: 'payment_in_suspense', reference: 'E1', rule: 'cash-in.unknown.7', version: 7 },
  ]
  const fresh = () => draft(operation('a', { openCases }), operation('b'))
  const versions = (batch: Draft) => batch.operation('a')?.openCases?.map(({ id, version }) => `${id} ${version}`)
  const after = (...decisions: readonly Parameters<typeof add>[1][]) => {
    const batch = fresh()
    for (const decision of decisions) add(batch, decision)
    const touched = batch.cases.changed.filter(({ isTouched }) => isTouched).map(({ id }) => id)
    return [versions(batch), touched]
  }
  const polled = {
    moves: [{ operationId: 'a', trigger: 'work.claimed', to: 'PENDING', facts: { leaseEndsAt: 1 } }],
  } as const
  assert.deepEqual(after(polled, polled), [['x 3', 'y 7'], []], 'a query of the bank')
  const paid = moving('a', 'PAID')
  assert.deepEqual(after(paid, moving('a', 'FAILED')), [
    ['x 4', 'y 8'],
    ['x', 'y'],
  ])
  const doubted = { moves: [{ ...polled.moves[0], facts: reasonFact('conflict') }] }
  assert.deepEqual(after(doubted), [
    ['x 4', 'y 8'],
    ['x', 'y'],
  ])
  assert.deepEqual(after({ ...polled, closes: ['x'] }), [['y 8'], ['y']])
  const reported = (reference: string) => ({
    ...polled,
    cases: [{ operationId: 'a', kind: 'payment_in_suspense' as const, reference, facts: { rule: 'test.1' } }],
  })
  assert.deepEqual(
    after(reported('E1')),
    [['x 3', 'y 8'], []],
    'told again: the database raises it where the amount grows',
  )
  assert.deepEqual(after(reported('E2')), [
    ['x 4', 'y 8', 'id 1 1'],
    ['x', 'y'],
  ])
  assert.deepEqual(
    after({ ...polled, closes: ['y'] }, reported('E1')),
    [
      ['x 4', 'y 8'],
      ['x', 'y'],
    ],
    'closed and opened again',
  )
  assert.deepEqual(after(moving('b', 'PAID')), [['x 3', 'y 7'], []])
})

test('[cases.51] a command after a report or decision of a case in the same batch sees its new version', () => {
  const reported = { operationId: null, kind: 'close_differs', reference: 'a', facts: { rule: 'test.1' } } as const
  const batch = () =>
    draftKnowing({ operations: [], openCases: [{ id: 'x', ...reported, rule: 'test.1', version: 3 }] }, {})
  const [told, ordered, closed] = [batch(), batch(), batch()]
  assert.equal(told.openCase('x')?.version, 3)
  add(told, { cases: [reported] })
  assert.equal(told.openCase('x')?.version, 4, 'reported again')
  const eventOrders = [{ inboxId: 'i', ordinal: 0, setAsideAt: 0, attributedTo: null }]
  add(ordered, { eventOrders }, [], { cases: ['x'] })
  assert.equal(ordered.openCase('x')?.version, 4, 'decided, and still open')
  add(closed, { closes: ['x'] }, [], { cases: ['x'] })
  assert.equal(closed.openCase('x'), undefined)
  assert.deepEqual([...closed.readCases], [['x', 3]], 'compared is what was read')
  add(closed, { cases: [reported] })
  assert.deepEqual([closed.openCase('x')?.version, closed.cases.closedIds], [4, []], 'opened again')
})

test('[engine.19] a case of an operation opens and closes with a move of it, so its version covers its cases', () => {
  const batch = draft(
    operation('a', {
      openCases: [{ id: 'x', kind: 'charge_unclear', reference: '', rule: 'cash-in.unknown.7', version: 1 }],
    }),
    operation('b'),
  )
  const { cases } = opening('a', 'outcome_unknown')
  assert.throws(() => add(batch, { ...moving('b', 'PAID'), cases }, ['a']), /opens without a move/)
  assert.throws(() => add(batch, { ...moving('b', 'PAID'), closes: ['x'] }, ['a']), /closes without a move/)
  assert.equal(batch.isEmpty, true)
})

test('[engine.3] a move releases the exclusive key only if it says so', () => {
  const batch = draft(operation('a', { exclusiveKey: 'e' }), operation('b', { exclusiveKey: 'f' }))
  add(batch, { moves: [{ operationId: 'a', trigger: 'test', to: 'FAILED', givesUpExclusiveKey: true }] }, ['a'])
  add(batch, moving('b', 'PAID'), ['b'])
  assert.deepEqual(
    [...batch.movedOperations.values()].map(({ exclusiveKey }) => exclusiveKey),
    [null, 'f'],
  )
})

/** A batch that knows the control. */
function draftWithControls(): Draft {
  const controls = new Map([['cash_out_switch', { version: 3n, value: { enabled: true, reason: null } }]] as const)
  return draftKnowing({ operations: [operation('a')], controls }, {})
}

test('[engine.6] a control is decided on and changed only where the command looked at it, and then compared', () => {
  assert.throws(() => draft().control('cash_out_switch'), /control cash_out_switch was not read/)
  const changing = { ...moving('a', 'PAID'), controls: { cash_out_switch: { enabled: false } } }
  assert.throws(() => add(draftWithControls(), changing, ['a']), /without having been looked at/)
  const batch = draftWithControls()
  add(batch, moving('a', 'PAID'), ['a'], { controls: ['cash_out_switch'] })
  assert.deepEqual([...batch.readControls], ['cash_out_switch'])
  assert.equal(batch.controlVersion('cash_out_switch'), 3n)
  assert.equal(batch.changedControls.size, 0)
})

test('[engine.6] within a batch a command sees the control as the ones before it leave it', () => {
  const batch = draftWithControls()
  for (const reason of ['one', 'two']) {
    const cash_out_switch = { enabled: false, reason }
    add(batch, { ...moving('a', 'PAID'), controls: { cash_out_switch } }, ['a'], { controls: ['cash_out_switch'] })
    assert.deepEqual(batch.control('cash_out_switch'), cash_out_switch)
  }
  assert.equal(batch.controlVersion('cash_out_switch'), 3n, 'what is compared is what was read at first')
  const value = { enabled: false, reason: 'two' }
  assert.deepEqual([...batch.changedControls], [['cash_out_switch', { version: 5n, value }]])
  assert.equal(batch.versionOf('cash_out_switch'), 5n, 'each time that it is set counts')
})

/** Who owes 80 since long, and 50 since lately, and has nothing. */
function indebted(): Draft {
  const debts = new Map([
    ['old', 80n],
    ['new', 50n],
  ])
  return draftKnowing({ operations: [operation('a'), operation('b')], debts }, { receivable: -130n })
}

/** Gives some centavos to the available account. */
const earning = (operationId: string, v: bigint): { journals: Journal[] } => ({
  journals: [{ operationId, kind: 'cash_in_paid', reference: `E ${operationId}`, amounts: { v, f: 0n } }],
})

function repayments(batch: Draft) {
  const entries = batch.accountChanges.get('available')?.entries ?? []
  return entries
    .filter(({ journal }) => journal === 'debt_recovered')
    .map(({ operationId, amountCents, shown, reference }) => [operationId, amountCents, shown, reference])
}

test('[ledger.recover] credits repay the oldest debt first, under the debt’s operation, as a forced debit; what is left over is free', () => {
  const batch = indebted()
  add(batch, { ...moving('a', 'PAID'), ...earning('a', 100n) }, ['a'])
  assert.deepEqual(repayments(batch), [
    ['old', -80n, 'FORCED_DEBIT', 'cash_in_paid a E a'],
    ['new', -20n, 'FORCED_DEBIT', 'cash_in_paid a E a'],
  ])
  assert.deepEqual([batch.balance('available'), batch.balance('receivable')], [0n, -30n])
  assert.equal(batch.accountChanges.get('available')?.lowest, 0n)
  add(batch, { ...moving('b', 'PAID'), ...earning('b', 100n) }, ['b'])
  assert.deepEqual(repayments(batch).slice(2), [['new', -30n, 'FORCED_DEBIT', 'cash_in_paid b E b']])
  assert.deepEqual([batch.balance('available'), batch.balance('receivable')], [70n, 0n])
})

test('[ledger.recover] a debt made in the batch is repaid in the batch, after the older ones', () => {
  const batch = indebted()
  const taken = { kind: 'taken_by_bank', reference: 'D1', amounts: { r: 40n, d: 0n } } as const
  add(batch, { ...moving('b', 'CONFIRMED'), journals: [{ operationId: 'b', ...taken }] }, ['b'])
  add(batch, { ...moving('a', 'PAID'), ...earning('a', 200n) }, ['a'])
  assert.deepEqual(
    repayments(batch).map(([operationId, amount]) => [operationId, amount]),
    [
      ['old', -80n],
      ['new', -50n],
      ['b', -40n],
    ],
  )
  assert.deepEqual([batch.balance('available'), batch.balance('receivable')], [30n, 0n])
})

test('[ledger.recover] a repayment holds only while balance and debts are those that were seen', () => {
  const repaying = indebted()
  add(repaying, { ...moving('a', 'PAID'), ...earning('a', 1n) }, ['a'])
  const exact = (batch: Draft, code: AccountCode) => batch.accountChanges.get(code)?.exact
  assert.deepEqual([exact(repaying, 'available'), exact(repaying, 'receivable')], [true, true])

  const earningOnly = draft(operation('a'))
  add(earningOnly, { ...moving('a', 'PAID'), ...earning('a', 1n) }, ['a'])
  assert.deepEqual(
    [exact(earningOnly, 'available'), exact(earningOnly, 'receivable')],
    [false, true],
    'a debt that another process makes meanwhile must be seen',
  )
  const spendingOnly = draft(operation('a'))
  add(spendingOnly, { ...moving('a', 'PAID'), ...spending('a', 1n) }, ['a'])
  assert.deepEqual([exact(spendingOnly, 'available'), exact(spendingOnly, 'receivable')], [false, undefined])
})

test('[ledger.recover] however credits and debts follow each other, no money is free while there is a debt', () => {
  const amount = fc.bigInt(1n, 200n)
  const input = fc.record({ isCredit: fc.boolean(), amount })
  fc.assert(
    fc.property(fc.array(input, { maxLength: 40 }), (inputs) => {
      const batch = draftKnowing({ operations: inputs.map((_, index) => operation(`o${index}`)) }, { available: 100n })
      for (const [index, { isCredit, amount }] of inputs.entries()) {
        const id = `o${index}`
        const free = batch.balance('available')
        const amounts = { r: amount, d: free < amount ? free : amount }
        const taken: Journal = { operationId: id, kind: 'taken_by_bank', reference: `D ${id}`, amounts }
        add(batch, { ...moving(id, 'PAID'), ...(isCredit ? earning(id, amount) : { journals: [taken] }) }, [id])
        assert.ok(batch.balance('available') === 0n || batch.balance('receivable') === 0n)
      }
      const keys = [...batch.accountChanges.values()].flatMap(({ entries }) =>
        entries.map(({ operationId, journal, reference, posting }) =>
          [operationId, journal, reference, posting].join(),
        ),
      )
      assert.equal(new Set(keys).size, keys.length, 'every entry is one that the database takes')
    }),
  )
})

test('[ledger.recover] a debt that is made while money is free is repaid from it at once', () => {
  const batch = draftKnowing({ operations: [operation('a')] }, { available: 100n })
  const taken: Journal = { operationId: 'a', kind: 'taken_by_bank', reference: 'D1', amounts: { r: 20n, d: 0n } }
  add(batch, { ...moving('a', 'CONFIRMED'), journals: [taken] }, ['a'])
  assert.deepEqual([batch.balance('available'), batch.balance('receivable')], [80n, 0n])
})

/** A payment that was booked on operation `a` before. */
function draftKnowingPayment(): Draft {
  const movements = new Map([
    ['in E1', { operationId: 'a', valueCents: 100n }],
    ['in E2', null],
  ])
  return draftKnowing({ operations: [operation('a'), operation('b')], movements }, {})
}

const booking = (operationId: string, kind: 'cash_in_paid' | 'arrived_unattributed', reference: string) => ({
  ...moving(operationId, 'RECONCILIATION_REQUIRED'),
  journals: [{ operationId, kind, reference, amounts: { v: 100n, f: 0n, p: 100n } }],
})

test('[ledger.movements] no movement is booked twice, in suspense neither, nor without having been looked up', () => {
  for (const kind of ['cash_in_paid', 'arrived_unattributed'] as const) {
    for (const operation of ['a', 'b']) {
      assert.throws(() => add(draftKnowingPayment(), booking(operation, kind, 'E1'), [operation]), /is booked on a/)
    }
    assert.throws(() => add(draftKnowingPayment(), booking('a', kind, 'E3'), ['a']), /was not read/)
  }
})
