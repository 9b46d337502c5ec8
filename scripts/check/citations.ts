import type { Check } from './check.ts'
import { readText, repositoryFiles, repositoryPaths, type SourceFile } from './repository.ts'
import { type Citation, matchesIn, RULES, rulesOf, specMachines, TESTS } from './rules.ts'

/** Where failure modes are written. */
export const FAILURE_MODES = 'docs/failure-modes.md'

/** A failure mode: a row of a table, or a principle. */
export interface FailureMode {
  readonly id: string
  readonly text: string
}

/** The documents that code and tests cite, besides decisions and public standards. */
const DOCUMENTS = { rules: RULES, 'failure-modes': FAILURE_MODES, 'partner-protocol': 'docs/partner-protocol.md' }

/** Where they are cited. */
const CITING =
  /^(?:packages\/[^/]+\/(?:src|test|schema|migrations)|scripts(?!\/test)|examples|bench)\/.*\.(?:tsx?|sql)$/

/** Where tests are named by them; packages/brcode stands alone and has names of its own. */
const NAMED = /^packages\/(?!brcode\/)[^/]+\/test\/.*\.tsx?$/

const CITATION = '(?:rules|failure-modes|partner-protocol)#[\\w.-]*\\w|ADR-\\d{4}'

const FAILURE_MODE = '(?:CI|CO|QR|RF|EV|EX|NO|DB|PL)-\\d+[a-z]?|P\\d+'

/** The failure modes in the order they are written. */
export function failureModesIn(text: string): FailureMode[] {
  return [...text.matchAll(new RegExp(`<a id="(${FAILURE_MODE})"></a>(.*(?:\\n +.*)*)`, 'g'))].map(
    ([, id = '', rest = '']) => ({ id, text: rest.replace(/\s+/g, ' ').trim() }),
  )
}

/** Where code cites a failure mode: `failure-modes#CI-3`. */
export function failureModeCitationsIn(files: readonly SourceFile[]): Citation[] {
  return matchesIn(files, new RegExp(`failure-modes#(${FAILURE_MODE})`, 'g'))
}

/** Where the name of a test begins with a failure mode, or with several: `[money.1] [CI-3] …`. */
export function failureModeProofsIn(files: readonly SourceFile[]): Citation[] {
  return matchesIn(files, new RegExp(`(?<=['"\`]|\\] )\\[(${FAILURE_MODE})\\](?= )`, 'g'))
}

/**
 * Comments that cite what is not there: whatever looks like a citation, and whatever a `@source` names but a standard.
 * @param known what can be cited: `rules#money.1`, `failure-modes#CI-3`, `ADR-0009`
 */
export function citationProblems(known: ReadonlySet<string>, files: readonly SourceFile[]): string[] {
  const comments = matchesIn(files, /^\s*((?:\/\*|\*|\/\/).*)$/g)
  return comments.flatMap(({ anchor: comment, path, line }) => {
    const cited = comment.match(new RegExp(`\\b(?:${CITATION})`, 'g')) ?? []
    const source = /@source (.+?)\.?(?: \*\/|$)/.exec(comment)?.[1]?.split(', ') ?? []
    const isStandard = source[0] === 'BCB' || source[0] === 'EMVCo'
    return [...new Set([...cited, ...(isStandard ? [] : source)])]
      .filter((name) => !known.has(name))
      .map((name) => `${path}:${line} cites ${name}, which is not in the repository`)
  })
}

/**
 * Tests whose names begin with what is written nowhere.
 * @param known what may stand in brackets: `money.1`, `CI-3`, `partner-protocol`
 */
export function testNameProblems(known: ReadonlySet<string>, tests: readonly SourceFile[]): string[] {
  return matchesIn(tests, /(?:\btest\(|\bname: |^ +)['"`]((?:\[[A-Za-z][^\]$]*\] )+)/g).flatMap(
    ({ anchor: names, path, line }) =>
      [...names.matchAll(/\[(.+?)\]/g)]
        .filter(([, name = '']) => !known.has(name))
        .map(([brackets]) => `${path}:${line} is named by ${brackets}, which is written nowhere`),
  )
}

/** The rows that every version of the page has, by series: the last number that may not be missing. */
const SERIES = { CI: 17, EV: 48, EX: 9, CO: 26, QR: 11, RF: 11, NO: 17, DB: 11, PL: 6 }

/** Rows about processes of unreleased versions, which no database has beside it any more. */
const UNRELEASED = new Set(['EV-32', 'EV-46'])

/**
 * Rows that were taken away: a fault does not stop to happen by not being written down.
 * @param series the last number of each, which begin with 1
 */
export function missingRows(text: string, series: Readonly<Record<string, number>> = SERIES): string[] {
  const written = new Set(failureModesIn(text).map(({ id }) => id))
  return Object.entries(series)
    .flatMap(([name, last]) => Array.from({ length: last }, (_, before) => `${name}-${before + 1}`))
    .filter((id) => !written.has(id) && !UNRELEASED.has(id))
    .map((id) => `${FAILURE_MODES}: [${id}] is missing`)
}

/** Rows that link a file where no test is named by them, or link none. */
export function proofProblems(text: string, tests: readonly SourceFile[]): string[] {
  const proofs = failureModeProofsIn(tests)
  const isNamed = (id: string, file: string) => proofs.some(({ anchor, path }) => anchor === id && path === file)
  return failureModesIn(text)
    .filter((row) => row.text.endsWith('|'))
    .flatMap(({ id, text: row }) => {
      const linked = [...row.matchAll(/\(\.\.\/(packages\/[^)]+\.(?:test|deep)\.ts)\)/g)].map(([, path = '']) => path)
      return [
        ...linked.filter((path) => !isNamed(id, path)).map((path) => `[${id}] links ${path}, which does not name it`),
        ...(linked.length === 0 ? [`[${id}] must link a test that is named by it`] : []),
      ]
    })
    .map((problem) => `${FAILURE_MODES}: ${problem}`)
}

/** The check that what code and tests cite can be found. */
export const citations: Check = {
  name: 'citations',
  run: async () => {
    const decisions = repositoryPaths().flatMap((path) => /^docs\/adr\/(\d{4})-/.exec(path)?.[1] ?? [])
    const citable = new Set(decisions.map((number) => `ADR-${number}`))
    const names = new Set(Object.keys(DOCUMENTS))
    for (const [document, path] of Object.entries(DOCUMENTS)) {
      for (const [, anchor = ''] of (readText(path) ?? '').matchAll(/<a id="(.+?)">/g)) {
        citable.add(`${document}#${anchor}`)
        names.add(anchor)
      }
    }
    for (const { anchor } of rulesOf(specMachines)) {
      citable.add(`rules#${anchor}`)
      names.add(anchor)
    }
    return [
      ...citationProblems(citable, repositoryFiles(CITING)),
      ...testNameProblems(names, repositoryFiles(NAMED)),
      ...missingRows(readText(FAILURE_MODES) ?? ''),
      ...proofProblems(readText(FAILURE_MODES) ?? '', repositoryFiles(TESTS)),
    ]
  },
}
