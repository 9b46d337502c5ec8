import { createHmac, hkdfSync } from 'node:crypto'
import { secretsEqual, sha256 } from '../platform/crypto.ts'
import type { EncryptionKeys } from '../platform/sealing.ts'
import type { Position } from './chain.ts'

/** Signed heads of the trail: with a key that the database never sees, so that its owner cannot make one. Pure. */

/** Signs heads. */
export interface AnchorKey {
  /** Tells keys apart, and nothing more. */
  readonly id: string
  sign(anchored: Anchored): Buffer
}

/** What is signed. */
export interface Anchored extends Position {
  /** When, epoch milliseconds. */
  readonly at: number
}

/** An anchor as it is kept. */
export interface Anchor extends Anchored {
  readonly keyId: string
  readonly mac: Buffer
}

/** Derives the key from `PIXGATE_ENCRYPTION_KEY`, of which it says nothing. @source rules#audit.3 */
export function anchorKey(encryptionKey: string): AnchorKey {
  const key = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'pixgate audit anchor', 32))
  return {
    id: sha256(key).toString('base64url').slice(0, 16),
    sign: ({ seq, hash, at }) => {
      const numbers = Buffer.alloc(16)
      numbers.writeBigInt64BE(seq)
      numbers.writeBigInt64BE(BigInt(at), 8)
      return createHmac('sha256', key).update(numbers).update(hash).digest()
    },
  }
}

/** The key that signs, first, and the one whose anchors count besides while it is being replaced. @source rules#audit.3 */
export function anchorKeys({ current, previous }: EncryptionKeys): readonly [AnchorKey, ...AnchorKey[]] {
  return [anchorKey(current), ...(previous === undefined ? [] : [anchorKey(previous)])]
}

/** Whether one of the keys made it; `undefined` where none of them has its id, so that nobody can say. */
export function isGenuine(anchor: Anchor, keys: readonly AnchorKey[]): boolean | undefined {
  const key = keys.find(({ id }) => id === anchor.keyId)
  return key && secretsEqual(key.sign(anchor), anchor.mac)
}
