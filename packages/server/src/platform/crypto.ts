import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** SHA-256 of text or bytes. */
export function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest()
}

/** HMAC-SHA-256 of bytes. */
export function hmacSha256(secret: string, data: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(data).digest()
}

/** Compares two secrets in constant time, whatever their lengths. */
export function secretsEqual(one: string | Uint8Array, other: string | Uint8Array): boolean {
  return timingSafeEqual(sha256(one), sha256(other))
}
