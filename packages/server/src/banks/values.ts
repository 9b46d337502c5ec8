import { HIDDEN_CHARACTER } from '@pixgate/spec'
import { Ajv, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { formats } from '../platform/http/request.ts'
import type { Party } from './port.ts'

/**
 * Reads values as banks write them, tolerant in spelling and strict in meaning: null is absent, an amount may lack
 * decimals or be a number, an instant may deviate from RFC 3339. Pure.
 */

/**
 * Maximum depth, below everything that is read. Deeper JSON is left unchanged, so that no nesting exhausts the stack.
 */
export const DEPTH_MAX = 32

export function withoutNulls(json: unknown, depth = 0): unknown {
  if (typeof json !== 'object' || json === null || depth === DEPTH_MAX) return json
  const inner = (value: unknown) => withoutNulls(value, depth + 1)
  if (Array.isArray(json)) return json.filter((item) => item !== null).map(inner)
  return Object.fromEntries(
    Object.entries(json).flatMap(([name, value]) => (value === null ? [] : [[name, inner(value)]])),
  )
}

/** Items of a list; a single item counts as a list of one. */
export function itemsOf(list: unknown): readonly unknown[] {
  if (list === undefined) return []
  return Array.isArray(list) ? list : [list]
}

/**
 * Text of a member that does not affect money. Other types count as absent, so that they block no payment.
 * @param names path to the member
 */
export function textIn(json: unknown, ...names: readonly string[]): string | undefined {
  const found = memberOf(json, names)
  return typeof found === 'string' ? found : undefined
}

const COUNT = /^\d{1,9}$/

/** An integer, or its text. @param names path to the member */
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

/** Visible ASCII: a superset of the standard's ids that a database can store and find. */
const ID = /^[!-~]{1,128}$/

export function isId(text: string | undefined): text is string {
  return text !== undefined && ID.test(text)
}

/** Reais with up to two decimals, as a pattern of JSON Schema. The standard has `\d{1,10}\.\d{2}`. */
export const AMOUNT = '^\\d{1,10}(?:\\.\\d{1,2})?$'

export const AMOUNT_MOVED = '^(?=[0.]*[1-9])\\d{1,10}(?:\\.\\d{1,2})?$'

/** A balance, which may be negative and larger than a payment. */
export const BALANCE = '^-?\\d{1,13}(?:\\.\\d{1,2})?$'

const PARTS = /^(-?)(\d+)(?:\.(\d{1,2}))?$/

/**
 * Whether a number was written with at most two decimals: a double holds 15 digits exactly, so its shortest form equals
 * the bank's text.
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

/** Reais with two decimals. @param cents below R$ 10 billion */
export function amountOf(cents: bigint): string {
  return `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`
}

/** RFC 3339, plus `t`, `z` or a space, and the offsets `+0000` and `+00`. */
const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:[.,](\d+))?(?:[Zz]|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)$/

function isInstant(text: string): boolean {
  return !Number.isNaN(instantOf(text))
}

/** Values outside are defaults of programming languages, with years that not all formats support. */
const EARLIEST = Date.UTC(1970, 0, 2)
const LATEST = Date.UTC(9999, 0)

/** @returns epoch milliseconds, truncated; second 60 is the first of the next minute; NaN for an invalid instant */
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
  // Refuses days beyond the month, and years below 100, which Date counts from 1900.
  if (midnight.getUTCFullYear() !== year || midnight.getUTCMonth() !== month - 1) return Number.NaN
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1)
  const time = (hour * 60 + minute - offset) * 60_000 + second * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
  const instant = midnight.getTime() + time
  return instant >= EARLIEST && instant < LATEST ? instant : Number.NaN
}

const REPLACEMENT = '\ufffd'

/**
 * Replaces hidden characters in a bank's free text, one by one. Such text must not invalidate an answer about money.
 * @source rules#text.3
 */
export function visibleText(text: string): string
export function visibleText(text: string | undefined): string | undefined
export function visibleText(text: string | undefined): string | undefined {
  return text?.toWellFormed().replaceAll(HIDDEN_CHARACTER, REPLACEMENT)
}

const REASON_MAX_LENGTH = 200

/** Free text for logs and the database: visible, on one line, at most 200 characters. */
export function printable(text: string): string
export function printable(text: string | undefined): string | undefined
export function printable(text: string | undefined): string | undefined {
  return visibleText(text?.slice(0, REASON_MAX_LENGTH).replaceAll(/\p{Cc}/gu, ' '))
}

/** Counterparty of a movement. @source rules#text.3 */
export function visibleParty(party: Partial<Party> | null | undefined): Party {
  const { name, document, ispb } = party ?? {}
  return { name: visibleText(name), document: visibleText(document), ispb: visibleText(ispb) }
}

const ajv = new Ajv({
  formats: { ...formats, 'bank-instant': isInstant, 'bank-reais': { type: 'number', validate: isReais } },
})

export interface BodyTest<Body> {
  (json: unknown): json is Body
  fault(json: unknown): string
}

/** Creates the test for a JSON Schema. Compiled at first use: a process talks to one bank, a command often to none. */
export function bodyTest<Shape extends TSchema>(shape: Shape): BodyTest<Static<Shape>> {
  let compiled: ValidateFunction | undefined
  const validate = (json: unknown) => {
    compiled ??= ajv.compile(shape)
    return compiled(json)
  }
  const isBody = (json: unknown): json is Static<Shape> => validate(json)
  const fault = (json: unknown) => {
    validate(json)
    const { instancePath = '', params } = compiled?.errors?.[0] ?? {}
    return params?.missingProperty === undefined ? instancePath : `${instancePath}/${params.missingProperty}`
  }
  return Object.assign(isBody, { fault })
}

const SCALAR = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

const NUMBER_MAX_LENGTH = 64

/**
 * Finds values that `JSON.parse` accepts and PostgreSQL does not: half a surrogate pair, U+0000, and numbers beyond a
 * double or written out at length.
 * @param text valid JSON
 * @returns the fault without any value, or `undefined`
 * @source failure-modes#DB-45
 */
export function storageFault(text: string): string | undefined {
  for (const [scalar] of text.matchAll(SCALAR)) {
    if (!scalar.startsWith('"')) {
      if (!isStorableNumber(scalar)) return 'the event has a number that cannot be kept'
    } else if (scalar.includes('\\u') && !isStorableText(JSON.parse(scalar))) {
      return 'the event has a character that cannot be kept'
    }
  }
  return undefined
}

function isStorableNumber(number: string): boolean {
  return number.length <= NUMBER_MAX_LENGTH && !/e[+-]?\d{4}/i.test(number) && Number.isFinite(Number(number))
}

function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
