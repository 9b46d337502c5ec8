import assert from 'node:assert/strict'
import test from 'node:test'
import { cashIn } from '../src/cash-in/index.ts'
import { cashOut } from '../src/cash-out/index.ts'
import { type Machine, rowFor } from '../src/machine.ts'
import { adjustment } from '../src/operator.ts'
import { refundIn } from '../src/refund-in/index.ts'

const machines: readonly Machine[] = [cashIn, cashOut, refundIn, adjustment]

for (const machine of machines) {
  const { resource, states, triggers, guards, cases, rows } = machine

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
      assert.ok(row.when === undefined || row.when in guards)
      assert.ok(row.opens === undefined || row.opens in cases)
    }
  })

  test(`[${prefixOf(machine)}.states] nothing of a ${resource} is declared in vain`, () => {
    assert.deepEqual(new Set(rows.map((row) => row.on)), new Set(triggers))
    assert.deepEqual(new Set(rows.flatMap((row) => row.when ?? [])), new Set(Object.keys(guards)))
    assert.deepEqual(new Set(rows.flatMap((row) => row.opens ?? [])), new Set(Object.keys(cases)))
  })

  test(`[${prefixOf(machine)}.states] every row of a ${resource} names a rule of its own section`, () => {
    for (const { source } of rows) assert.match(source, new RegExp(`^rules#${prefixOf(machine)}\\.[a-z]+\\.\\d+$`))
  })

  test(`[${prefixOf(machine)}.states] no row of a ${resource} hides another`, () => {
    for (const [index, row] of rows.entries()) {
      const later = rows.slice(index + 1).filter(({ from, on }) => from === row.from && on === row.on)
      const hidden = later.filter(({ when }) => row.when === undefined || when === row.when)
      assert.deepEqual(hidden, [], `hidden by ${row.from} –${row.on}→ ${row.to}`)
    }
  })
}

test('the row that applies is the first whose condition holds', () => {
  const applies = (...facts: string[]) => rowFor(cashIn, 'PENDING', 'partner.confirmed', (it) => facts.includes(it))?.to
  assert.equal(applies(), 'PAID')
  assert.equal(applies('settled late'), 'RECONCILIATION_REQUIRED')
  assert.equal(
    rowFor(cashIn, 'PENDING', 'partner.confirmed', (it) => it === 'amount differs' || it === 'settled late')?.opens,
    'amount_differs',
    'the amount is looked at before the time',
  )
})

test('a pair with no row changes nothing', () => {
  assert.equal(
    rowFor(cashIn, 'EXPIRED', 'partner.failed', () => true),
    undefined,
  )
  assert.equal(
    rowFor(cashIn, null, 'partner.confirmed', () => true),
    undefined,
  )
})

function prefixOf({ resource }: Machine): string {
  return resource.replace('_', '-')
}
