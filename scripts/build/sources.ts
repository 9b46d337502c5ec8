import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../check/repository.ts'

/** Name of the file beside a build that has the hash of its sources. */
export const STAMP = '.sources'

/** Hash of all files of the patterns. */
export function hashOfSources(patterns: readonly string[]): string {
  const hash = createHash('sha256')
  const files = globSync(patterns, { cwd: ROOT, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).sort()) {
    hash.update(path.slice(ROOT.length)).update('\0').update(readFileSync(path)).update('\0')
  }
  return hash.digest('hex')
}

/** Whether a build is of these sources already. */
export function isBuiltOf(hash: string, folder: string): boolean {
  const stamp = join(folder, STAMP)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hash
}
