import assert from 'node:assert/strict'
import test from 'node:test'
import { type JournalKind, journals, type Variable, variables } from '@pixgate/spec'
import fc from 'fast-check'
import type { Journal } from '../../src/engine/operation.ts'
import { entriesOf } from '../../src/engine/postings.ts'

function journal(kind: JournalKind, amounts: Journal['amounts']): Journal {
  return { operationId: 'operation', kind, reference: 'E1', amounts }
}

test('[ledger.journals] a journal becomes its template’s entries, each in its place', () => {
  const entries = entriesOf(journal('cash_in_paid', { v: 100_00n, f: 1_00n }))
  const common = { operationId: 'operation', journal: 'cash_in_paid', reference: 'E1' }
  assert.deepEqual(entries, [
    { account: 'available', amountCents: 100_00n, posting: 0, shown: 'CASH_IN', ...common },
    { account: 'available', amountCents: -1_00n, posting: 1, shown: 'FEE', ...common },
    { account: 'settlement', amountCents: -100_00n, posting: 2, shown: null, ...common },
    { account: 'fees', amountCents: 1_00n, posting: 3, shown: null, ...common },
  ])
})

test('[ledger.entries] amounts of zero are not written, and the others keep their place', () => {
  const entries = entriesOf(journal('cash_in_paid', { v: 100_00n, f: 0n }))
  assert.deepEqual(
    entries.map(({ account, posting }) => [account, posting]),
    [
      ['available', 0],
      ['settlement', 2],
    ],
  )
  assert.deepEqual(entriesOf(journal('arrived_unattributed', { p: 0n })), [])
})

test('[ledger.journals] an amount that is missing or negative is a mistake of ours', () => {
  assert.throws(() => entriesOf(journal('cash_in_paid', { v: 100n })), /cash_in_paid needs a non-negative amount f/)
  assert.throws(() => entriesOf(journal('cash_in_paid', { v: -1n, f: 0n })), /amount v/)
})

/** Amounts of any size, for every variable there is. */
const amounts: fc.Arbitrary<Record<Variable, bigint>> = fc.record(
  Object.fromEntries(Object.keys(variables).map((name) => [name, fc.bigInt({ min: 0n, max: 10n ** 14n })])) as Record<
    Variable,
    fc.Arbitrary<bigint>
  >,
)

for (const kind of Object.keys(journals) as JournalKind[]) {
  test(`[ledger.journals] ${kind} sums to zero, and to the centavo, whatever the amounts`, () => {
    fc.assert(
      fc.property(amounts, (amounts) => {
        const entries = entriesOf(journal(kind, amounts))
        const total = entries.reduce((sum, { amountCents }) => sum + amountCents, 0n)
        assert.equal(total, 0n)
        assert.ok(entries.every(({ amountCents }) => amountCents !== 0n))
        assert.ok(entries.every(({ account, shown }) => (account === 'available') === (shown !== null)))
      }),
      { numRuns: 500 },
    )
  })
}
