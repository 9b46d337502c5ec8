import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** File modes: books contain names and documents, which are personal data. */
const OWNER_ONLY = 0o600
const OWNER_ONLY_FOLDER = 0o700

/** Minimum time between the starts of two writes, because a write and a sync cost more than the lines in them. */
const WRITE_INTERVAL_MS = 2

/** Maximum delay before the write of lines that no caller waits for. */
const FLUSH_SOON_MS = 50

/**
 * An append-only file of lines with group commit: while one group is written and synced, the next one accumulates. Many
 * concurrent callers share few syncs, and a single caller does not wait for others.
 */
export class Journal {
  readonly #file: FileHandle
  #pending: string[] = []
  #nextWrite: Promise<void> | undefined
  #writing: Promise<void> = Promise.resolve()
  /** Start of the last write, by the monotonic clock. */
  #lastWriteAt = Number.NEGATIVE_INFINITY
  #flushTimer: NodeJS.Timeout | undefined

  private constructor(file: FileHandle) {
    this.#file = file
  }

  /**
   * Opens and reads the file. Creates it and its directory if they are missing. Truncates an incomplete last line: the
   * process died while writing it, so it was never acknowledged.
   */
  static async open(path: string): Promise<{ journal: Journal; lines: Iterable<string> }> {
    await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER })
    const file = await open(path, 'a+', OWNER_ONLY)
    const bytes = await file.readFile()
    const end = bytes.lastIndexOf('\n') + 1
    if (end < bytes.length) await file.truncate(end)
    return { journal: new Journal(file), lines: linesOf(bytes.subarray(0, end)) }
  }

  /** Appends a line. It is on disk when a later {@link flushed} resolves. */
  append(line: string): void {
    this.#pending.push(`${line}\n`)
  }

  /**
   * Resolves when everything appended so far is on disk.
   * @throws Error after a failed write, and from then on always, because later lines would follow a gap
   */
  flushed(): Promise<void> {
    if (this.#pending.length === 0) return this.#writing
    this.#nextWrite ??= this.#writing.then(async () => {
      const waitMs = this.#lastWriteAt + WRITE_INTERVAL_MS - performance.now()
      if (waitMs > 0) await delay(waitMs)
      this.#lastWriteAt = performance.now()
      this.#nextWrite = undefined
      this.#writing = this.#write(this.#pending.splice(0).join(''))
      return this.#writing
    })
    return this.#nextWrite
  }

  /** Schedules a flush of the lines appended so far: with the next group, or after {@link FLUSH_SOON_MS} at the latest. */
  flushSoon(): void {
    this.#flushTimer ??= setTimeout(() => {
      this.#flushTimer = undefined
      // Callers that wait for flushed() get the error.
      this.flushed().catch(() => undefined)
    }, FLUSH_SOON_MS)
  }

  /** Writes the remaining lines and closes the file. */
  async close(): Promise<void> {
    clearTimeout(this.#flushTimer)
    await this.flushed().finally(() => this.#file.close())
  }

  async #write(text: string): Promise<void> {
    await this.#file.appendFile(text)
    await this.#file.datasync()
  }
}

/** Decodes line by line, because a long book exceeds the maximum length of a string. */
function* linesOf(bytes: Buffer): Iterable<string> {
  let start = 0
  for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', start)) {
    yield bytes.toString('utf8', start, end)
    start = end + 1
  }
}
