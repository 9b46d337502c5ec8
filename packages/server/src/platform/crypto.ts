import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

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

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Seals bytes with AES-256-GCM: nonce, tag, ciphertext. The key is derived from the configured secret, so that any text
 * of enough entropy will do.
 */
export function seal(secret: string, plain: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', sealingKey(secret), nonce)
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext])
}

/**
 * Opens what {@link seal} made.
 * @throws Error where the secret is another one or the bytes were changed
 */
export function unseal(secret: string, sealed: Uint8Array): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  // Without its length a tag that was cut short would be compared as far as it goes.
  const decipher = createDecipheriv('aes-256-gcm', sealingKey(secret), nonce, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}

function sealingKey(secret: string): Buffer {
  return hmacSha256(secret, Buffer.from('pixgate sealing key'))
}
