import assert from 'node:assert/strict'
import test from 'node:test'
import { proofsIn, ruleProblems, rulesIn } from '../../check/rules.ts'

const text = `# Rules

## <a id="money"></a>Money

- <a id="money.1"></a>**[money.1]** An amount is
  a JSON number.
- <a id="money.2"></a>**[money.2]** Centavos are integers.

### <a id="cash-in.states"></a>States

What stands here is no row.

- <a id="cash-in.states.2"></a>**[cash-in.states.2]** It is never forgotten.
`

const code = [
  { path: 'packages/spec/src/money.ts', text: '/** @source rules#money.1, rules#money.2. */' },
  { path: 'packages/spec/src/cash-in/machine.ts', text: '/** @source rules#cash-in.states.2 */' },
]
const tests = [
  { path: 'packages/spec/test/money.test.ts', text: "test('[money.1] [money.2] both ways', () => {})" },
  {
    path: 'packages/spec/test/cash-in.test.ts',
    text: "for (const { row } of rowsOf(cashIn)) {\ntest('[cash-in.states.2] never', () => {})",
  },
]
const machines = { cashIn: { lines: [{ rule: 'cash-in.states.1', says: 'It starts `PENDING`.' }] } }

test('a rule is its anchor and its text; a group has rules beneath it', () => {
  assert.deepEqual(rulesIn(text), [
    { anchor: 'money', text: 'Money', isGroup: true },
    { anchor: 'money.1', text: 'An amount is a JSON number.', isGroup: false },
    { anchor: 'money.2', text: 'Centavos are integers.', isGroup: false },
    { anchor: 'cash-in.states', text: 'States', isGroup: true },
    { anchor: 'cash-in.states.2', text: 'It is never forgotten.', isGroup: false },
  ])
})

test('rules that are cited and proven are no problem', () => {
  assert.deepEqual(ruleProblems(text, code, tests, machines), [])
})

test('a rule that code cites must be written', () => {
  const more = [...code, { path: 'a.ts', text: '\n// rules#money.3' }]
  assert.deepEqual(ruleProblems(text, more, tests, machines), [
    'a.ts:2 names [money.3], which is not in docs/rules.md nor in a table',
  ])
})

test('a rule that a test names must be written, if it is of a section of the rules', () => {
  const more = [
    ...tests,
    { path: 'a.test.ts', text: "test('[money.3] gone', () => {})" },
    { path: 'b.test.ts', text: "test('[brcode.parse] elsewhere', () => balances[money.length])" },
  ]
  assert.deepEqual(ruleProblems(text, code, more, machines), [
    'a.test.ts:1 names [money.3], which is not in docs/rules.md nor in a table',
  ])
})

test('a rule must be cited and proven', () => {
  assert.deepEqual(ruleProblems(text, code.slice(1), tests.slice(1), machines), [
    '[money.1] is cited by no code',
    '[money.2] is cited by no code',
    '[money.1] is named by no test',
    '[money.2] is named by no test',
  ])
})

test('a line of a table is a rule that is stated there alone', () => {
  const told = `${text}- <a id="cash-in.states.1"></a>**[cash-in.states.1]** It starts.\n`
  assert.deepEqual(ruleProblems(told, code, tests, machines), ['docs/rules.md: [cash-in.states.1] is written twice'])
  assert.deepEqual(ruleProblems(text, code, tests.slice(0, 1), machines), [
    '[cash-in.states.2] is named by no test',
    '[cash-in.states.1] is named by no test',
  ])
})

test('a rule is written once', () => {
  const twice = `${text}- <a id="money.1"></a>**[money.1]** Again.\n`
  assert.deepEqual(ruleProblems(twice, code, tests, machines), ['docs/rules.md: [money.1] is written twice'])
})

test('only a loop that makes tests proves the rows of a machine', () => {
  const proves = (line: string) => proofsIn([{ path: 'a.test.ts', text: line }], machines).length === 1
  assert.ok(proves('for (const { row, title } of rowsOf(cashIn)) {'))
  assert.ok(proves('for (const row of cashIn.rows) {'))
  assert.ok(!proves('  for (const row of cashIn.rows) if (row.to) found.push(row)'))
  assert.ok(!proves('const paid = cashIn.rows.filter((row) => row.to)'))
  assert.ok(!proves('for (const row of cashOut.rows) {'))
})
