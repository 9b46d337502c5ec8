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
  untoldCredentials,
} from './trail.ts'

/** How the rows of the audit trail hang together; the database computes the same (migration 0012). Pure. */

/** A place of the trail, with the hash over all up to there. */
export interface Position {
  /** From 1; 0 is before the first row. */
  readonly seq: bigint
  /** SHA-256. */
  readonly hash: Buffer
}

/** Before the first row. */
export const BEGINNING: Position = { seq: 0n, hash: Buffer.alloc(32) }

/** A row as it is hashed: its columns as the database writes them. */
export interface HashedRow {
  readonly id: string
  /** Epoch microseconds. */
  readonly atMicros: string
  readonly actor: string
  readonly actorName: string | null
  readonly action: string
  readonly subject: string
  readonly address: string
  /** JSON, as PostgreSQL writes it. */
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

/** The length of a text in bytes, in four, and its bytes; -1 for none: no two rows are the same bytes. */
function field(value: string | null): Buffer {
  if (value === null) return NONE
  const length = Buffer.alloc(4)
  length.writeInt32BE(Buffer.byteLength(value))
  return Buffer.concat([length, Buffer.from(value)])
}

const POSITION = /^(\d{1,18}):([0-9a-f]{64})$/i

/** A position as a log and `--head` have it: `17:9f86…`. */
export function positionText({ seq, hash }: Position): string {
  return `${seq}:${hash.toString('hex')}`
}

/** Reads what {@link positionText} writes; `undefined` where it is something else. */
export function positionOf(text: string): Position | undefined {
  const [, seq, hash] = POSITION.exec(text) ?? []
  return seq === undefined || hash === undefined ? undefined : { seq: BigInt(seq), hash: Buffer.from(hash, 'hex') }
}

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
function isGenuine(anchor: Anchor, keys: readonly AnchorKey[]): boolean | undefined {
  const key = keys.find(({ id }) => id === anchor.keyId)
  return key && secretsEqual(key.sign(anchor), anchor.mac)
}

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
async function verifyFrom(queries: Queries, before: Position): Promise<Pick<AuditVerification, 'verified' | 'faults'>> {
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

/** Verifies the audit trail while the service runs, and signs its head. */
export interface AuditKeeper {
  /**
   * Verifies what was added since the last time, each hour all of it, and signs the head where it is another one and
   * everything is as it was written.
   * @returns false: there is nothing more to do for now
   * @throws Error where the database does not answer
   */
  processNext(): Promise<boolean>
  /** How far the trail is known to be right; `undefined` where nobody has started it. */
  standing(): AuditStanding | undefined
  /** Says that it is to be kept from now on. */
  begin(): void
  /** Gives up a verification under way: it reads only. */
  stop(): void
}

/** What a process knows of the trail. */
export interface AuditStanding {
  /** When it was verified last; before the first time, since when this process tries to. Epoch milliseconds. */
  readonly at: number
  /** `undefined` before the first time. */
  readonly faults: number | undefined
}

/** What a keeper needs. */
export interface AuditKeeperOptions {
  readonly databaseUrl: string
  readonly database: Database
  readonly logger: Logger
  readonly clock: Clock
  /** The current one signs; what the previous one signed counts too. */
  readonly encryptionKeys: EncryptionKeys
}

/** How often a head that has changed is signed. @source rules#audit.3 */
export const KEPT_EVERY_MS = 60_000

/** @source rules#audit.5 */
const ALL_EVERY_MS = 60 * 60 * 1_000

/**
 * Makes a keeper. What it has verified it remembers: a trail that is rewritten while it runs is found also where every
 * anchor was rewritten with it, and is never signed.
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
      // All of it is looked at until it is right again.
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

/** What was found: of the anchors where all of them were looked at. */
type Verified = Pick<AuditVerification, 'verified' | 'faults'> &
  Partial<Pick<AuditVerification, 'contradicting' | 'forged'>>

const STRANGE =
  'the audit trail has signed heads that none of our keys made and that are false, or none of its own: somebody who can write to the database may have added them'
const SIGNED = 'the audit trail was verified, and its head signed'
const WRONG = 'the audit trail is not as it was written; its head is not signed'
