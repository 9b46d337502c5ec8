import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../check/repository.ts'

/** The program of an installation. */
function pixgate(...words: string[]) {
  const program = join(ROOT, 'packages/server/bin/pixgate.mjs')
  return spawnSync(process.execPath, [program, ...words], { env: {}, cwd: tmpdir(), encoding: 'utf8' })
}

/** The words in the table of the guide. */
function wordsOfGuide(): string[] {
  const [, section = ''] = readFileSync(join(ROOT, 'docs/guides/operator.md'), 'utf8').split('\n## Processes\n')
  const [text = ''] = section.split('\n## ')
  return [...text.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, word = '']) => word)
}

test('help names every word of the guide, and ends with status 0', () => {
  const words = wordsOfGuide()
  assert.ok(words.length > 4)
  for (const asked of ['--help', '-h', 'help']) {
    const { status, stdout, stderr } = pixgate(asked)
    assert.deepEqual([status, stderr], [0, ''])
    assert.deepEqual(
      [...stdout.matchAll(/^ {2}([\w-]+) /gm)].map(([, word]) => word),
      words,
    )
  }
})

test('[config.1] an unknown word is refused with the names of all words', () => {
  const { status, stdout, stderr } = pixgate('boss')
  const reason = `unknown word boss; it is one of ${wordsOfGuide().join(', ')}`
  assert.deepEqual([status, stderr], [2, `pixgate: ${reason}\n`])
  assert.equal(JSON.parse(stdout).reason, reason)
})

test('[doctor.1] the doctor is one of the words', () => {
  const { status, stdout } = pixgate('doctor')
  assert.equal(status, 1)
  assert.match(stdout, /^✘ configuration\s+DATABASE_URL is required/m)
})

test('[api-pix.13] the way to the bank is one of the words', () => {
  const { status, stderr } = pixgate('bank-check', '--register')
  assert.equal(status, 2)
  assert.match(stderr, /^bank-check: .*\n {2}- PIXGATE_PARTNER_URL is required/)
  assert.match(stderr, /^Usage: pixgate bank-check \[--register\]$/m)
})

test('[http.11] an installation and the sandbox run where no object has a `__proto__` to write through', (t) => {
  const path = mkdtempSync(join(tmpdir(), 'pixgate-node-'))
  t.after(() => rmSync(path, { recursive: true }))
  writeFileSync(join(path, 'node'), '#!/bin/sh\necho "$*"\n', { mode: 0o755 })
  const env = { PATH: `${path}:/usr/bin:/bin` }
  const { stdout } = spawnSync(join(ROOT, 'deploy/pixgate'), ['api'], { env, encoding: 'utf8' })
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const line of [stdout, scripts.start]) {
    const flags = line.match(/ --(?!require)\S+/g)?.map((flag: string) => flag.trim()) ?? []
    const program =
      "const one = JSON.parse('{}'); one.__proto__ = { admin: 1 }; ('__proto__' in {}) || one.admin !== undefined"
    assert.equal(spawnSync(process.execPath, [...flags, '-p', program], { encoding: 'utf8' }).stdout, 'false\n', line)
  }
})
