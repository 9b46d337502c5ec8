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
 * Where root starts Pixgate and the database's user cannot enter the data directory, PostgreSQL's folder is under
 * {@link SHARED_FOLDER}`/clusters` and `postgres` is a symbolic link to it.
 */

/** One PostgreSQL database cluster, complete on the disk. */
export interface Cluster {
  /** The data directory, where Pixgate's own files about the cluster are. */
  readonly dataDirectory: string
  /** PostgreSQL's folder, with no symbolic link in its path. */
  readonly directory: string
  readonly password: string
  readonly account: Account
}

/** The role that owns everything, and the database of the same name. */
export const OWNER = 'pixgate'

/**
 * Finds the data directory's cluster, or makes one. A crash half way leaves no cluster; several processes at once make
 * one, not several.
 * @throws EmbeddedPostgresError where part of it is missing or PostgreSQL cannot make it
 */
export async function openCluster(dataDirectory: string): Promise<Cluster> {
  await makeFolder(dataDirectory, DATA_DIRECTORY_MODE)
  const home = await realpath(dataDirectory)
  if (!(await exists(folderIn(home)))) await createCluster(home)
  return readCluster(home)
}

/** Removes what crashed or beaten attempts to make this cluster left behind. Only for who owns the cluster. */
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
      `The database is missing: ${folderIn(dataDirectory)} is a link to a folder that is not there. Put it back, or move the link away to start with an empty database.`,
    )
  }
  const password = await unlessMissing(readFile(passwordIn(dataDirectory), 'utf8'))
  if (password === undefined) {
    throw new EmbeddedPostgresError(
      `The database's password is missing: there is ${folderIn(dataDirectory)} but no ${passwordIn(dataDirectory)}. Put it back from where you have the rest of the data directory from.`,
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

/** All who make a cluster here at the same time choose the same password, so that it fits whichever cluster wins. */
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
 * A folder outside is named after the data directory and the password: a data directory that was deleted and made anew
 * does not find the former one's database.
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
    await give(staging, account)
    await give(passwordFile, account)
    const made = await runAs(account, initdb, [
      ...['--pgdata', join(staging, 'data'), '--username', OWNER, '--pwfile', passwordFile],
      ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C'],
      ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    ])
    if (!made.succeeded) throw new EmbeddedPostgresError(`PostgreSQL could not make a database: ${made.output}`)
    await publishFolder(join(staging, 'data'), directory)
  } catch (error) {
    // Another process finished first and cleared our attempt away.
    if (!(await exists(directory))) throw error
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

async function give(path: string, { uid, gid }: Account): Promise<void> {
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
