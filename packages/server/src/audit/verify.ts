import type { Queries } from '../platform/db/database.ts'
import { type AnchorKey, isGenuine } from './anchor.ts'
import { BEGINNING, hashAfter, type Position } from './chain.ts'
import {
  type AnchorAtPlace,
  type ChainedRow,
  firstUnchained,
  readAnchors,
  readChain,
  readHash,
  readHead,
  untoldCredentials,
} from './store.ts'

/** Whether the audit trail is as it was written. */

/** What is wrong, and where. */
export interface AuditFault {
  /** A place of the trail; `null` where a row has none. */
  readonly seq: bigint | null
  /** What is wrong with the row there, or with the anchor. */
  readonly what: string
}

/** What was found. */
export interface AuditVerification {
  /** How far every row is as it was written. */
  readonly verified: Position
  readonly anchors: number
  /** Anchors of keys that are not at hand: they prove nothing. */
  readonly unproven: number
  /** Those of them that are none of the trail's heads: it was rewritten, or somebody made them up. */
  readonly contradicting: number
  /** Anchors that name a key at hand, which did not make them: somebody made them up. */
  readonly forged: number
  /** In the order of their places, the first first. The rows behind one that is wrong are not looked at. */
  readonly faults: readonly AuditFault[]
}

/** What is compared. */
export interface AuditExpectations {
  /** Keys that anchors may be signed with. */
  readonly keys: readonly AnchorKey[]
  /** Heads that were noted elsewhere. */
  readonly heads?: readonly Position[]
}

/** So much is held in memory at a time. */
const PAGE = 1_000

/** Verifies all of it. In one snapshot, or rows that are added meanwhile are faults. @source rules#audit.2, rules#audit.3 */
export async function verifyAudit(
  queries: Queries,
  { keys, heads = [] }: AuditExpectations,
): Promise<AuditVerification> {
  const chain = await verifyRows(queries, BEGINNING)
  const anchors = await verifyAnchors(queries, keys)
  const faults = [
    ...(chain.fault === undefined ? await verifyEnd(queries, chain.verified) : [chain.fault]),
    ...(await verifyUnchained(queries)),
    ...(await verifyCredentials(queries)),
    ...anchors.faults,
    ...(await verifyHeads(queries, heads)),
  ]
  const { faults: _, ...counts } = anchors
  return { verified: chain.verified, ...counts, faults: faults.sort(byPlace) }
}

/** Verifies what was added after a place that was verified before, and that this one is still there. @source rules#audit.5 */
export async function verifyFrom(
  queries: Queries,
  before: Position,
): Promise<Pick<AuditVerification, 'verified' | 'faults'>> {
  const moved = await verifyHeads(queries, [before])
  if (moved.length > 0) return { verified: before, faults: moved }
  const { verified, fault } = await verifyRows(queries, before)
  return { verified, faults: fault === undefined ? await verifyEnd(queries, verified) : [fault] }
}

/** Up to the first row that is wrong. */
async function verifyRows(queries: Queries, from: Position): Promise<{ verified: Position; fault?: AuditFault }> {
  let verified = from
  for (;;) {
    const page = await readChain(queries, verified.seq, PAGE)
    for (const row of page) {
      const what = faultOf(row, verified)
      if (what !== undefined) return { verified, fault: { seq: verified.seq + 1n, what } }
      verified = { seq: BigInt(row.seq), hash: row.hash }
    }
    if (page.length < PAGE) return { verified }
  }
}

function faultOf(row: ChainedRow, before: Position): string | undefined {
  if (BigInt(row.seq) !== before.seq + 1n) return 'is missing'
  const { id, atMicros, actor, actorName, action, subject, address, facts } = row
  const isThere = id !== null && atMicros !== null && actor !== null && action !== null && subject !== null
  if (!isThere || address === null || facts === null) return `is missing: ${row.auditId} is not in the table`
  const hash = hashAfter(before, { id, atMicros, actor, actorName, action, subject, address, facts })
  if (hash.equals(row.hash)) return undefined
  const at = new Date(Number(BigInt(atMicros) / 1_000n)).toISOString()
  return `was changed, or what stands before it was: ${id}, ${at}, ${action}`
}

async function verifyEnd(queries: Queries, last: Position): Promise<AuditFault[]> {
  const head = await readHead(queries)
  if (head?.seq === last.seq && head.hash.equals(last.hash)) return []
  return [{ seq: last.seq + 1n, what: `is missing: the head of the trail is at ${head?.seq ?? 'no place'}` }]
}

async function verifyUnchained(queries: Queries): Promise<AuditFault[]> {
  const id = await firstUnchained(queries)
  return id === undefined ? [] : [{ seq: null, what: `${id} has no place in the trail: it was added past it` }]
}

/** More of them tell nothing more. */
const UNTOLD_MAX = 20

/** @source rules#audit.9 */
async function verifyCredentials(queries: Queries): Promise<AuditFault[]> {
  const untold = await untoldCredentials(queries, UNTOLD_MAX)
  return untold.map((name) => ({ seq: null, what: `${name} is not as the trail tells, or it tells nothing of it` }))
}

async function verifyHeads(queries: Queries, heads: readonly Position[]): Promise<AuditFault[]> {
  const faults: AuditFault[] = []
  for (const { seq, hash } of heads) {
    const found = await readHash(queries, seq)
    if (found === undefined) faults.push({ seq, what: 'is missing: a head was noted there' })
    else if (!found.equals(hash))
      faults.push({ seq, what: 'has another hash than the head that was noted: the trail was rewritten' })
  }
  return faults
}

type Anchors = Pick<AuditVerification, 'anchors' | 'unproven' | 'contradicting' | 'forged'> & {
  readonly faults: readonly AuditFault[]
}

/** Of what nobody with a key has made nothing follows: whoever has the login of a server could add it. @source rules#audit.3 */
async function verifyAnchors(queries: Queries, keys: readonly AnchorKey[]): Promise<Anchors> {
  const faults: AuditFault[] = []
  const counts = { anchors: 0, unproven: 0, contradicting: 0, forged: 0 }
  let last: Pick<AnchorAtPlace, 'seq' | 'mac'> = { seq: -1n, mac: Buffer.alloc(0) }
  for (;;) {
    const page = await readAnchors(queries, last, PAGE)
    for (const anchor of page) {
      const isProven = isGenuine(anchor, keys)
      const what = anchorFault(anchor)
      if (isProven === undefined) {
        counts.unproven += 1
        if (what !== undefined) counts.contradicting += 1
      } else if (!isProven) counts.forged += 1
      else if (what !== undefined && faults.length < CONTRADICTED_MAX) faults.push({ seq: anchor.seq, what })
    }
    counts.anchors += page.length
    const end = page.at(-1)
    if (page.length < PAGE || end === undefined) return { ...counts, faults }
    last = end
  }
}

/** Whoever rewrote the trail contradicts all that follow: more of them tell nothing more. */
const CONTRADICTED_MAX = 20

function anchorFault({ hash, at, chained }: AnchorAtPlace): string | undefined {
  const when = new Date(at).toISOString()
  if (chained === null) return `is missing: it was signed at ${when}`
  return chained.equals(hash) ? undefined : `has another hash than was signed at ${when}: the trail was rewritten`
}

/** What has no place stands last. */
function byPlace({ seq: one }: AuditFault, { seq: other }: AuditFault): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return one < other ? -1 : Number(one > other)
}
