import { crc32 } from 'node:zlib'

/**
 * The text of a key or token: prefix, secret, checksum. The checksum tells junk from keys without asking a database, and a
 * leaked key from a lookalike.
 * @source rules#api-keys.2, rules#operators.2
 */

/** What is shown opens one mode only. */
export type Mode = 'sandbox' | 'production'

/** How many random bytes make a key. */
export const SECRET_BYTES = 32

const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const DISPLAY_LENGTH = 8

/** One kind of keys. */
export interface TokenKind {
  /** Of each key; nothing longer or shorter is one. */
  readonly length: number
  /**
   * Writes a secret as a key.
   * @param secret {@link SECRET_BYTES} random bytes, every one of which counts: 43 base62 characters hold 256 bits
   */
  format(mode: Mode, secret: Buffer): string
  /** The mode of a key, or `undefined` where the text is none of this kind. A key may be well formed and yet unknown. */
  modeOf(text: string): Mode | undefined
  /** What may be kept and shown of a key, to tell it from others. @source rules#api-keys.3 */
  displayOf(key: string): string
}

/**
 * Makes a kind.
 * @param pattern of the whole text, prefix included
 * @param prefixes both as long
 */
export function tokenKind(pattern: string, prefixes: Readonly<Record<Mode, string>>): TokenKind {
  const shape = new RegExp(pattern)
  return {
    length: prefixes.sandbox.length + SECRET_LENGTH + CHECKSUM_LENGTH,
    format: (mode, secret) => {
      const unchecked = prefixes[mode] + base62(BigInt(`0x${secret.toString('hex')}`), SECRET_LENGTH)
      return unchecked + checksum(unchecked)
    },
    modeOf: (text) => {
      if (!shape.test(text) || checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH))
        return undefined
      return text.startsWith(prefixes.sandbox) ? 'sandbox' : 'production'
    },
    displayOf: (key) => key.slice(prefixes.sandbox.length).slice(0, DISPLAY_LENGTH),
  }
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = 62n

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH)
}

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= BASE) text = ALPHABET.charAt(Number(rest % BASE)) + text
  return text.padStart(length, '0')
}
