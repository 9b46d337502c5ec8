import { createHash, randomBytes } from 'node:crypto'
import { chown, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Account, accountForNewCluster, accountOfCluster, canEnter, runAs } from './account.ts'
import { findBinaries, SHARED_FOLDER } from './binaries.ts'
import {
  DATA_DIRECTORY_MODE,
  exists,
  makeFolder,
  publishFile,
  publishFolder,
  publishSymlink,
  unlessMissing,
} from './durable-files.ts'
import { EmbeddedPostgresError } from './error.ts'

/**
 * The files of one database: `postgres/` (PostgreSQL's own folder) and `postgres.password` in the data directory.
 * If root starts Pixgate and the database's user cannot enter the data directory, PostgreSQL's folder is under
 * {@link SHARED_FOLDER}`/clusters` and `postgres` is a symbolic link to it.
 */

/** A complete PostgreSQL database cluster on disk. */
export interface Cluster {
  /** The data directory, with Pixgate's own files about the cluster. */
  readonly dataDirectory: string
  /** PostgreSQL's folder, with symbolic links resolved. */
  readonly directory: string
  readonly password: string
  readonly account: Account
}

/** The role that owns everything, and the database of the same name. */
export const OWNER = 'pixgate'

/**
 * Opens the data directory's cluster, or creates it. Atomic: a crash leaves no partial cluster, and concurrent processes
 * create only one.
 * @throws EmbeddedPostgresError if part of it is missing or PostgreSQL cannot create it
 */
export async function openCluster(dataDirectory: string): Promise<Cluster> {
  await makeFolder(dataDirectory, DATA_DIRECTORY_MODE)
  const home = await realpath(dataDirectory)
  if (!(await exists(folderIn(home)))) await createCluster(home)
  return readCluster(home)
}

/** Removes leftovers of crashed or lost attempts to create this cluster. Only the cluster's owner may call it. */
export async function removeLeftovers({ directory }: Cluster): Promise<void> {
  for (const name of await readdir(dirname(directory))) {
    if (!name.startsWith(basename(stagingOf(directory, '')))) continue
    await rm(join(dirname(directory), name), { recursive: true, force: true, maxRetries: 10 })
  }
}

async function readCluster(dataDirectory: string): Promise<Cluster> {
  const directory = await unlessMissing(realpath(folderIn(dataDirectory)))
  if (directory === undefined) {
    throw new EmbeddedPostgresError(
      `The database is missing: ${folderIn(dataDirectory)} is a link to a folder that does not exist. Restore the folder, or move the link away to start with an empty database.`,
    )
  }
  const password = await unlessMissing(readFile(passwordIn(dataDirectory), 'utf8'))
  if (password === undefined) {
    throw new EmbeddedPostgresError(
      `The database's password is missing: there is ${folderIn(dataDirectory)} but no ${passwordIn(dataDirectory)}. Restore it from the same backup as the rest of the data directory.`,
    )
  }
  return { dataDirectory, directory, password, account: await accountOfCluster(directory) }
}

async function createCluster(dataDirectory: string): Promise<void> {
  const password = await choosePassword(dataDirectory)
  const account = await accountForNewCluster()
  const directory = await chooseFolder(dataDirectory, account, password)
  if (!(await exists(directory))) await initialise(directory, dataDirectory, account, password)
  if (directory !== folderIn(dataDirectory)) await publishSymlink(directory, folderIn(dataDirectory))
}

/** Concurrent processes agree on one password, so that it fits the cluster of whichever process wins. */
async function choosePassword(dataDirectory: string): Promise<string> {
  const path = passwordIn(dataDirectory)
  if (!(await exists(path))) {
    const candidate = stagingOf(path)
    await writeFile(candidate, randomBytes(32).toString('hex'), { mode: 0o600, flush: true })
    await publishFile(candidate, path)
    await rm(candidate)
  }
  return readFile(path, 'utf8')
}

/**
 * A folder outside the data directory is named after the directory's path and the password, so that a recreated data
 * directory does not find the database of the deleted one.
 */
async function chooseFolder(dataDirectory: string, account: Account, password: string): Promise<string> {
  if (account.uid === undefined || (await canEnter(account, dataDirectory))) return folderIn(dataDirectory)
  const clusters = join(SHARED_FOLDER, 'clusters')
  await makeFolder(clusters, 0o755)
  const fingerprint = createHash('sha256').update(`${dataDirectory}\n${password}`).digest('hex')
  return join(clusters, fingerprint.slice(0, 16))
}

async function initialise(directory: string, dataDirectory: string, account: Account, password: string): Promise<void> {
  const { initdb } = await findBinaries(account, dataDirectory)
  const staging = stagingOf(directory)
  const passwordFile = join(staging, 'password')
  try {
    await mkdir(staging, { mode: 0o700 })
    await writeFile(passwordFile, password, { mode: 0o600 })
    await chownTo(staging, account)
    await chownTo(passwordFile, account)
    const made = await runAs(account, initdb, [
      ...['--pgdata', join(staging, 'data'), '--username', OWNER, '--pwfile', passwordFile],
      ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'],
      ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ])
    if (!made.succeeded) throw new EmbeddedPostgresError(`PostgreSQL could not create a database: ${made.output}`)
    await publishFolder(join(staging, 'data'), directory)
  } catch (error) {
    // Another process finished first and removed our attempt.
    if (!(await exists(directory))) throw error
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

async function chownTo(path: string, { uid, gid }: Account): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid)
}

function folderIn(dataDirectory: string): string {
  return join(dataDirectory, 'postgres')
}

function passwordIn(dataDirectory: string): string {
  return join(dataDirectory, 'postgres.password')
}

function stagingOf(path: string, id = randomBytes(4).toString('hex')): string {
  return `${path}.new-${id}`
}
