import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Books hold names and documents. */
const OWNER_ONLY = 0o600
const OWNER_ONLY_FOLDER = 0o700

/** Groups begin at least so far apart: a write and a sync cost more than the lines in them. */
const APART_MS = 2

/** What nobody waits for begins to be written so long after it, at the latest. */
const UNWAITED_MS = 50

/**
 * A file of lines that only grows. Lines reach the disk in groups: while one group is written and synced the next one
 * gathers, so that a thousand callers wait for few syncs and one that comes alone for nobody.
 */
export class Journal {
  readonly #file: FileHandle
  #gathering: string[] = []
  #gathered: Promise<void> | undefined
  #writing: Promise<void> = Promise.resolve()
  /** When the last group began, by the monotonic clock. */
  #begunAt = Number.NEGATIVE_INFINITY
  #soon: NodeJS.Timeout | undefined

  private constructor(file: FileHandle) {
    this.#file = file
  }

  /**
   * Opens the file and reads it, making it and its directory where they are missing. A last line without its end was
   * never promised to anyone: the process died in the middle of it, and it is cut off.
   */
  static async open(path: string): Promise<{ journal: Journal; lines: Iterable<string> }> {
    await mkdir(dirname(path), { recursive: true, mode: OWNER_ONLY_FOLDER })
    const file = await open(path, 'a+', OWNER_ONLY)
    const bytes = await file.readFile()
    const end = bytes.lastIndexOf('\n') + 1
    if (end < bytes.length) await file.truncate(end)
    return { journal: new Journal(file), lines: linesOf(bytes.subarray(0, end)) }
  }

  /** Adds a line, which is on the disk when a later {@link flushed} resolves. */
  append(line: string): void {
    this.#gathering.push(`${line}\n`)
  }

  /**
   * Resolves when everything appended so far is on the disk.
   * @throws Error where the disk refused it; from then on always, because what follows would stand after a gap
   */
  flushed(): Promise<void> {
    if (this.#gathering.length === 0) return this.#writing
    this.#gathered ??= this.#writing.then(async () => {
      const waitMs = this.#begunAt + APART_MS - performance.now()
      if (waitMs > 0) await delay(waitMs)
      this.#begunAt = performance.now()
      this.#gathered = undefined
      this.#writing = this.#write(this.#gathering.splice(0).join(''))
      return this.#writing
    })
    return this.#gathered
  }

  /** Sees to it that what was appended so far reaches the disk: in the next group, or in one of its own in a moment. */
  flushSoon(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined
      // Whoever waits for something is told that the disk refuses it.
      this.flushed().catch(() => undefined)
    }, UNWAITED_MS)
  }

  /** Writes what is left and closes the file. */
  async close(): Promise<void> {
    clearTimeout(this.#soon)
    await this.flushed().finally(() => this.#file.close())
  }

  async #write(text: string): Promise<void> {
    await this.#file.appendFile(text)
    await this.#file.datasync()
  }
}

/** Line by line: a long book is larger than the longest string. */
function* linesOf(bytes: Buffer): Iterable<string> {
  let start = 0
  for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', start)) {
    yield bytes.toString('utf8', start, end)
    start = end + 1
  }
}
