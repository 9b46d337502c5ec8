import { createHash, createHmac, hkdfSync } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import { secretsEqual, sha256 } from '../platform/crypto.ts'
import type { Database, Queries } from '../platform/db/database.ts'
import { workAsApplication } from '../platform/db/login.ts'
import { withSnapshot } from '../platform/db/snapshot.ts'
import type { Logger } from '../platform/log.ts'
import type { EncryptionKeys } from '../platform/sealing.ts'
import {
  type AnchorAtPlace,
  type ChainedRow,
  firstUnchained,
  insertAnchor,
  readAnchors,
  readChain,
  readHash,
  readHead,
  unauditedCredentials,
} from './trail.ts'

/** Hash chain of the audit trail; the database computes the same (migration 0012). Pure. */

export interface Position {
  /** From 1; 0 is before the first row. */
  readonly seq: bigint
  readonly hash: Buffer
}

export const BEGINNING: Position = { seq: 0n, hash: Buffer.alloc(32) }

/** The hashed columns of a row, as the database writes them. */
export interface HashedRow {
  readonly id: string
  /** Epoch microseconds. */
  readonly atMicros: string
  readonly actor: string
  readonly actorName: string | null
  readonly action: string
  readonly subject: string
  readonly address: string
  /** JSON as PostgreSQL writes it. */
  readonly facts: string
}

const NONE = Buffer.alloc(4, 0xff)

/** @source rules#audit.1 */
function hashAfter({ seq, hash }: Position, row: HashedRow): Buffer {
  const place = Buffer.alloc(8)
  place.writeBigInt64BE(seq + 1n)
  const { id, atMicros, actor, actorName, action, subject, address, facts } = row
  const sum = createHash('sha256').update(hash).update(place)
  for (const value of [id, atMicros, actor, actorName, action, subject, address, facts]) sum.update(field(value))
  return sum.digest()
}

/** A text prefixed by its length in four bytes; -1 for null. Unambiguous, so different rows have different bytes. */
function field(value: string | null): Buffer {
  if (value === null) return NONE
  const length = Buffer.alloc(4)
  length.writeInt32BE(Buffer.byteLength(value))
  return Buffer.concat([length, Buffer.from(value)])
}

const POSITION = /^(\d{1,18}):([0-9a-f]{64})$/i

/** Text of a position in logs and `--head`: `17:9f86…`. */
export function positionText({ seq, hash }: Position): string {
  return `${seq}:${hash.toString('hex')}`
}

/** Parses {@link positionText}; `undefined` for anything else. */
export function positionOf(text: string): Position | undefined {
  const [, seq, hash] = POSITION.exec(text) ?? []
  return seq === undefined || hash === undefined ? undefined : { seq: BigInt(seq), hash: Buffer.from(hash, 'hex') }
}

/** Signed heads of the trail. The database never sees the key, so its owner cannot forge one. Pure. */

export interface AnchorKey {
  readonly id: string
  sign(anchored: Anchored): Buffer
}

export interface Anchored extends Position {
  /** Epoch milliseconds. */
  readonly at: number
}

export interface Anchor extends Anchored {
  readonly keyId: string
  readonly mac: Buffer
}

/** Derives the key from `PIXGATE_ENCRYPTION_KEY` without revealing it. @source rules#audit.3 */
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

/** The signing key first, then the previous key, which still verifies. @source rules#audit.3 */
export function anchorKeys({ current, previous }: EncryptionKeys): readonly [AnchorKey, ...AnchorKey[]] {
  return [anchorKey(current), ...(previous === undefined ? [] : [anchorKey(previous)])]
}

/** Whether a configured key made the anchor; `undefined` if none has its id. */
function isGenuine(anchor: Anchor, keys: readonly AnchorKey[]): boolean | undefined {
  const key = keys.find(({ id }) => id === anchor.keyId)
  return key && secretsEqual(key.sign(anchor), anchor.mac)
}

export interface AuditFault {
  /** Position in the trail; `null` for a row without one. */
  readonly seq: bigint | null
  readonly what: string
}

export interface AuditVerification {
  /** Last position up to which every row is unchanged. */
  readonly verified: Position
  readonly anchors: number
  /** Anchors of keys that are not configured: they prove nothing. */
  readonly unproven: number
  /** Unproven anchors that match no head of the trail: it was rewritten, or they were forged. */
  readonly contradicting: number
  /** Anchors that name a configured key but were not made by it: forged. */
  readonly forged: number
  /** Sorted by position. Rows after a wrong one are not verified. */
  readonly faults: readonly AuditFault[]
}

export interface AuditExpectations {
  readonly keys: readonly AnchorKey[]
  readonly heads?: readonly Position[]
}

const PAGE = 1_000

/**
 * Verifies the whole trail. Needs a snapshot; otherwise concurrent rows look like faults.
 * @source rules#audit.2, rules#audit.3
 */
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

