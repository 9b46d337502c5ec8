declare const unit: unique symbol

/** An amount in centavos: R$ 150,00 is `cents(150_00)`. A plain number is none, so reais are never sent as centavos. @source rules#sdk.2 */
export type Cents = number & { readonly [unit]: 'centavos' }

/**
 * Marks a number as an amount in centavos.
 * @throws RangeError unless it is a safe integer
 */
export function cents(amount: number): Cents {
  if (!Number.isSafeInteger(amount)) throw new RangeError(`cents() takes an integer number of centavos, not ${amount}`)
  return amount as Cents
}

/**
 * The decimal that the API takes. Exact for every amount that it accepts.
 * @throws RangeError unless it is a safe integer, which callers without types may pass
 */
export function reais<Amount extends Cents | undefined>(amount: Amount): number | Extract<Amount, undefined> {
  return amount === undefined ? (amount as Extract<Amount, undefined>) : cents(amount) / 100
}
