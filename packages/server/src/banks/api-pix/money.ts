/** Amounts as API Pix writes them: reais with two decimals, `\d{1,10}\.\d{2}`. Exact both ways. */

/** How an amount is written, as a pattern of JSON Schema. */
export const AMOUNT = '^\\d{1,10}\\.\\d{2}$'

/** How a balance is written: below zero too, and beyond what one payment can be; every one counts exactly in centavos. */
export const BALANCE = '^-?\\d{1,13}\\.\\d{2}$'

/** How a part of a balance is written: never below zero. */
export const BALANCE_FROM_ZERO = '^\\d{1,13}\\.\\d{2}$'

/** @param cents below R$ 10 billion, as every amount of ours */
export function amountOf(cents: bigint): string {
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
}

/** @param amount of the pattern {@link AMOUNT} or {@link BALANCE} */
export function centsOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''))
}
