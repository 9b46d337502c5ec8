import type { Check } from './check.ts'
import { readText, repositoryFiles, type SourceFile } from './repository.ts'
import { type Citation, matchesIn, TESTS } from './rules.ts'

/** The page of failure modes. */
export const FAILURE_MODES = 'docs/failure-modes.md'

/** A failure mode: a row of a table, or a principle. */
export interface FailureMode {
  readonly id: string
  readonly text: string
}

const FAILURE_MODE = '(?:CI|CO|QR|RF|EV|EX|NO|DB|PL)-\\d+[a-z]?|P\\d+'

/** Failure modes in the order of the page. */
export function failureModesIn(text: string): FailureMode[] {
  return [...text.matchAll(new RegExp(`<a id="(${FAILURE_MODE})"></a>(.*(?:\\n +.*)*)`, 'g'))].map(
    ([, id = '', rest = '']) => ({ id, text: rest.replace(/\s+/g, ' ').trim() }),
  )
}

/** Citations in code: `failure-modes#CI-3`. */
export function failureModeCitationsIn(files: readonly SourceFile[]): Citation[] {
  return matchesIn(files, new RegExp(`failure-modes#(${FAILURE_MODE})`, 'g'))
}

/** Tests whose name begins with a failure mode: `[money.1] [CI-3] …`. */
export function failureModeProofsIn(files: readonly SourceFile[]): Citation[] {
  return matchesIn(files, new RegExp(`(?<=['"\`]|\\] )\\[(${FAILURE_MODE})\\](?= )`, 'g'))
}

/** Last number of each series. No row may be removed. */
const SERIES = { CI: 17, EV: 48, EX: 9, CO: 26, QR: 11, RF: 11, NO: 17, DB: 11, PL: 6 }

/** Rows about unreleased versions. */
const UNRELEASED = new Set(['EV-32', 'EV-46'])

/** Missing rows. @param series the last number of each, starting at 1 */
export function missingRows(text: string, series: Readonly<Record<string, number>> = SERIES): string[] {
  const written = new Set(failureModesIn(text).map(({ id }) => id))
  return Object.entries(series)
    .flatMap(([name, last]) => Array.from({ length: last }, (_, before) => `${name}-${before + 1}`))
    .filter((id) => !written.has(id) && !UNRELEASED.has(id))
    .map((id) => `${FAILURE_MODES}: [${id}] is missing`)
}

/** Rows that link no test, or a file without a test named by them. */
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

/** Checks that no row is missing and that each links a test named by it. */
export const failureModes: Check = {
  name: 'failure modes',
  run: async () => {
    const text = readText(FAILURE_MODES) ?? ''
    return [...missingRows(text), ...proofProblems(text, repositoryFiles(TESTS))]
  },
}
