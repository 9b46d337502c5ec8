import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gatherLines } from '../../src/platform/log.ts'

const lineOf = (level: string, msg: string) => `${JSON.stringify({ level, msg })}\n`

test('[logs.9] the lines of one turn are written together, at its end', async () => {
  const written: string[] = []
  const write = gatherLines((text) => written.push(text))
  for (const msg of ['one', 'two']) write(lineOf('info', msg))
  assert.deepEqual(written, [])
  await turn()
  assert.deepEqual(written, [lineOf('info', 'one') + lineOf('info', 'two')])
  await turn()
  assert.equal(written.length, 1, 'nothing is written where nothing waits')
})

test('[logs.9] warnings and errors are written at once, after the lines that wait', () => {
  for (const level of ['warn', 'error', 'fatal']) {
    const written: string[] = []
    const write = gatherLines((text) => written.push(text))
    write(lineOf('info', 'before'))
    write(lineOf(level, 'now'))
    assert.deepEqual(written, [lineOf('info', 'before') + lineOf(level, 'now')])
  }
})

test('[logs.9] a turn that says much is not kept until its end', () => {
  const written: string[] = []
  const write = gatherLines((text) => written.push(text))
  for (let count = 0; count < 1_000; count++) write(lineOf('info', 'x'.repeat(100)))
  assert.ok(written.length > 0)
})

test('[logs.9] waiting lines are written when the process exits', async () => {
  const log = JSON.stringify(new URL('../../src/platform/log.ts', import.meta.url))
  const script = `const { createLogger } = await import(${log})
    const logger = createLogger('info')
    for (const id of [1, 2, 3]) logger.info({ id }, 'line')
    process.exit(0)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  const ids = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).id)
  assert.deepEqual(ids, [1, 2, 3])
})
