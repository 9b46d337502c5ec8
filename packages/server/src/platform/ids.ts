import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.ts'
import { sha256Hex } from './crypto.ts'

/** Source of identifiers and randomness; injected, so that tests are repeatable. */
export interface Ids {
  /** A UUIDv7 of now: unique and sorted by creation, even within one millisecond. */
  uuid(): string
}

/**
 * Random hex digits of one UUID, and bytes of one draw from the operating system. A draw per UUID took a tenth of the
 * edge's time.
 */
const RANDOM_DIGITS = 16
const DRAW_BYTES = 4_096

/** Twelve-bit sequence within a millisecond; further ids use the next millisecond. */
const SEQUENCE_MAX = 0xfff

/**
 * Identifiers from the operating system's randomness, each byte used once, behind a sequence that orders ids of one
 * millisecond.
 * @source rules#ids.1
 */
export function createIds(clock: Clock): Ids {
  let drawn = ''
  let used = 0
  let latest = 0
  let sequence = 0

  function advance(): void {
    const now = clock.now()
    if (now <= latest && sequence < SEQUENCE_MAX) {
      sequence += 1
    } else {
      latest = Math.max(now, latest + 1)
      sequence = 0
    }
  }

  return {
    uuid: () => {
      if (used === drawn.length) {
        drawn = randomBytes(DRAW_BYTES).toString('hex')
        used = 0
      }
      const random = drawn.slice(used, used + RANDOM_DIGITS)
      used += RANDOM_DIGITS
      advance()
      return uuidV7(latest, sequence, random)
    },
  }
}

/**
 * Builds a UUIDv7 (RFC 9562, method 1) from text alone: by way of bytes it takes three times as long.
 * @param nowMs epoch milliseconds
 * @param sequence twelve-bit sequence within the millisecond
 * @param random sixteen hex digits
 */
export function uuidV7(nowMs: number, sequence: number, random: string): string {
  const time = nowMs.toString(16).padStart(12, '0')
  const version = (0x7000 | sequence).toString(16)
  const variant = VARIANTS.charAt(Number.parseInt(random.charAt(0), 16))
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}${random.slice(1, 4)}-${random.slice(4)}`
}

/** A random hex digit with its upper bits replaced by the variant `10`. */
const VARIANTS = '89ab89ab89ab89ab'

/** Formats sixteen bytes as a UUID, setting version and variant bits. */
export function uuidText(bytes: Buffer, version: number): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4)
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Guards `uuid` columns: returns whether a text is a UUID. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}

/**
 * The id under which the bank knows an operation: `txid`, `idEnvio`, the id of a return. Derived, not random: a
 * restored database repeats an order under the same id, and the bank does not execute it twice.
 * @source rules#ids.4
 */

/** The client's reference of an order. A refund's reference belongs to its payment. */
export type OrderName =
  | { readonly kind: 'cash_in' | 'cash_out'; readonly externalId: string }
  | { readonly kind: 'refund_in'; readonly endToEndId: string | null; readonly externalId: string }

const HEX_DIGITS = 32

/**
 * Derives the order id: the first 16 bytes of SHA-256 over a JSON array, in 32 lower-case hex digits.
 * @param installation id of this installation, a row of the database
 */
export function orderId(installation: string, order: OrderName): string {
  const payment = order.kind === 'refund_in' ? [order.endToEndId] : []
  const name = JSON.stringify([installation, order.kind, ...payment, order.externalId])
  return sha256Hex(name).slice(0, HEX_DIGITS)
}

/**
 * The order id of a refund of money in suspense. Its name has more parts than that of any merchant's refund.
 * @param holder kind of the operation that has the payment
 * @param number counts the operators' refunds of this payment from this holder, from 1
 */
export function orderIdToPayer(installation: string, endToEndId: string, holder: string, number: number): string {
  const name = JSON.stringify([installation, 'refund_in', endToEndId, 'operator', holder, number])
  return sha256Hex(name).slice(0, HEX_DIGITS)
}

/** The order id of a return made by the bank itself: the bank's id, since there is no order. */
export function ownOrderId(id: string): string {
  return id.replaceAll('-', '')
}

const ORDER_ID = /^[0-9a-f]{32}$/

export function isOrderId(text: string): boolean {
  return ORDER_ID.test(text)
}
