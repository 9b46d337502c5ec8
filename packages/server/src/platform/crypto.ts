import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** SHA-256 by way of hex: a Buffer made by `node:crypto` costs twice as much as everything else here. */
export function sha256(data: string | Uint8Array): Buffer {
  return Buffer.from(sha256Hex(data), 'hex')
}

export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex')
}

export function hmacSha256(secret: string, data: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(data).digest()
}

/** Compares two secrets of any length in constant time. */
export function secretsEqual(one: string | Uint8Array, other: string | Uint8Array): boolean {
  return timingSafeEqual(sha256(one), sha256(other))
}
