import { chmod, link, lstat, mkdir, open, rename, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './error.ts'

/**
 * Atomic creation of files: a file is either complete and on disk, or does not exist. If two processes create the same
 * file, the first wins and the other uses its file.
 */

/** Renames a finished folder to its final path, unless that exists. */
export async function publishFolder(finished: string, path: string): Promise<void> {
  await unlessTaken(rename(finished, path))
  await sync(dirname(path))
}

/** Links a finished file to its final path, unless that exists. */
export async function publishFile(finished: string, path: string): Promise<void> {
  await unlessTaken(link(finished, path))
  await sync(dirname(path))
}

/** Creates a symbolic link, unless its path exists. */
export async function publishSymlink(target: string, path: string): Promise<void> {
  await unlessTaken(symlink(target, path))
  await sync(dirname(path))
}

async function unlessTaken(naming: Promise<void>): Promise<void> {
  try {
    await naming
  } catch (error) {
    if (!hasCode(error, 'EEXIST', 'ENOTEMPTY')) throw error
  }
}

/** Syncs a file's content, or a folder's entries, to disk. */
export async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  await file.sync().finally(() => file.close())
}

/** Whether a path exists, even as a dangling symbolic link. */
export async function exists(path: string): Promise<boolean> {
  return (await unlessMissing(lstat(path))) !== undefined
}

/** Result of a read, or `undefined` if the file (or, under `/proc`, the process) does not exist. */
export async function unlessMissing<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  try {
    return await reading
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined
    throw error
  }
}

/** Mode of a data directory: other users, such as PostgreSQL's, can pass through it, but not list or write it. */
export const DATA_DIRECTORY_MODE = 0o711

/** Creates a folder and its missing parents with `mode`, regardless of the process's umask. */
export async function makeFolder(path: string, mode: number): Promise<void> {
  if (await exists(path)) return
  await makeFolder(dirname(path), mode)
  await unlessTaken(mkdir(path, { mode }))
  await chmod(path, mode)
  await sync(dirname(path))
}
