import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { type PUBLISHED, packPackage } from '../../pack/package.ts'

/** Arguments of npm for an installation. */
export const NPM = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent', '--prefer-offline']

/** Packs packages and installs the tarballs. @returns the folder of the project, which was empty */
export function projectWith(names: readonly (typeof PUBLISHED)[number][], ...options: readonly string[]): string {
  const project = mkdtempSync(join(tmpdir(), 'pixgate-project-'))
  // As root, PostgreSQL runs as another user, who must be able to enter.
  chmodSync(project, 0o711)
  const tarballs = names.map((name) => packPackage(name, join(project, 'packed')))
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
  execFileSync('npm', [...NPM, ...options, ...tarballs], { cwd: project, stdio: 'inherit' })
  return project
}

/** The oldest Node.js that SDK and command line promise. Skips the test where it cannot be installed. */
export async function oldestNode(t: TestContext, project: string): Promise<string | undefined> {
  const name = `node-${process.platform}-${process.arch}`
  const prefix = join(project, 'node-22')
  mkdirSync(prefix, { recursive: true })
  return promisify(execFile)('npm', [...NPM, '--prefix', prefix, `${name}@22.12.0`]).then(
    () => join(prefix, 'node_modules', name, 'bin/node'),
    (error: unknown) => void t.skip(`${name}@22.12.0 cannot be installed: ${error}`),
  )
}
