import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const MODULES = fileURLToPath(new URL('../../../node_modules/', import.meta.url))

/** As strict as TypeScript can be. */
const STRICT = {
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  noEmit: true,
}

/** The folder of a client who has nothing of ours but what a generator made. */
export interface ClientFolder {
  /** Writes a file. @returns its path */
  write(name: string, text: string): Promise<string>
  /** What the compiler says of all files; nothing where it is content. */
  compile(): Promise<string>
}

/**
 * Makes a folder that goes with the test.
 * @param packages what the client has installed, by name
 * @param compilerOptions in which its TypeScript differs from the strictest
 */
export async function clientFolder(
  t: TestContext,
  packages: readonly string[] = [],
  compilerOptions: object = {},
): Promise<ClientFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'pixgate-typed-client-'))
  t.after(() => rm(folder, { recursive: true }))
  const write = async (name: string, text: string) => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  for (const name of packages) {
    await mkdir(join(folder, 'node_modules', name, '..'), { recursive: true })
    await symlink(join(MODULES, name), join(folder, 'node_modules', name))
  }
  await write('package.json', '{ "type": "module" }')
  await write('tsconfig.json', JSON.stringify({ compilerOptions: { ...STRICT, ...compilerOptions } }))
  const compile = () =>
    promisify(execFile)(join(MODULES, '.bin/tsc'), ['-p', folder, '--pretty', 'false']).then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    )
  return { write, compile }
}
