import type { Bank } from '../bank.ts'
import { locationOfCharge } from '../locations.ts'
import type { Charge } from '../operations.ts'

/** The bank as API Pix shows it. */
export interface Face {
  readonly bank: Bank
  /** The Pix keys of the account, of which the first is meant where none is named. */
  readonly keys: readonly string[]
}

/** The charge of a txid: also one of the partner protocol, whose txid the bank made up. */
export function chargeOf({ book }: Bank, txid: string): Charge | undefined {
  return book.chargeAt(locationOfCharge(txid))
}
