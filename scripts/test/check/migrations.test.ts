import assert from 'node:assert/strict'
import test from 'node:test'
import { migrationProblems, sha256 } from '../../check/migrations.ts'

const FIRST = { name: '0001-first.sql', text: 'CREATE TABLE one ();' }

test('what was recorded and is as it was is no problem', () => {
  assert.deepEqual(migrationProblems([FIRST], { [FIRST.name]: sha256(FIRST.text) }), [])
})

test('a migration that was edited, removed or not recorded is one', () => {
  const recorded = { [FIRST.name]: sha256('CREATE TABLE two ();') }
  assert.deepEqual(migrationProblems([FIRST], recorded), [
    '0001-first.sql was edited: restore it, and add a new migration',
  ])
  assert.deepEqual(migrationProblems([], recorded), ['0001-first.sql was removed: databases have it'])
  assert.deepEqual(migrationProblems([FIRST], {}), ['0001-first.sql is not recorded; run npm run gen'])
})
