import assert from 'node:assert/strict'
import test from 'node:test'
import { type RefusedWord, wordProblems } from '../../check/words.ts'

const LEVER = { word: 'lever', pattern: '\\blever', write: 'sandbox action' }
const files = [
  { path: 'packages/a/lever.ts', text: 'const one = 1\nlever(lever)\n' },
  { path: 'docs/a.md', text: 'a clever trick\n' },
]
const problems = (refused: RefusedWord) => wordProblems(files, [refused])

test('a refused word is found in texts and in names of files, and the plain one is named', () => {
  assert.deepEqual(problems(LEVER), [
    'lever: 3 places, allowed are 0; write sandbox action',
    '  packages/a/lever.ts',
    '  packages/a/lever.ts:2',
    '  packages/a/lever.ts:2',
  ])
})

test('what is left of a word may fall and not rise', () => {
  assert.deepEqual(problems({ ...LEVER, left: 4 }), [])
  assert.deepEqual(problems({ ...LEVER, left: 3 }), [])
  assert.equal(problems({ ...LEVER, left: 2 })[0], 'lever: 3 places, allowed are 2; write sandbox action')
})

test('a word that is gone is refused for good', () => {
  assert.deepEqual(problems({ word: 'doubtful', pattern: 'doubtful', write: 'unknown', left: 1 }), [
    'doubtful is within the limit; take it out of scripts/check/words.json («left»)',
  ])
})

test('a stored name stays where it is stored, and is refused anywhere else', () => {
  const stored = { ...LEVER, stored: ['packages/a/lever.ts'] }
  assert.deepEqual(problems(stored), [])
  assert.equal(problems({ ...stored, pattern: 'lever' })[0], 'lever: 1 places, allowed are 0; write sandbox action')
  assert.deepEqual(problems({ ...LEVER, pattern: 'crowbar', stored: ['docs/a.md'] }), [
    'lever does not stand in docs/a.md; take it out of scripts/check/words.json («stored»)',
  ])
})
