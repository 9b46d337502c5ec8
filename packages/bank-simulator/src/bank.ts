import type { Switchboard } from './behavior.ts'
import type { Book } from './book.ts'
import type { Charges } from './charges.ts'
import type { Clock } from './clock.ts'
import type { EventSender } from './sender.ts'

/** The bank behind its HTTP. */
export interface Bank {
  readonly book: Book
  readonly charges: Charges
  readonly switchboard: Switchboard
  readonly sender: EventSender
  readonly clock: Clock
}
