import { mkdirSync } from 'node:fs'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * An append-only file of JSON lines. What was appended is on the disk before anybody is told; all that wait at the same
 * time share one fsync.
 */
export interface Journal<Entry> {
  /** What the file held when it was opened, oldest first. */
  readonly entries: readonly Entry[]
  /** Appends entries together; resolves when they are on the disk. */
  append(entries: readonly Entry[]): Promise<void>
  close(): Promise<void>
}

/** Opens `<directory>/book.jsonl`. A line that was cut off by a crash was never answered for, and is dropped. */
export async function openJournal<Entry>(directory: string): Promise<Journal<Entry>> {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'book.jsonl')
  const file = await open(path, 'a', 0o600)
  const text = await readFile(path, 'utf8')
  const wholeText = text.slice(0, text.lastIndexOf('\n') + 1)
  if (wholeText.length < text.length) await file.truncate(Buffer.byteLength(wholeText))
  const entries = wholeText.split('\n').filter((line) => line !== '')
  return { entries: entries.map((line) => JSON.parse(line) as Entry), ...appender(file) }
}

function appender<Entry>(file: FileHandle): Pick<Journal<Entry>, 'append' | 'close'> {
  let waiting = ''
  let flushing: Promise<void> | undefined

  /** Takes everything that waits by the time the flush before it has ended. */
  async function flush(): Promise<void> {
    const lines = waiting
    waiting = ''
    await file.appendFile(lines)
    await file.datasync()
  }

  let next: Promise<void> | undefined
  function flushed(): Promise<void> {
    next ??= (flushing ?? Promise.resolve()).then(() => {
      next = undefined
      flushing = flush()
      return flushing
    })
    return next
  }

  return {
    append: (entries) => {
      for (const entry of entries) waiting += `${JSON.stringify(entry)}\n`
      return flushed()
    },
    close: async () => {
      await flushed()
      await file.close()
    },
  }
}
