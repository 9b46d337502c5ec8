import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { createContext, Script } from 'node:vm'
import { endpoints, limits } from '@pixgate/spec'

const PACKAGES = fileURLToPath(new URL('../../../', import.meta.url))

/** What runs in production. */
const SOURCES = 'packages/{brcode,spec,server}/src/**/*.ts'.replace('packages/', '')

/** A literal of a regular expression, as it is formatted: a division has spaces around it. */
const LITERAL =
  /(?<=(?:[(,=:[!&|?;]|=>|return)[ \n]{0,20})\/(?![*/ ])((?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g

/** A pattern and where it stands. */
interface Found {
  readonly where: string
  readonly pattern: RegExp
}

function literals(): Found[] {
  return globSync(SOURCES, { cwd: PACKAGES }).flatMap((file) => {
    const code = readFileSync(`${PACKAGES}${file}`, 'utf8').replaceAll(/^ *(?:\*|\/[*/]).*$/gm, '')
    return [...code.matchAll(LITERAL)].map(([, source = '', flags = '']) => ({
      where: `${file}: /${source}/${flags}`,
      pattern: new RegExp(source, flags.replace(/[gy]/g, '')),
    }))
  })
}

/** Those of the shapes of bodies, parameters and answers, as they are compiled for validation. */
function shapes(value: unknown, known = new Set<unknown>()): string[] {
  if (typeof value !== 'object' || value === null || known.has(value)) return []
  known.add(value)
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'pattern' && typeof inner === 'string' ? [inner] : shapes(inner, known),
  )
}

/** Twice as long as a body may be, to tell a square from a line. */
const LENGTH = 2 * limits.bodyMaxBytes

/** What a pattern may want first, what it may then take for as long as there is any, and an end that none takes. */
const BEGINNINGS = ['', 'a', 'a@a', '1', '+55', 'https://a', 'sha256=', '2026-01-01T00:00:00', '10.0.0.0/', '[::', '"']
const PIECES = [
  ...['a', 'A', '0', '0.', 'a.', 'a-', '-', '.', ' ', ' a', '\t', '\r\n', '%', '/', ':', '0:', '"', '\\', 'é', '='],
  ...[','],
]
const ATTACKS = BEGINNINGS.flatMap((beginning) =>
  PIECES.map((piece) => `${beginning}${piece.repeat(LENGTH / piece.length)}\u0000`),
)

/** A thousand times what the longest takes that is in proportion to the length; whatever is not takes minutes. */
const SLOW_MS = 2_000

const MATCH = new Script('pattern.test(text)')

/** The first attack that keeps a pattern busy. */
function slowAttack(pattern: RegExp): string | undefined {
  const place = createContext({ pattern, text: '' })
  return ATTACKS.find((text) => {
    try {
      place.text = text
      MATCH.runInContext(place, { timeout: SLOW_MS })
      return false
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      return true
    }
  })
}

/** What nobody else writes: digits of an amount, which are few, and a file of the operator’s own. */
const OUR_OWN = ['spec/src/money.ts: /\\B(?=(\\d{3})+$)/g', 'server/src/platform/secrets.ts: /[\\r\\n]+$/']

test('[http.18] no text that fits into a body keeps a pattern of ours busy', () => {
  const inSchemas = [...new Set(shapes(endpoints))].map((source) => ({
    where: `a schema: ${source}`,
    pattern: new RegExp(source, 'u'),
  }))
  const found = [...literals(), ...inSchemas]
  assert.ok(found.length > 60 && inSchemas.length > 5, `${found.length} were found, ${inSchemas.length} in schemas`)
  assert.deepEqual(
    OUR_OWN.filter((own) => !found.some(({ where }) => where === own)),
    [],
  )
  for (const { where, pattern } of found) {
    if (OUR_OWN.includes(where)) continue
    assert.equal(slowAttack(pattern)?.slice(0, 40), undefined, where)
  }
})

test('a pattern that takes the square of a length, or a power of two, is found', () => {
  for (const pattern of [/\s+$/, /^(?:[a-z]+\.?)+@$/]) {
    assert.notEqual(slowAttack(pattern), undefined, String(pattern))
  }
})
