/**
 * Values as banks write them. Null is absent, an amount may lack its decimals or be a number, an instant may be spelled in
 * ways that RFC 3339 does not have: tolerant in spelling, strict in meaning. Pure.
 */

/** Nothing that is read of a bank lies deeper; what does is left as it is, so that no nesting exhausts the stack. */
export const DEPTH_MAX = 32

/** The same JSON without its nulls: null is absent everywhere. */
export function withoutNulls(json: unknown, depth = 0): unknown {
  if (typeof json !== 'object' || json === null || depth === DEPTH_MAX) return json
  const inner = (value: unknown) => withoutNulls(value, depth + 1)
  if (Array.isArray(json)) return json.filter((item) => item !== null).map(inner)
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]) => (value === null ? [] : [[name, inner(value)]])),
  )
}

/** The items of a list, each to be judged alone; one that stands there without a list around it is an item. */
export function itemsOf(list: unknown): readonly unknown[] {
  if (list === undefined) return []
  return Array.isArray(list) ? list : [list]
}

/**
 * The text of a member without meaning for money; a value of another type counts as absent, so that a payment is read whatever
 * the bank writes about its payer.
 * @param names the members that lead to it
 */
export function textIn(json: unknown, ...names: readonly string[]): string | undefined {
  const found = memberOf(json, names)
  return typeof found === 'string' ? found : undefined
}

const COUNT = /^\d{1,9}$/

/** A whole number, also one that is spelled as text; `undefined`: none stands there. @param names the members that lead to it */
export function countIn(json: unknown, ...names: readonly string[]): number | undefined {
  const found = memberOf(json, names)
  return (typeof found === 'number' || typeof found === 'string') && COUNT.test(String(found))
    ? Number(found)
    : undefined
}

function memberOf(json: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (holder, name) =>
      typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name)
        ? Reflect.get(holder, name)
        : undefined,
    json,
  )
}

/** Visible characters of ASCII: the standard's ids have fewer. Another text could be none that a database keeps and finds again. */
const ID = /^[!-~]{1,128}$/

/** Whether a text can be the id of a movement, or name what it was for. */
export function isId(text: string | undefined): text is string {
  return text !== undefined && ID.test(text)
}

/** Reais with up to two decimals, as a pattern of JSON Schema; the standard has `\d{1,10}\.\d{2}`. */
export const AMOUNT = '^\\d{1,10}(?:\\.\\d{1,2})?$'

/** The same of money that moved: nothing is no movement. */
export const AMOUNT_MOVED = '^(?=[0.]*[1-9])\\d{1,10}(?:\\.\\d{1,2})?$'

/** A balance: below zero too, and beyond what one payment can be; every one counts exactly in centavos. */
export const BALANCE = '^-?\\d{1,13}(?:\\.\\d{1,2})?$'

const PARTS = /^(-?)(\d+)(?:\.(\d{1,2}))?$/

/**
 * Whether a number of JSON is written with at most two decimals: the shortest digits that mean the same number are those
 * that the bank wrote, as a double holds 15 of them exactly.
 */
export function isReais(amount: number): boolean {
  return Math.abs(amount) < 1e13 && PARTS.test(String(amount))
}

/** @param amount reais, by {@link AMOUNT}, {@link BALANCE} or {@link isReais} */
export function centsOf(amount: string | number): bigint {
  const [, sign, reais = '', decimals = ''] = PARTS.exec(String(amount)) ?? []
  const cents = BigInt(reais + decimals.padEnd(2, '0'))
  return sign ? -cents : cents
}

/** Reais with two decimals, as the standard has them. @param cents below R$ 10 billion, as every amount of ours */
export function amountOf(cents: bigint): string {
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
}

/** RFC 3339, with `t`, `z` or a space, and the offsets `+0000` and `+00` that it does not have. */
const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:[.,](\d+))?(?:[Zz]|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)$/

/** Whether it names an instant. */
export function isInstant(text: string): boolean {
  return !Number.isNaN(instantOf(text))
}

/** No bank means these, but for a default of its language: years that not everything here can write. */
const EARLIEST = Date.UTC(1970, 0, 2)
const LATEST = Date.UTC(9999, 0)

/** @returns epoch milliseconds, what is finer cut off; second 60 is the next minute's first; NaN: it names none */
export function instantOf(text: string): number {
  const parts = INSTANT.exec(text)
  if (!parts) return Number.NaN
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const [fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = parts.slice(7)
  const midnight = new Date(Date.UTC(year, month - 1, day))
  // A day that its month does not have, and years that a date counts from 1900.
  if (midnight.getUTCFullYear() !== year || midnight.getUTCMonth() !== month - 1) return Number.NaN
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1)
  const time = (hour * 60 + minute - offset) * 60_000 + second * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
  const instant = midnight.getTime() + time
  return instant >= EARLIEST && instant < LATEST ? instant : Number.NaN
}
