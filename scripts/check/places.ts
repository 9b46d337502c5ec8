import type { Check } from './check.ts'
import { repositoryFiles, type SourceFile } from './repository.ts'

/** What belongs to one machine and must not travel with the repository. */
const FORBIDDEN: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a host of a package registry', /\bnpmjs\.org\b|\bdeb\.debian\.org\b|\bpypi\.org\b/],
  ['a path of a workplace', /(?<![\w.-])\/work\//],
  ['the path of somebody’s home', /(?<![\w.-])\/(?:home|Users)\/\w|(?<![\w.-])\/root\//],
]

/** Lines that name a machine, its paths or a registry. */
export function placeProblems(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        FORBIDDEN.filter(([, pattern]) => pattern.test(line)).map(([what]) => `${path}:${index + 1} names ${what}`),
      ),
  )
}

/** The check over everything but the lock file, which names the registry by nature. */
export const places: Check = {
  name: 'places',
  run: async () => placeProblems(repositoryFiles(/^(?!package-lock\.json$)/)),
}
