import { createHash, createHmac, hkdfSync } from 'node:crypto'
import type { Position } from '../audit/chain.ts'
import { secretsEqual, sha256 } from '../platform/crypto.ts'
import type { EncryptionKeys } from '../platform/sealing.ts'

/** How closes hang together, and how they are signed. Pure. */

/** A close as it is hashed. */
export interface HashedClose {
  /** From 1. */
  readonly seq: bigint
  /** `2026-11-22`. */
  readonly day: string
  /** From 1; one more each time that the day is closed anew. */
  readonly version: number
  /** The row of the same day that it stands instead of. */
  readonly supersedes: bigint | null
  readonly previousHash: Buffer
  /** The head of the audit trail when it was made. */
  readonly audit: Position
  /** Epoch milliseconds. */
  readonly madeAt: number
  /** JSON, to the byte. */
  readonly content: string
}

/** Before the first close. */
export const NO_CLOSE = Buffer.alloc(32)

/** The hash over a close and, by the one before it, over all of them. @source rules#close.5 */
export function hashOfClose(close: HashedClose): Buffer {
  const { seq, day, version, supersedes, previousHash, audit, madeAt, content } = close
  const sum = createHash('sha256').update(previousHash)
  const texts = [seq, day, version, supersedes ?? '', audit.seq, audit.hash.toString('hex'), madeAt, content]
  for (const value of texts) sum.update(field(String(value)))
  return sum.digest()
}

/** The length of a text in bytes, in four, and its bytes: no two closes are the same bytes. */
function field(text: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(Buffer.byteLength(text))
  return Buffer.concat([length, Buffer.from(text)])
}

/** Signs closes. */
export interface CloseKey {
  /** Tells keys apart, and nothing more. */
  readonly id: string
  sign(hash: Buffer): Buffer
}

/** A signature as it is kept. */
export interface CloseSignature {
  readonly keyId: string
  readonly mac: Buffer
}

/** Derives the key from the same secret as that of the audit trail's heads, and is another one. @source rules#close.6 */
function closeKey(encryptionKey: string): CloseKey {
  const key = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'pixgate daily close', 32))
  return {
    id: sha256(key).toString('base64url').slice(0, 16),
    sign: (hash) => createHmac('sha256', key).update(hash).digest(),
  }
}

/** The key that signs, first, and the one whose signatures count besides while it is being replaced. */
export function closeKeys({ current, previous }: EncryptionKeys): readonly [CloseKey, ...CloseKey[]] {
  return [closeKey(current), ...(previous === undefined ? [] : [closeKey(previous)])]
}

/**
 * What the signatures of a close prove with the keys at hand. `SIGNED`: one of them made one. `FORGED`: one bears the id of a
 * key that did not make it. `UNPROVEN`: they are of other keys, or there is none.
 * @source rules#close.6
 */
export function proofOf(
  hash: Buffer,
  signatures: readonly CloseSignature[],
  keys: readonly CloseKey[],
): 'SIGNED' | 'FORGED' | 'UNPROVEN' {
  const judged = signatures.flatMap(({ keyId, mac }) => {
    const key = keys.find(({ id }) => id === keyId)
    return key === undefined ? [] : [secretsEqual(key.sign(hash), mac)]
  })
  // Whoever may add rows may add a false one beside the right one: only this proves nothing.
  if (judged.includes(true)) return 'SIGNED'
  return judged.length > 0 ? 'FORGED' : 'UNPROVEN'
}
