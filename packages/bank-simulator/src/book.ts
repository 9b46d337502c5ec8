import { join } from 'node:path'
import type { BankEvent } from './events.ts'
import type { Fact } from './facts.ts'
import { Journal } from './journal.ts'
import type { Notice } from './notices.ts'
import { Records } from './records.ts'

/** The bank's own account of what happened: facts on the disk, and the state that follows from them in memory. */
export class Book extends Records {
  readonly #journal: Journal
  #listener: ((event: BankEvent) => void) | undefined
  #onNotice: ((notice: Notice) => void) | undefined

  private constructor(journal: Journal) {
    super()
    this.#journal = journal
  }

  /**
   * Opens the book kept in a directory, or begins one there.
   * @throws Error where the directory cannot be used or a line of the book cannot be read
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

  /** Books a fact. It shows at once, but nobody may be told before {@link durable} has resolved. */
  record(fact: Fact): void {
    this.#journal.append(JSON.stringify(fact))
    this.apply(fact)
  }

  /** Resolves when all that was booked so far would survive the death of the process. */
  durable(): Promise<void> {
    return this.#journal.flushed()
  }

  /** Sees to it that what was booked so far survives before long: for what nobody waits to be told. */
  durableSoon(): void {
    this.#journal.flushSoon()
  }

  /** Hands over every event the service has not taken yet: those of the past now, and each new one when it is booked. */
  onEvent(listener: (event: BankEvent) => void): void {
    this.#listener = listener
    for (const event of this.events.values()) if (event.deliveredAt === undefined) listener(event)
  }

  /** The same of what the addresses of webhooks are to be told. */
  onNotice(listener: (notice: Notice) => void): void {
    this.#onNotice = listener
    for (const notice of this.notices.all.values()) if (!notice.isDelivered) listener(notice)
  }

  /** Makes everything durable and closes the file; nothing can be booked afterwards. */
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