/** Verifies the rows after a verified position, and that position itself. @source rules#audit.5 */
async function verifyFrom(queries: Queries, before: Position): Promise<Pick<AuditVerification, 'verified' | 'faults'>> {
  const moved = await verifyHeads(queries, [before])
  if (moved.length > 0) return { verified: before, faults: moved }
  const { verified, fault } = await verifyRows(queries, before)
  return { verified, faults: fault === undefined ? await verifyEnd(queries, verified) : [fault] }
}

/** Stops at the first wrong row. */
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

/** Further faults add no information. */
const UNAUDITED_MAX = 20

/** @source rules#audit.9 */
async function verifyCredentials(queries: Queries): Promise<AuditFault[]> {
  const unaudited = await unauditedCredentials(queries, UNAUDITED_MAX)
  return unaudited.map((name) => ({ seq: null, what: `${name} does not match the audit trail, or has no row there` }))
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

/**
 * Anchors that no configured key made prove nothing: anyone with a server's login could add them.
 * @source rules#audit.3
 */
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

/** A rewritten trail contradicts all later anchors; listing more adds no information. */
const CONTRADICTED_MAX = 20

function anchorFault({ hash, at, chained }: AnchorAtPlace): string | undefined {
  const when = new Date(at).toISOString()
  if (chained === null) return `is missing: it was signed at ${when}`
  return chained.equals(hash) ? undefined : `has another hash than was signed at ${when}: the trail was rewritten`
}

/** Faults without a position come last. */
function byPlace({ seq: one }: AuditFault, { seq: other }: AuditFault): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return one < other ? -1 : Number(one > other)
}

/** Verifies the audit trail while the service runs, and signs its head. */
export interface AuditKeeper {
  /**
   * Verifies new rows, and once an hour the whole trail. Signs a changed head if there are no faults.
   * @returns false: nothing more to do for now
   * @throws Error when the database does not answer
   */
  processNext(): Promise<boolean>
  /** Result of the verification so far; `undefined` before `begin`. */
  standing(): AuditStanding | undefined
  begin(): void
  /** Aborts a running verification, which only reads. */
  stop(): void
}

export interface AuditStanding {
  /** Time of the last verification, or the start of the first attempt. Epoch milliseconds. */
  readonly at: number
  /** `undefined` before the first verification. */
  readonly faults: number | undefined
}

export interface AuditKeeperOptions {
  readonly databaseUrl: string
  readonly database: Database
  readonly logger: Logger
  readonly clock: Clock
  /** The current key signs; the previous one still verifies. */
  readonly encryptionKeys: EncryptionKeys
}

/** @source rules#audit.5 */
const ALL_EVERY_MS = 60 * 60 * 1_000

/**
 * Remembers the verified position: a trail rewritten while the process runs is detected even if all anchors were
 * rewritten too, and is never signed.
 * @source rules#audit.3, rules#audit.5
 */
export function createAuditKeeper({
  databaseUrl,
  database,
  logger,
  clock,
  encryptionKeys,
}: AuditKeeperOptions): AuditKeeper {
  const stopping = new AbortController()
  const { signal } = stopping
  const [key, ...before] = anchorKeys(encryptionKeys)
  let standing: AuditStanding | undefined
  let last: Position | undefined
  let wholeAt = Number.NEGATIVE_INFINITY

  function verify(): Promise<Verified> {
    return withSnapshot({ url: databaseUrl, name: 'pixgate audit', signal }, async (queries) => {
      await workAsApplication(queries)
      if (last !== undefined && clock.now() - wholeAt < ALL_EVERY_MS) return verifyFrom(queries, last)
      wholeAt = clock.now()
      return verifyAudit(queries, { keys: [key, ...before], ...(last && { heads: [last] }) })
    })
  }

  async function sign(head: Position): Promise<void> {
    const anchored = { ...head, at: clock.now() }
    if (!(await insertAnchor(database, { ...anchored, keyId: key.id, mac: key.sign(anchored) }))) return
    logger.info({ head: positionText(head) }, SIGNED)
  }

  async function keep(): Promise<void> {
    const { verified, faults, contradicting = 0, forged = 0 } = await verify()
    if (contradicting + forged > 0) logger.error({ contradicting, forged }, STRANGE)
    standing = { at: clock.now(), faults: faults.length }
    if (faults.length > 0) {
      // Verifies the whole trail until it is correct again.
      wholeAt = Number.NEGATIVE_INFINITY
      for (const { seq, what } of faults) logger.error({ row: seq === null ? null : String(seq), what }, WRONG)
      return
    }
    last = verified
    if (verified.seq > 0n) await sign(verified)
  }

  return {
    processNext: async () => {
      await keep().catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
      return false
    },
    standing: () => standing,
    begin: () => {
      standing = { at: clock.now(), faults: undefined }
    },
    stop: () => stopping.abort(),
  }
}

/** Anchor counts only exist after a full verification. */
type Verified = Pick<AuditVerification, 'verified' | 'faults'> &
  Partial<Pick<AuditVerification, 'contradicting' | 'forged'>>

const STRANGE =
  'the audit trail has heads that our keys did not sign and that do not match it: someone with write access to the database may have added them'
const SIGNED = 'the audit trail was verified, and its head signed'
const WRONG = 'the audit trail is not as it was written; its head is not signed'
