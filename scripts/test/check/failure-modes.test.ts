import assert from 'node:assert/strict'
import test from 'node:test'
import { failureModesIn, missingRows, proofProblems } from '../../check/failure-modes.ts'

const table = (tests: string) => `- <a id="P1"></a>**P1** Intent
  first.

| id | fault | tests |
| -- | ----- | ----- |
| <a id="CI-1"></a>CI-1 | it dies | ${tests} |
`
const proof = [{ path: 'packages/server/test/a.test.ts', text: "test('[money.1] [CI-1] it', () => {})" }]
const link = '[a](../packages/server/test/a.test.ts)'

test('a failure mode is a principle or a row', () => {
  assert.deepEqual(failureModesIn(table('none')), [
    { id: 'P1', text: '**P1** Intent first.' },
    { id: 'CI-1', text: 'CI-1 | it dies | none |' },
  ])
})

test('a row links where a test is named by it, and none may do without', () => {
  assert.deepEqual(proofProblems(table(link), proof), [])
  for (const without of ['', 'no test yet']) {
    for (const tests of [[], proof]) {
      assert.deepEqual(proofProblems(table(without), tests), [
        'docs/failure-modes.md: [CI-1] must link a test that is named by it',
      ])
    }
  }
  assert.deepEqual(proofProblems(table(`${link}, [b](../packages/server/test/b.test.ts)`), proof), [
    'docs/failure-modes.md: [CI-1] links packages/server/test/b.test.ts, which does not name it',
  ])
  assert.deepEqual(proofProblems(table(link), []), [
    'docs/failure-modes.md: [CI-1] links packages/server/test/a.test.ts, which does not name it',
  ])
})

test('a row that was written stays', () => {
  assert.deepEqual(missingRows(table(link), { CI: 1 }), [])
  assert.deepEqual(missingRows(table(link), { CI: 2, EV: 1 }), [
    'docs/failure-modes.md: [CI-2] is missing',
    'docs/failure-modes.md: [EV-1] is missing',
  ])
})
