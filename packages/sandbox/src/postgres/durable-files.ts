import { chmod, link, lstat, mkdir, open, rename, symlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './error.ts'

/**
 * Files that are either complete and on the disk, or not there at all; and if two processes make the same one, the
 * first wins and the other goes on with it.
 */

/** Gives a finished folder its name, unless that is taken. */
export async function publishFolder(finished: string, path: string): Promise<void> {
  await unlessTaken(rename(finished, path))
  await sync(dirname(path))
}

/** Gives a finished file a second name, unless that is taken. */
export async function publishFile(finished: string, path: string): Promise<void> {
  await unlessTaken(link(finished, path))
  await sync(dirname(path))
}

/** Makes a symbolic link, unless the name is taken. */
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

/** Waits until a file's content, or a folder's list of names, is on the disk. */
export async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  await file.sync().finally(() => file.close())
}

/** Whether there is something of that name, a symbolic link to nothing included. */
export async function exists(path: string): Promise<boolean> {
  return (await unlessMissing(lstat(path))) !== undefined
}

/** What a reading call gives, or `undefined` where there is no such file (or, under `/proc`, no such process). */
export async function unlessMissing<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  try {
    return await reading
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined
    throw error
  }
}

/** Of a data directory: PostgreSQL's user passes through it where that is another one, and nobody lists or writes it. */
export const DATA_DIRECTORY_MODE = 0o711

/** Makes a folder, and those above it that are missing, with `mode` whatever the process's umask. */
export async function makeFolder(path: string, mode: number): Promise<void> {
  if (await exists(path)) return
  await makeFolder(dirname(path), mode)
  await unlessTaken(mkdir(path, { mode }))
  await chmod(path, mode)
  await sync(dirname(path))
}
