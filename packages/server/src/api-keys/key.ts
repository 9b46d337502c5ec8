import { crc32 } from 'node:zlib'
import { API_KEY_PATTERN } from '@pixgate/spec'

/**
 * The text of an API key: prefix, secret, checksum. The checksum tells junk from keys without asking a database, and a
 * leaked key from a lookalike.
 * @source rules#api-keys.2
 */

/** A key works in one mode only. */
export type ApiKeyMode = 'sandbox' | 'production'

const PREFIXES: Readonly<Record<ApiKeyMode, string>> = { sandbox: 'pix_test_', production: 'pix_live_' }
const PREFIX_LENGTH = 9
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const DISPLAY_LENGTH = 8

/** How many random bytes make a key. */
export const SECRET_BYTES = 32

/**
 * Writes a secret as a key.
 * @param secret {@link SECRET_BYTES} random bytes, every one of which counts: 43 base62 characters hold 256 bits
 */
export function formatKey(mode: ApiKeyMode, secret: Buffer): string {
  const unchecked = PREFIXES[mode] + base62(BigInt(`0x${secret.toString('hex')}`), SECRET_LENGTH)
  return unchecked + checksum(unchecked)
}

/** The mode of a key, or `undefined` where the text is none. A key may be well formed and yet unknown. */
export function modeOf(text: string): ApiKeyMode | undefined {
  if (!KEY.test(text) || checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH)) return undefined
  return text.startsWith(PREFIXES.sandbox) ? 'sandbox' : 'production'
}

/** What may be kept and shown of a key, to tell it from others. @source rules#api-keys.3 */
export function displayOf(key: string): string {
  return key.slice(PREFIX_LENGTH, PREFIX_LENGTH + DISPLAY_LENGTH)
}

const KEY = new RegExp(API_KEY_PATTERN)
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
