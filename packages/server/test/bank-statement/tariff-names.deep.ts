import assert from 'node:assert/strict'
import test from 'node:test'
import { withTariffNames } from '../../src/bank-statement/rules.ts'
import type { StatementEntry } from '../../src/banks/port.ts'

const NOON = Date.parse('2026-11-22T12:00:00.000Z')

/** A tariff of a payout, so many seconds after noon. */
function tariff(valueCents: bigint, seconds = 0, endToEndId = 'E1'): StatementEntry {
  const named = { movementId: 'payout', reference: 'payout', endToEndId }
  return { kind: 'TARIFF', direction: 'out', ...named, valueCents, occurredAt: NOON + seconds * 1_000 }
}

const namesOf = (entries: readonly StatementEntry[], kept: readonly StatementEntry[] = []) =>
  withTariffNames(entries, kept).map(({ movementId }) => movementId)

test('[statement.4] a tariff has the same name in every window, whatever its neighbours', () => {
  const [first, second, third] = [tariff(35n), tariff(12n), tariff(35n, 1)]
  const names = ['payout', 'payout E1 12 2026-11-22T12:00:00.000Z 1', 'payout E1 35 2026-11-22T12:00:01.000Z 1']
  assert.deepEqual(namesOf([first, second, third]), names)
  for (const [index, entry] of [first, second, third].entries()) {
    assert.deepEqual(namesOf([entry], [first]), [names[index]], 'once the first is kept')
  }
  assert.deepEqual(namesOf([third, second, first], [first]), names.toReversed())
})

test('[statement.4] equal tariffs are distinguished by their number on a page', () => {
  const same = [tariff(35n), tariff(35n), tariff(35n)]
  const names = ['payout', 'payout E1 35 2026-11-22T12:00:00.000Z 2', 'payout E1 35 2026-11-22T12:00:00.000Z 3']
  assert.deepEqual(namesOf(same), names)
  assert.deepEqual(namesOf(same, [tariff(35n)]), names)
  assert.deepEqual(namesOf([tariff(35n, 0, 'E2')], [tariff(35n)]), ['payout E2 35 2026-11-22T12:00:00.000Z 1'])
})

test('[statement.4] an entry that is no tariff keeps its name', () => {
  const payout: StatementEntry = { ...tariff(35n), kind: 'PAYOUT_SENT', movementId: 'E1' }
  assert.deepEqual(namesOf([payout, payout]), ['E1', 'E1'])
})
