import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'

/** Tokens of payment pages: 128 bits that say nothing about the charge, and that find it by its primary key. */

export interface PageTokens {
  of(id: string): string
  /** @returns `undefined`: no token has this form. A token that was never given out yields an id that does not exist. */
  idOf(token: string): string | undefined
}

/**
 * A token is the charge's id, encrypted as one block of AES-256: a random permutation of 128 bits. Nothing is stored, so it
 * needs no index. The key is derived from the id of the installation, which never leaves the database: a rotation of
 * other keys changes no address, and a restored database has the same ones.
 * @source rules#payment-page.3, ADR-0064
 */
export function createPageTokens(installation: string): PageTokens {
  const key = Buffer.from(hkdfSync('sha256', installation, 'pixgate payment page', 'token', 32))
  const crypt = (cipher: ReturnType<typeof createCipheriv>, block: Buffer) =>
    Buffer.concat([cipher.setAutoPadding(false).update(block), cipher.final()])
  return {
    of: (id) =>
      crypt(createCipheriv('aes-256-ecb', key, null), Buffer.from(id.replaceAll('-', ''), 'hex')).toString('base64url'),
    idOf: (token) => {
      const block = Buffer.from(token, 'base64url')
      if (block.length !== BLOCK_BYTES || block.toString('base64url') !== token) return undefined
      const hex = crypt(createDecipheriv('aes-256-ecb', key, null), block).toString('hex')
      return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
    },
  }
}

const BLOCK_BYTES = 16
