import type { Bank } from '../bank.ts'
import { locationOfCharge } from '../locations.ts'
import type { Charge } from '../operations.ts'

/** The account that API Pix serves, and its bank. */
export interface Account {
  readonly bank: Bank
  /** Pix keys of the account; the first is the default. */
  readonly keys: readonly string[]
}

/** Charge with this txid, including charges of the partner protocol, whose txid the bank generated. */
export function chargeOf({ book }: Bank, txid: string): Charge | undefined {
  return book.chargeAt(locationOfCharge(txid))
}
