import type { Check } from './check.ts'
import { ratchetProblems } from './ratchet.ts'
import { readText, repositoryFiles, type SourceFile } from './repository.ts'

/** A word of no trade, and the plain one. */
export interface RefusedWord {
  readonly word: string
  /** How it is found, in texts and in the names of files. */
  readonly pattern: string
  /** What to write instead. */
  readonly write: string
  /** How often it still stood when it was refused or last looked at; it may only fall. */
  readonly left?: number
  /** The files in which it is the name of something stored, and stays. */
  readonly stored?: readonly string[]
}

const WHERE = 'scripts/check/words.json'

/** How many places of a word that became more frequent are named. */
const PLACES_MAX = 10

/** Refused words that stand more often than is still allowed. */
export function wordProblems(files: readonly SourceFile[], refused: readonly RefusedWord[]): string[] {
  return refused.flatMap((word) => {
    const places = placesOf(word, files)
    const gone = (word.stored ?? []).filter((path) => !files.some((file) => file.path === path && isIn(word, file)))
    const bounds = { limit: 0, unit: 'places', where: `${WHERE} («left»)` }
    const problems = ratchetProblems(
      { [word.word]: places.length },
      word.left === undefined ? {} : { [word.word]: word.left },
      bounds,
    )
    const isMore = places.length > (word.left ?? 0)
    return [
      ...gone.map((path) => `${word.word} does not stand in ${path}; take it out of ${WHERE} («stored»)`),
      ...problems.map((problem) => (isMore ? `${problem}; write ${word.write}` : problem)),
      ...(isMore ? places.slice(0, PLACES_MAX).map((place) => `  ${place}`) : []),
    ]
  })
}

/** `path:line` of each occurrence; `path` of one in a file's name. */
function placesOf({ pattern, stored = [] }: RefusedWord, files: readonly SourceFile[]): string[] {
  const expression = new RegExp(pattern, 'g')
  const refusing = files.filter(({ path }) => !stored.includes(path))
  return refusing.flatMap(({ path, text }) => [
    ...[...path.matchAll(expression)].map(() => path),
    ...text.split('\n').flatMap((line, index) => [...line.matchAll(expression)].map(() => `${path}:${index + 1}`)),
  ])
}

function isIn({ pattern }: RefusedWord, { text }: SourceFile): boolean {
  return new RegExp(pattern).test(text)
}

/** Words that a payments engineer would not search for, in code, errors, logs, docs, tests and names of files. */
export const words: Check = {
  name: 'words',
  run: async () => {
    const refused = JSON.parse(readText(WHERE) ?? '') as readonly RefusedWord[]
    return wordProblems(repositoryFiles(WRITTEN), refused)
  },
}

/** What is written by hand and can still be changed: no lock file, nothing generated, no migration. */
const WRITTEN =
  /^(?!package-lock\.json|LICENSE|docs\/generated\/|bench\/results\/|scripts\/check\/words\.json|scripts\/test\/check\/words\.test\.ts)/
