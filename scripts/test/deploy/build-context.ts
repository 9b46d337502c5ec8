import { readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { ROOT, repositoryPaths } from '../../check/repository.ts'

/**
 * The files of the repository that `.dockerignore` lets through to the image's first stage. It first shuts everything out.
 * @throws Error where it does not
 */
export function buildContext(): string[] {
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
  const [first, ...patterns] = lines.filter((line) => line !== '' && !line.startsWith('#'))
  if (first !== '*' || !patterns.every((pattern) => pattern.startsWith('!'))) {
    throw new Error('.dockerignore shuts everything out and then lets some of it in')
  }
  const allowed = patterns.map((pattern) => pattern.slice(1))
  return repositoryPaths().filter((path) =>
    allowed.some((pattern) => matchesGlob(path, pattern) || matchesGlob(path, `${pattern}/**`)),
  )
}
