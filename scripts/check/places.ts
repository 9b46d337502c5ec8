import type { Check } from './check.ts'
import { repositoryFiles, type SourceFile } from './repository.ts'

/** Text that belongs to one machine. */
const FORBIDDEN: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a host of a package registry', /\bnpmjs\.org\b|\bdeb\.debian\.org\b|\bpypi\.org\b/],
  ['a path of a workspace', /(?<![\w.-])\/work\//],
  ['a path of a home directory', /(?<![\w.-])\/(?:home|Users)\/\w|(?<![\w.-])\/root\//],
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

/** Checks everything but the lock file, which may name the registry. */
export const places: Check = {
  name: 'places',
  run: async () => placeProblems(repositoryFiles(/^(?!package-lock\.json$)/)),
}
