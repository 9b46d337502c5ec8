import { createHash } from 'node:crypto'

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
export function hashAfter({ seq, hash }: Position, row: HashedRow): Buffer {
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
