import { createCipheriv, createHmac, randomBytes } from 'node:crypto'

/** Seals as the version before did: nonce, tag, ciphertext; bound to nothing. */
export function sealedBefore(encryptionKey: string, plain: Uint8Array): Buffer {
  const key = createHmac('sha256', encryptionKey).update('pixgate sealing key').digest()
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext])
}
