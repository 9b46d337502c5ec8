import assert from 'node:assert/strict'
import test from 'node:test'
import {
  citationProblems,
  failureModesIn,
  missingRows,
  proofProblems,
  testNameProblems,
} from '../../check/citations.ts'

const known = new Set(['rules#money.1', 'failure-modes#EV-8b', 'partner-protocol#calls', 'ADR-0009'])
const cites = (text: string) => citationProblems(known, [{ path: 'a.ts', text }])

test('a comment cites what is in the repository, or a standard', () => {
  const good = [
    '/** One line. @source rules#money.1, failure-modes#EV-8b. */',
    ' * @source partner-protocol#calls, ADR-0009',
    ' * @source BCB, Manual do BR Code; EMVCo, QR Code Specification',
    '// As failure-modes#EV-8b says.',
    "const row = '@source elsewhere'",
  ]
  for (const line of good) assert.deepEqual(cites(line), [], line)
})

test('a citation that leads nowhere is reported with its place', () => {
  assert.deepEqual(cites('\n// See failure-modes#EV-99.'), [
    'a.ts:2 cites failure-modes#EV-99, which is not in the repository',
  ])
  for (const [comment, name] of [
    ['/** @source rules#money.9 */', 'rules#money.9'],
    ['/** @source rules#money.1, the manual §5 */', 'the manual §5'],
    [' * @source failure-modes EV-8b', 'failure-modes EV-8b'],
    ['// Decided in ADR-0099', 'ADR-0099'],
  ] as const) {
    assert.deepEqual(cites(comment), [`a.ts:1 cites ${name}, which is not in the repository`])
  }
})

test('the name of a test begins with what is written', () => {
  const named = (text: string) =>
    testNameProblems(new Set(['money.1', 'EV-8b', 'partner-protocol']), [{ path: 'a', text }])
  for (const text of [
    "test('[money.1] [EV-8b] both', () => {})",
    "test('plain', () => {})",
    `test(\`[\${machine}.states] from a table\`, () => {})`,
    "const list = ['[a]', '[b] c']",
  ]) {
    assert.deepEqual(named(text), [], text)
  }
  for (const text of [
    "test('[money.1] [hearsay] it', () => {})",
    "  name: '[hearsay] it',",
    "test(\n  '[hearsay] it',",
  ]) {
    assert.match(named(text).join(), /^a:\d is named by \[hearsay\], which is written nowhere$/, text)
  }
})

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
