import { createHash, createHmac, hkdfSync } from 'node:crypto'
import type { Position } from '../audit/chain.ts'
import { readHash } from '../audit/trail.ts'
import { secretsEqual, sha256 } from '../platform/crypto.ts'
import type { Queries } from '../platform/db/database.ts'
import type { EncryptionKeys } from '../platform/sealing.ts'
import { auditedCloses, type Close, closesAfter, signaturesOf } from './store.ts'

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

/** Whether the closes are as they were made. */

/** Something that is wrong. */
export interface CloseFault {
  /** Its place in the chain. */
  readonly seq: bigint
  /** `null`: it is not there. */
  readonly day: string | null
  readonly what: string
}

/** What was found. */
export interface CloseVerification {
  readonly closes: number
  /** The hash over all of them, to be noted elsewhere. */
  readonly head: Buffer
  /** In the order of the chain; what follows one that was changed is not looked at. */
  readonly faults: readonly CloseFault[]
}

/** So many are held in memory at a time. */
const PAGE = 500

/**
 * Verifies the chain of all closes, their signatures, and that each stands in the audit trail, and the trail's head in each. In
 * one snapshot.
 * @param keys none: signatures are not proven
 * @source rules#close.5, rules#close.6
 */
export async function verifyCloses(queries: Queries, keys: readonly CloseKey[]): Promise<CloseVerification> {
  const audited = new Map((await auditedCloses(queries)).map(({ seq, hash }) => [seq, hash]))
  let last: Pick<Close, 'seq' | 'hash'> = { seq: 0n, hash: NO_CLOSE }
  const faults: CloseFault[] = []
  for (;;) {
    const page = await closesAfter(queries, last.seq, PAGE)
    const signatures = await signaturesOf(queries, page)
    for (const close of page) {
      const broken = brokenAfter(last, close)
      if (broken !== undefined) {
        faults.push({ seq: last.seq + 1n, day: close.day, what: broken })
        return { closes: Number(last.seq), head: last.hash, faults }
      }
      const what = [
        ...signatureFaults(close, signatures.get(close.seq) ?? [], keys),
        ...(await auditFaults(queries, close, audited)),
      ]
      faults.push(...what.map((text) => ({ seq: close.seq, day: close.day, what: text })))
      audited.delete(String(close.seq))
      last = close
    }
    if (page.length < PAGE) break
  }
  const removed = [...audited.keys()].map((seq) => ({ seq: BigInt(seq ?? 0), day: null, what: REMOVED }))
  return { closes: Number(last.seq), head: last.hash, faults: [...faults, ...removed] }
}

const REMOVED = 'is missing: the audit trail tells that it was made'

function brokenAfter(last: Pick<Close, 'seq' | 'hash'>, close: Close): string | undefined {
  if (close.seq !== last.seq + 1n) return 'is missing'
  const isNext = close.previousHash.equals(last.hash)
  return isNext && hashOfClose(close).equals(close.hash) ? undefined : 'was changed, or what stands before it was'
}

function signatureFaults(
  { hash }: Close,
  signatures: Parameters<typeof proofOf>[1],
  keys: readonly CloseKey[],
): string[] {
  if (keys.length === 0) return []
  const proof = proofOf(hash, signatures, keys)
  if (proof === 'SIGNED') return []
  return [proof === 'FORGED' ? 'has a false signature' : 'is signed by none of the keys at hand']
}

async function auditFaults(
  queries: Queries,
  { seq, hash, audit }: Close,
  audited: ReadonlyMap<string | null, string | null>,
): Promise<string[]> {
  const told = audited.get(String(seq))
  const head = await readHash(queries, audit.seq)
  return [
    ...(told === hash.toString('hex') ? [] : ['is not as the audit trail tells']),
    ...(head?.equals(audit.hash) ? [] : ['has another head of the audit trail than the trail has']),
  ]
}
