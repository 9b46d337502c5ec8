import type { Switchboard } from './behavior.ts'
import type { Book } from './book.ts'
import type { Chance } from './chance.ts'
import type { Charges } from './charges.ts'
import type { Clock } from './clock.ts'
import type { Liar } from './lies.ts'
import type { Payouts } from './payouts.ts'
import type { QrCodes } from './qr-codes.ts'
import type { Refunds } from './refunds.ts'
import type { EventSender } from './sender.ts'
import type { Settler } from './settler.ts'

/** The bank's components, shared by its HTTP servers. */
export interface Bank {
  readonly book: Book
  readonly charges: Charges
  readonly chargeSettler: Settler
  readonly qrCodes: QrCodes
  readonly payouts: Payouts
  readonly payoutSettler: Settler
  readonly refunds: Refunds
  readonly refundSettler: Settler
  readonly switchboard: Switchboard
  readonly liar: Liar
  /** `undefined` if no service is configured to receive events. */
  readonly sender: EventSender | undefined
  readonly clock: Clock
  readonly chance: Chance
}
