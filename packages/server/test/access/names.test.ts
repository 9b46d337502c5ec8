import assert from 'node:assert/strict'
import test from 'node:test'
import { isSamePerson, type Person } from '../../src/access/index.ts'

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
  for (const [name, spelling] of [
    ['Đuro Ban', 'Ðuro Ban'],
    ['Bia Sá', ' BIA  Sa\u0301 '],
    ...['Bia\u200b', 'B\u00adia', 'Bia\u2060', '\u3164Bia', 'Bia\u{e0041}', 'Bia\ufe0f', 'B\u200dia'].map(
      (hidden) => ['Bia', hidden] as const,
    ),
    ['Weiß', 'WEISS'],
    ['Wei\u1e9e', 'weiss'],
    ['Ana \u0130', 'ana i'],
    ['Ana \u0131', 'ANA I'],
  ] as const) {
    const known = person('a', name)
    assert.equal(isSamePerson(known, 'b', [known, person('b', spelling)]), true, `${name} ${spelling}`)
  }
})
