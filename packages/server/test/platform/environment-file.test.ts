import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { withEnvironmentFile } from '../../src/platform/environment-file.ts'
import { ConfigError } from '../../src/platform/variables.ts'

/** The path of a file with this text, which goes with the test. */
function fileOf(t: TestContext, text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'pixgate-environment-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, '.env')
  writeFileSync(path, text)
  return path
}

function faultsOf(path: string): readonly string[] {
  try {
    withEnvironmentFile(path, {})
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    assert.doesNotMatch(error.message, /canary/)
    return error.faults.map((fault) => fault.replace(path, '.env'))
  }
}

test('[config.6] what the file sets is added, and what the environment sets counts, also where it is empty', (t) => {
  const path = fileOf(t, 'PORT=8088\nHOST=::1\nPIXGATE_BANK=other\n')
  assert.deepEqual(withEnvironmentFile(path, { HOST: '127.0.0.1', PIXGATE_BANK: '', PATH: '/bin' }), {
    environment: { PORT: '8088', HOST: '127.0.0.1', PIXGATE_BANK: '', PATH: '/bin' },
    fromFile: ['PORT'],
  })
})

test('[config.6] no file adds nothing', (t) => {
  const path = join(fileOf(t, ''), '../none')
  assert.deepEqual(withEnvironmentFile(path, { PORT: '1' }), { environment: { PORT: '1' }, fromFile: undefined })
})

test('[config.6] comments, quotes, blanks and line ends of all kinds are read', (t) => {
  const text = [
    '# A comment',
    '',
    '  A=1  ',
    'export B = two words # and a comment',
    'C="with a # in it" # and a comment',
    "D='$E'",
    'E=',
    'F= # nothing',
    'G=postgres://u:p@h/d?a=b',
    'H=`it\'s "so"`',
  ].join('\r\n')
  assert.deepEqual(withEnvironmentFile(fileOf(t, text), {}).environment, {
    A: '1',
    B: 'two words',
    C: 'with a # in it',
    D: '$E',
    E: '',
    F: '',
    G: 'postgres://u:p@h/d?a=b',
    H: 'it\'s "so"',
  })
})

test('[config.6] every line that is no setting is refused by its number, and no value is repeated', (t) => {
  const text = [
    'PORT=1',
    'canary',
    '1X=canary',
    'A="canary',
    "B='canary' canary",
    'C=canary#canary',
    'D=#canary',
    'PORT=2',
    '=canary',
    'E=canary # a # comment',
  ].join('\n')
  assert.deepEqual(faultsOf(fileOf(t, text)), [
    '.env, line 2: is not NAME=value',
    '.env, line 3: is not NAME=value',
    '.env, line 4: A has no closing quote at the end of its line',
    '.env, line 5: B has no closing quote at the end of its line',
    '.env, line 6: C has a #: put the value in quotes',
    '.env, line 7: D has a #: put the value in quotes',
    '.env, line 8: PORT was set in line 1 already',
    '.env, line 9: is not NAME=value',
  ])
})

test('[config.6] a file that cannot be read is refused', (t) => {
  const directory = join(fileOf(t, ''), '../directory')
  mkdirSync(directory)
  assert.throws(() => withEnvironmentFile(directory, {}), /cannot be read: illegal operation on a directory/)
})
