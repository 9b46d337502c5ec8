import { sha256Hex } from './crypto.ts'

/**
 * The id under which the bank knows an operation: `txid`, `idEnvio`, the id of a return. It is derived and not drawn, so that a
 * database that was restored repeats an order under the same id, and the bank does not carry it out twice.
 * @source rules#ids.4
 */

/** The client's reference of an order. That of a refund belongs to its payment. */
export type OrderName =
  | { readonly kind: 'cash_in' | 'cash_out'; readonly externalId: string }
  | { readonly kind: 'refund_in'; readonly endToEndId: string | null; readonly externalId: string }

/** Of 16 bytes. */
const HEX_DIGITS = 32

/**
 * Derives the order id: the first 16 bytes of SHA-256 over a JSON array, in 32 lower-case hex digits.
 * @param installation the id of this installation, a row of the database
 */
export function orderId(installation: string, order: OrderName): string {
  const payment = order.kind === 'refund_in' ? [order.endToEndId] : []
  const name = JSON.stringify([installation, order.kind, ...payment, order.externalId])
  return sha256Hex(name).slice(0, HEX_DIGITS)
}

/**
 * The order id of a refund of money in suspense. No name of a merchant's refund has as many parts.
 * @param number which of the refunds of this payment that operators ordered, from 1
 */
export function orderIdToPayer(installation: string, endToEndId: string, number: number): string {
  const name = JSON.stringify([installation, 'refund_in', endToEndId, 'operator', number])
  return sha256Hex(name).slice(0, HEX_DIGITS)
}

/** The order id of a return that the bank made by itself: its own id, as it has no order. */
export function ownOrderId(id: string): string {
  return id.replaceAll('-', '')
}

const ORDER_ID = /^[0-9a-f]{32}$/

/** Whether a text has the form of an order id. */
export function isOrderId(text: string): boolean {
  return ORDER_ID.test(text)
}
