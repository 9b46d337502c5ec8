import assert from 'node:assert/strict'
import test from 'node:test'
import { type CaseKind, caseKinds } from '../src/cases.ts'
import { cashIn } from '../src/cash-in/index.ts'
import { cashOut } from '../src/cash-out/index.ts'
import { type Machine, rowFor, rowsOfLine } from '../src/machine.ts'
import { adjustment } from '../src/operator.ts'
import { refundIn } from '../src/refund-in/index.ts'

const machines: readonly Machine[] = [cashIn, cashOut, refundIn, adjustment]

for (const machine of machines) {
  const { resource, states, reasons, triggers, guards, rows } = machine

  test(`[${prefixOf(machine)}.states] every state of a ${resource} is reached from nothing`, () => {
    const reached = new Set<string | null>([null])
    for (const _ of states) for (const row of rows) if (reached.has(row.from)) reached.add(row.to)
    assert.deepEqual([...reached].filter((state) => state !== null).sort(), [...states].sort())
  })

  test(`[${prefixOf(machine)}.states] every row of a ${resource} speaks of what is declared`, () => {
    for (const row of rows) {
      assert.ok(row.from === null || states.includes(row.from))
      assert.ok(states.includes(row.to))
      assert.ok(triggers.includes(row.on))
      for (const guard of [...row.when, ...row.unless]) assert.ok(guard in guards, guard)
      if (row.because !== null && row.because !== '*') assert.ok(row.because in reasons)
      if (row.reason !== null && row.reason !== 'same') assert.ok(row.reason in reasons)
      assert.ok(row.opens === undefined || casesOf(resource).has(row.opens))
    }
  })

  test(`[${prefixOf(machine)}.states] every declared item of a ${resource} is used`, () => {
    assert.deepEqual(new Set(rows.map((row) => row.on)), new Set(triggers))
    assert.deepEqual(new Set(rows.flatMap((row) => [...row.when, ...row.unless])), new Set(Object.keys(guards)))
    assert.deepEqual(new Set(rows.flatMap((row) => row.opens ?? [])), casesOf(resource))
  })

  test(`[${prefixOf(machine)}.states] every row of a ${resource} names a rule of its own section`, () => {
    for (const { rule } of rows) assert.match(rule, new RegExp(`^${prefixOf(machine)}\\.[a-z]+\\.\\d+$`))
  })

  test(`[${prefixOf(machine)}.states] no row of a ${resource} hides another`, () => {
    for (const [index, row] of rows.entries()) {
      const later = rows.slice(index + 1).filter(({ from, on, because }) => {
        return from === row.from && on === row.on && (row.because === '*' || row.because === because)
      })
      const hidden = later.filter(
        ({ when, unless, decides }) =>
          row.when.every((guard) => when.includes(guard)) &&
          row.unless.every((guard) => unless.includes(guard)) &&
          (row.decides && decides ? decides.every((kind) => row.decides?.includes(kind)) : row.decides === decides),
      )
      assert.deepEqual(hidden, [], `hidden by ${row.from} –${row.on}→ ${row.to}`)
    }
  })
}

const PENDING = { status: 'PENDING', reason: null } as const

test('the row that applies is the first whose conditions hold', () => {
  const rowBy = (...holding: string[]) => rowFor(cashIn, PENDING, 'partner.confirmed', (it) => holding.includes(it))
  assert.equal(rowBy()?.to, 'PAID')
  assert.equal(rowBy('settled late')?.to, 'RECONCILIATION_REQUIRED')
  assert.equal(rowBy('amount differs', 'settled late')?.rule, 'cash-in.states.8', 'the amount comes before the time')
})

test('all conditions of a row must hold, and none of its exceptions', () => {
  const sent = { status: 'DISPATCHED', reason: null } as const
  const rowBy = (...holding: string[]) => rowFor(cashOut, sent, 'send.rejected', (it) => holding.includes(it))
  assert.equal(rowBy('refusal is of the latest attempt')?.to, 'FAILED')
  assert.equal(rowBy()?.to, 'DISPATCHED')
  assert.equal(rowBy('refusal is of the latest attempt', 'the bank has it')?.to, 'DISPATCHED')
})

test('a row of a doubt applies for its reason only, one of any doubt for all', () => {
  const rowIn = (reason: 'no_answer' | 'conflict' | null, on: 'send.accepted' | 'work.requested') =>
    rowFor(cashOut, { status: 'RECONCILIATION_REQUIRED', reason }, on, () => false)?.to
  assert.equal(rowIn('no_answer', 'send.accepted'), 'DISPATCHED')
  assert.equal(rowIn('conflict', 'send.accepted'), undefined)
  for (const reason of ['no_answer', 'conflict', null] as const) {
    assert.equal(rowIn(reason, 'work.requested'), 'RECONCILIATION_REQUIRED')
  }
})

test('a line is a row for each of its states and triggers', () => {
  const line = { from: ['A', 'B:x', 'B:*'], on: ['p', 'q'], to: 'same', rule: 'a.b.1', says: '…' } as const
  const rows = rowsOfLine<'A' | 'B', 'x', 'p' | 'q', never>(line)
  assert.deepEqual(
    rows.map(({ from, because, on, to, reason }) => [from, because, on, to, reason]),
    [
      ['A', null, 'p', 'A', 'same'],
      ['A', null, 'q', 'A', 'same'],
      ['B', 'x', 'p', 'B', 'same'],
      ['B', 'x', 'q', 'B', 'same'],
      ['B', '*', 'p', 'B', 'same'],
      ['B', '*', 'q', 'B', 'same'],
    ],
  )
  const standingAfter = (to: 'same:x' | 'B:x' | 'A' | 'ignored') =>
    rowsOfLine<'A' | 'B', 'x', 'p' | 'q', never>({ ...line, from: 'A', on: 'p', to }).map(
      ({ to, reason, isIgnored }) => [to, reason, isIgnored],
    )
  assert.deepEqual(standingAfter('same:x'), [['A', 'x', false]])
  assert.deepEqual(standingAfter('B:x'), [['B', 'x', false]])
  assert.deepEqual(standingAfter('A'), [['A', null, false]])
  assert.deepEqual(standingAfter('ignored'), [['A', 'same', true]])
})

test('a pair with no row changes nothing', () => {
  const nothing = (status: 'EXPIRED' | null, on: 'partner.failed' | 'partner.confirmed') =>
    rowFor(cashIn, { status, reason: null }, on, () => true)
  assert.equal(nothing('EXPIRED', 'partner.failed'), undefined)
  assert.equal(nothing(null, 'partner.confirmed'), undefined)
})

function casesOf(resource: string): ReadonlySet<string> {
  const kinds = Object.entries<CaseKind>(caseKinds).filter(([, { of }]) => of.some((one) => one === resource))
  return new Set(kinds.map(([name]) => name))
}

function prefixOf({ resource }: Machine): string {
  return resource.replace('_', '-')
}
