import assert from 'node:assert/strict'
import test from 'node:test'
import { isSamePerson, type Person } from '../../src/operators/index.ts'

const person = (id: string, name: string): Person => ({ id, name, role: 'operator', isActive: true, madeBy: null })

test('[cases.41] spellings of a name that are hardly told apart are one person’s', () => {
  const ana = person('a', 'Ana D’Avila')
  for (const name of [
    "Ana D'Avila",
    'ANA D’AVILA.',
    "Ana D' Avila",
    'Ana  D Avila',
    'Ana-D’Avila',
    'Ana - D-Avila',
    'Aná D’Ávila',
  ]) {
    assert.equal(isSamePerson(ana, 'b', [ana, person('b', name)]), true, name)
  }
  assert.equal(isSamePerson(ana, 'b', [ana, person('b', 'Ana Dávila')]), false)
  const djuro = person('a', 'Đuro Ban')
  assert.equal(isSamePerson(djuro, 'b', [djuro, person('b', 'Ðuro Ban')]), true)
})
