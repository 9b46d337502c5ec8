import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { machine } from '@pixgate/spec'
import { mutantsOf } from '../mutate/mutants.ts'

const PROGRAM = fileURLToPath(new URL('../mutate.ts', import.meta.url))

/** Runs it as a person does. */
async function mutate(...words: readonly string[]): Promise<{ code: unknown; output: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [PROGRAM, ...words])
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string }
    return { code, output: stdout + stderr }
  }
}

test('no line of a table can be broken unnoticed', async () => {
  const { code, output } = await mutate('tables')
  assert.equal(code, 0, output)
  assert.match(output, /^\d{4} mutants, 0 survived$/m)
})

test('a call that means nothing says how to call it', async () => {
  for (const words of [[], ['doors'], ['tables', '--every', '0']]) {
    const { code, output } = await mutate(...words)
    assert.equal(code, 2)
    assert.match(output, /Usage: npm run mutate -- tables/)
  }
})

test('a line is broken in every way that matters, one at a time', () => {
  const door = machine({
    resource: 'door',
    states: ['OPEN', 'SHUT', 'STUCK'],
    meanings: { OPEN: 'It is open.', SHUT: 'It is shut.', STUCK: 'It is neither.' },
    reasons: { rust: 'It is rusty.', heat: 'It is hot.' },
    triggers: ['push'],
    guards: { heavy: 'it is heavy', locked: 'it is locked' },
    lines: [
      { from: null, on: 'push', to: 'OPEN', rule: 'door.1', says: 'Out of nothing nothing is tried.' },
      {
        from: ['OPEN', 'SHUT'],
        on: 'push',
        when: 'heavy',
        unless: 'locked',
        to: 'STUCK:rust',
        opens: 'bank_contradicts',
        asks: true,
        rule: 'door.2',
        says: 'A heavy door sticks.',
      },
    ],
  })
  const broken = mutantsOf(door)
  const what = broken.map(({ name }) => name.replace('door [door.2] push in OPEN,SHUT: ', ''))
  assert.deepEqual(what, [
    'removed',
    '«heavy» dropped',
    '«heavy» negated',
    '«not: locked» dropped',
    '«not: locked» negated',
    'not in OPEN',
    'not in SHUT',
    'to STUCK',
    'to ignored',
    'to STUCK:heat',
    'without opens',
    'without asks',
  ])
  const [removed, dropped] = broken
  assert.equal(removed?.rows.length, 1)
  assert.deepEqual(dropped?.rows.at(-1)?.when, [])
  assert.equal(door.rows.length, 3, 'the table itself is as it was')
})
