import assert from 'node:assert/strict'
import test from 'node:test'
import { linkProblems } from '../../check/links.ts'

const PATHS = ['README.md', 'docs/rules.md', 'src/cash-in/machine.ts']
const RULES = {
  path: 'docs/rules.md',
  text: [
    '# Rules',
    '## <a id="money"></a>Money, and *fees*',
    '- <a id="money.1"></a>**[money.1]** Text.',
    '## `GET` twice',
    '## `GET` twice',
    '```sh',
    '# no heading',
    '```',
  ].join('\n'),
}
const problems = (text: string) => linkProblems([{ path: 'README.md', text }, RULES], PATHS)

test('a link leads to a file, a folder, an anchor or out of the repository', () => {
  for (const target of [
    'docs/rules.md',
    'docs/',
    'src/cash-in',
    'src/cash-in/machine.ts',
    'https://example.com/x.md#y',
    'docs/rules.md#money.1',
    'docs/rules.md#money',
    'docs/rules.md#money-and-fees',
    'docs/rules.md#get-twice',
    'docs/rules.md#get-twice-1',
  ]) {
    assert.deepEqual(problems(`see [it](${target})`), [], target)
  }
  assert.deepEqual(problems('# Is it there?\n[yes](#is-it-there)'), [])
})

test('a link that leads nowhere is named with its line', () => {
  assert.deepEqual(problems('\nsee [it](docs/rule.md)'), ['README.md:2 links docs/rule.md, which does not exist'])
  assert.deepEqual(problems('```\n[code](x.md)\n```\n[it](src/cash-in/gone.ts)'), [
    'README.md:4 links src/cash-in/gone.ts, which does not exist',
  ])
  for (const anchor of ['money.2', 'no-heading', 'get-twice-2']) {
    assert.deepEqual(problems(`[it](docs/rules.md#${anchor})`), [
      `README.md:1 links docs/rules.md#${anchor}: docs/rules.md has no such anchor`,
    ])
  }
  assert.equal(problems('[it](src/cash-in/machine.ts#L3)').length, 1)
  assert.equal(problems('[it](#gone)').length, 1)
})

test('what stands in code is no link', () => {
  assert.deepEqual(problems('`[it](gone.md)`\n```md\n[it](gone.md)\n```'), [])
})
