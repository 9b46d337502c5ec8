import assert from 'node:assert/strict'
import test from 'node:test'
import { cashIn } from '../src/cash-in/index.ts'
import { cashOut } from '../src/cash-out/index.ts'
import {
  type AccountCode,
  accounts,
  entryOperations,
  type JournalTemplate,
  journals,
  variables,
} from '../src/ledger.ts'
import type { Machine } from '../src/machine.ts'
import { adjustment } from '../src/operator.ts'
import { refundIn } from '../src/refund-in/index.ts'

const templates = Object.entries<JournalTemplate>(journals)

for (const [kind, { postings, symbol }] of templates) {
  test(`[ledger.journals] ${kind} (${symbol}) sums to zero whatever the amounts`, () => {
    const totals: Record<string, number> = {}
    for (const { amount } of postings) {
      for (const [variable, sign] of Object.entries(amount)) totals[variable] = (totals[variable] ?? 0) + sign
    }
    assert.ok(Object.keys(totals).length > 0)
    assert.deepEqual(
      Object.entries(totals).filter(([, total]) => total !== 0),
      [],
    )
  })
}

test('[ledger.journals] every journal has a symbol of its own', () => {
  assert.equal(new Set(templates.map(([, { symbol }]) => symbol)).size, templates.length)
})

test('[ledger.journals] every journal is posted by a row of a table, or by the engine; every amount is used', () => {
  const machines: readonly Machine[] = [cashIn, cashOut, refundIn, adjustment]
  const posted = new Set(machines.flatMap(({ rows }) => rows.flatMap(({ posts }) => posts ?? [])))
  assert.deepEqual([...posted, 'debt_recovered'].sort(), Object.keys(journals).sort())
  const amounts = new Set(
    templates.flatMap(([, { postings }]) => postings.flatMap(({ amount }) => Object.keys(amount))),
  )
  assert.deepEqual([...amounts].sort(), Object.keys(variables).sort())
})

test('[ledger.accounts] every account is used; none is unknown', () => {
  const used = new Set<AccountCode>(templates.flatMap(([, { postings }]) => postings.map(({ account }) => account)))
  assert.deepEqual([...used].sort(), Object.keys(accounts).sort())
})

test('[ledger.entries] what the merchant sees is the available account, each entry by its name', () => {
  const shown = new Set<string>()
  for (const [kind, { postings }] of templates) {
    for (const posting of postings) {
      assert.equal('shown' in posting, posting.account === 'available', kind)
      if ('shown' in posting) shown.add(posting.shown)
    }
  }
  assert.deepEqual([...shown].sort(), [...entryOperations].sort())
})
