import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The repository's root. */
export const ROOT = join(import.meta.dirname, '../..')

/** A text file of the repository; `path` starts at its root. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** The paths of all files that are, or are about to be, under version control. */
export function repositoryPaths(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  return listed
    .toString()
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(ROOT, path)))
    .sort()
}

/** The files of {@link repositoryPaths} whose path matches. */
export function repositoryFiles(pattern: RegExp): SourceFile[] {
  return repositoryPaths()
    .filter((path) => pattern.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

/** The text of one file, or `undefined` where there is none. */
export function readText(path: string): string | undefined {
  return existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : undefined
}
