import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import fc from 'fast-check'
import { readSettings, withEnvironmentFile } from '../../src/platform/environment-file.ts'
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

test('[config.6] the file adds settings, and the environment has precedence, also where it is empty', (t) => {
  const path = fileOf(t, 'PORT=8088\nHOST=::1\nPIXGATE_BANK=other\n')
  assert.deepEqual(withEnvironmentFile(path, { HOST: '127.0.0.1', PIXGATE_BANK: '', PATH: '/bin' }), {
    environment: { PORT: '8088', HOST: '127.0.0.1', PIXGATE_BANK: '', PATH: '/bin' },
    fromFile: ['PORT'],
    places: new Map([
      ['PORT', `${path}, line 1`],
      ['HOST', `${path}, line 2`],
      ['PIXGATE_BANK', `${path}, line 3`],
    ]),
  })
})

test('[config.6] no file adds nothing', (t) => {
  const path = join(fileOf(t, ''), '../none')
  const nothing = { environment: { PORT: '1' }, fromFile: undefined, places: new Map() }
  assert.deepEqual(withEnvironmentFile(path, { PORT: '1' }), nothing)
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
    'EMPTY= ',
    'AFTER=it',
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
    EMPTY: '',
    AFTER: 'it',
    H: 'it\'s "so"',
  })
})

test('[config.6] every line that is no setting is refused by its number, and nothing of it is repeated', (t) => {
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
    '\u00a0F=canary',
    'export\u00a0G=canary',
    '\ufeffH=canary',
    '\u00a0',
    'I=canary\u2028J=canary',
    'K=canary\rL=canary',
    'canary==canary',
    'canary=',
    'canary=#',
  ].join('\n')
  assert.deepEqual(faultsOf(fileOf(t, text)), [
    '.env, line 2: is not NAME=value',
    '.env, line 3: is not NAME=value',
    '.env, line 4: has no closing quote at the end of its line',
    '.env, line 5: has no closing quote at the end of its line',
    '.env, line 6: has a #: put the value in quotes',
    '.env, line 7: has a #: put the value in quotes',
    '.env, line 8: sets what line 1 sets already',
    '.env, line 9: is not NAME=value',
    ...[11, 12, 13, 14, 15, 16].map((line) => `.env, line ${line}: is not NAME=value`),
    '.env, line 18: sets what line 17 sets already',
    '.env, line 19: has a #: put the value in quotes',
  ])
})

test('[config.6] a byte-order mark, as editors write it, is no part of the first name', (t) => {
  const { environment, fromFile } = withEnvironmentFile(fileOf(t, '\ufeffPIXGATE_PAYMENT_MAX_CENTS=100\n'), {})
  assert.deepEqual(environment, { PIXGATE_PAYMENT_MAX_CENTS: '100' })
  assert.deepEqual(fromFile, ['PIXGATE_PAYMENT_MAX_CENTS'])
})

const BLANKS = ['', '', ' ', '\t', '\u00a0', '\ufeff', '\v', '\u2028', '\r']
const WORDS = [
  ...['', 'A', 'B', '__proto__', 'constructor', '=', '1', 'x y', '"', "'x'", '`', ' # x', '#', '\\n', '$A', '\0'],
]

const line = fc
  .tuple(
    ...[BLANKS, ['', '', 'export'], BLANKS, WORDS, ['', '=', ' = '], WORDS, WORDS, BLANKS].map((of) =>
      fc.constantFrom(...of),
    ),
  )
  .map((pieces) => pieces.join(''))

const plain = fc
  .tuple(
    fc.constantFrom('', 'export ', ' export\t'),
    fc.stringMatching(/^[A-Z_]{3}$/),
    fc.constantFrom('=', '= ', ' = 1', '="#"'),
  )
  .map((pieces) => pieces.join(''))

test('[config.6] [config.7] of whatever file, each line is a comment, is empty, is a setting that is read, or is refused', () => {
  let accepted = 0
  fc.assert(
    fc.property(
      fc.array(fc.oneof(line, plain, plain, plain), { maxLength: 4 }),
      fc.constantFrom('\n', '\r\n'),
      (lines, end) => {
        const { settings, faults } = readSettings(lines.join(end))
        if (faults.length > 0) return
        const written = lines.filter((one) => !/^[ \t]*(?:#|$)/.test(one.replace(/^\ufeff/, '')))
        const names = written.map((one) => /(\w+)[ \t]*=/.exec(one)?.[1])
        assert.deepEqual(Object.keys(settings), names)
        accepted += names.length
      },
    ),
    { numRuns: 5_000 },
  )
  assert.ok(accepted > 100, `${accepted} settings were read`)
})

test('[config.6] a file that cannot be read is refused', (t) => {
  const directory = join(fileOf(t, ''), '../directory')
  mkdirSync(directory)
  assert.throws(() => withEnvironmentFile(directory, {}), /cannot be read: illegal operation on a directory/)
})
