import { readHash } from '../audit/store.ts'
import type { Queries } from '../platform/db/database.ts'
import { type CloseKey, hashOfClose, NO_CLOSE, proofOf } from './chain.ts'
import { auditedCloses, type Close, closesAfter, signaturesOf } from './store.ts'

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
