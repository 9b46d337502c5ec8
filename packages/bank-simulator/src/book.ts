import { join } from 'node:path'
import type { BankEvent } from './events.ts'
import type { Fact } from './facts.ts'
import { Journal } from './journal.ts'
import type { Notice } from './notices.ts'
import { Records } from './records.ts'

/** The bank's book: an append-only journal of facts on disk, and the state derived from them in memory. */
export class Book extends Records {
  readonly #journal: Journal
  #listener: ((event: BankEvent) => void) | undefined
  #onNotice: ((notice: Notice) => void) | undefined

  private constructor(journal: Journal) {
    super()
    this.#journal = journal
  }

  /**
   * Opens the book in a directory, or creates it.
   * @throws Error if the directory cannot be used or a line of the book cannot be read
   */
  static async open(directory: string): Promise<Book> {
    const { journal, lines } = await Journal.open(join(directory, 'book.jsonl'))
    const book = new Book(journal)
    try {
      for (const line of lines) book.apply(JSON.parse(line) as Fact)
    } catch (error) {
      await journal.close()
      throw error
    }
    return book
  }

  /** Appends a fact to the book. It is visible at once, but must not be reported to anyone before {@link durable} resolves. */
  record(fact: Fact): void {
    this.#journal.append(JSON.stringify(fact))
    this.apply(fact)
  }

  /** Resolves when all facts recorded so far are on disk. */
  durable(): Promise<void> {
    return this.#journal.flushed()
  }

  /** Schedules a flush of the facts recorded so far, for facts that no caller waits for. */
  durableSoon(): void {
    this.#journal.flushSoon()
  }

  /** Sets the listener for undelivered events: called at once for existing ones, then for each new one. */
  onEvent(listener: (event: BankEvent) => void): void {
    this.#listener = listener
    for (const event of this.events.values()) if (event.deliveredAt === undefined) listener(event)
  }

  /** Sets the listener for undelivered notices, in the same way. */
  onNotice(listener: (notice: Notice) => void): void {
    this.#onNotice = listener
    for (const notice of this.notices.all.values()) if (!notice.isDelivered) listener(notice)
  }

  /** Flushes the book and closes its file. Nothing can be recorded afterwards. */
  close(): Promise<void> {
    return this.#journal.close()
  }

  protected override emit(event: BankEvent): void {
    super.emit(event)
    this.#listener?.(event)
  }

  protected override notify(notice: Notice): void {
    super.notify(notice)
    if (this.notices.all.has(notice.id)) this.#onNotice?.(notice)
  }
}
