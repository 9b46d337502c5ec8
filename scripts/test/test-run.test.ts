import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { runGroups } from '../test-run/run.ts'

/** Runs made-up test files, each group in a process. */
async function outcomeOf(t: TestContext, groups: readonly (readonly string[])[], more: object = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-test-run-'))
  t.after(() => rm(directory, { recursive: true }))
  const paths = await Promise.all(
    groups.map((group, number) =>
      Promise.all(
        group.map(async (body, index) => {
          const path = join(directory, `${number}-${index}.test.mjs`)
          await writeFile(path, `import test from 'node:test'\n${body}`)
          return path
        }),
      ),
    ),
  )
  const reported: string[] = []
  const outcome = await runGroups(paths, {
    environment: process.env,
    concurrency: 2,
    silenceMs: 60_000,
    onFailure: ({ name }) => reported.push(name),
    onFiles: () => undefined,
    ...more,
  })
  const failed = outcome.failures.map(({ name }) => name)
  assert.deepEqual(reported, failed, 'a failure is reported when it happens')
  return {
    passed: outcome.passed,
    failed: failed.toSorted(),
    skipped: outcome.skipped.length,
    files: outcome.files.size,
  }
}

const PASSING = `test('passes', () => undefined)`
const FAILING = `test('fails', () => { throw new Error('so') })`

test('files that share a process are all run, and each failure and skip counts', async (t) => {
  const skipped = `test('skipped', { skip: 'no tool' }, () => undefined)`
  const nested = `test('parent', async (t) => { await t.test('child', () => { throw new Error('so') }) })`
  assert.deepEqual(
    await outcomeOf(t, [
      [PASSING, FAILING, PASSING],
      [skipped, nested],
    ]),
    {
      passed: 2,
      failed: ['child', 'fails'],
      skipped: 1,
      files: 5,
    },
  )
})

test('a process that ends before its tests, or says nothing for too long, is a failure', async (t) => {
  const ending = `test('ends the process', () => process.exit(0))`
  const { passed, failed } = await outcomeOf(t, [[ending], [PASSING]])
  assert.deepEqual([passed, failed.length], [1, 1])

  const silent = `test('waits', () => new Promise((resolve) => setTimeout(resolve, 60_000)))`
  assert.deepEqual((await outcomeOf(t, [[silent]], { silenceMs: 3_000 })).failed, ['waits'])
})

test('a file that cannot be loaded is a failure', async (t) => {
  const { passed, failed } = await outcomeOf(t, [[PASSING, `throw new Error('so')`]])
  assert.equal(failed.length, 1)
  assert.equal(passed, 1)
})
