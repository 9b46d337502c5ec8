import { hostname } from 'node:os'
import type { Clock } from '../platform/clock.ts'
import { type Database, instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { RequestContext } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import { type Anchor, BEGINNING, type HashedRow, type Position } from './chain.ts'

export interface Operator {
  readonly actor: string
  readonly actorName?: string
  readonly address: string
}

/** The caller of a request; a named operator with id and name. @source rules#operators.7 */
export function operatorOf({ caller, remoteAddress }: Pick<RequestContext, 'caller' | 'remoteAddress'>): Operator {
  const { id, name } = caller
  return { actor: id, ...(name !== undefined && { actorName: name }), address: remoteAddress }
}

/** Configured limits by name, in centavos as text; `null`: unlimited. */
export type Limits = Readonly<Record<string, string | null>>

export interface AuditLimitsDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

/**
 * Audits the limits of a starting process if they differ from the last start's: editing a settings file leaves no other
 * trace.
 * @source rules#audit.8
 */
export function auditLimits({ database, clock, ids }: AuditLimitsDependencies, limits: Limits): Promise<void> {
  return database.transaction(async (queries) => {
    await lockLimits(queries)
    const before = await lastLimits(queries)
    if (before !== null && isSame(before, limits)) return
    await insertAudit(queries, {
      id: ids.uuid(),
      at: clock.now(),
      actor: 'configuration',
      address: hostname(),
      action: 'limits.configured',
      subject: 'limits',
      facts: { limits, before },
    })
  })
}

function isSame(one: Limits, other: Limits): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => one[name] === other[name])
}

export interface AuditRow extends Operator {
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
  /** `api_key.generated`, `adjustment.ordered` … */
  readonly action: string
  readonly subject: string
  readonly facts: Readonly<Record<string, unknown>>
}

const insertAuditStatement = statement<
  [
    id: string,
    at: string,
    actor: string,
    actorName: string | null,
    action: string,
    subject: string,
    address: string,
    facts: string,
  ]
>(
  'audit.insert',
  `INSERT INTO audit (id, at, actor, actor_name, action, subject, address, facts)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8::jsonb)`,
)

/** Adds an audit row, in the transaction of the audited change. */
export async function insertAudit(queries: Queries, row: AuditRow): Promise<void> {
  const { id, at, actor, actorName = null, action, subject, address, facts } = row
  const text = JSON.stringify(facts)
  await queries.rows(insertAuditStatement, [id, instantParameter(at), actor, actorName, action, subject, address, text])
}

/** A position of the chain with its row; columns are `null` if the row is missing. */
export interface ChainedRow extends Record<keyof HashedRow, string | null> {
  readonly seq: string
  readonly hash: Buffer
  readonly auditId: string
}

const selectChain = statement<[after: string, limit: number], ChainedRow>(
  'audit.chain',
  `SELECT c.seq::text AS seq, c.hash, c.audit_id::text AS "auditId", a.id::text AS id,
          ((extract(epoch FROM a.at) * 1000000)::bigint)::text AS "atMicros", a.actor, a.actor_name AS "actorName",
          a.action, a.subject, a.address, a.facts::text AS facts
     FROM (SELECT seq, hash, audit_id FROM audit_chain WHERE seq > $1 ORDER BY seq LIMIT $2) c
          LEFT JOIN audit a ON a.id = c.audit_id
    ORDER BY c.seq`,
)

/** The next rows after a position, in order. */
export function readChain(queries: Queries, after: bigint, limit: number): Promise<ChainedRow[]> {
  return queries.rows(selectChain, [String(after), limit])
}

const selectHash = statement<[seq: string], { hash: Buffer }>(
  'audit.hash',
  'SELECT hash FROM audit_chain WHERE seq = $1',
)

export async function readHash(queries: Queries, seq: bigint): Promise<Buffer | undefined> {
  if (seq === BEGINNING.seq) return BEGINNING.hash
  return (await queries.rows(selectHash, [String(seq)]))[0]?.hash
}

const selectHead = statement<[], { seq: string; hash: Buffer }>(
  'audit.head',
  'SELECT seq::text AS seq, hash FROM audit_head',
)

export async function readHead(queries: Queries): Promise<Position | undefined> {
  const [head] = await queries.rows(selectHead, [])
  return head && { seq: BigInt(head.seq), hash: head.hash }
}

const selectUnchained = statement<[], { id: string }>(
  'audit.unchained',
  `SELECT id::text AS id FROM audit a
    WHERE NOT EXISTS (SELECT FROM audit_chain c WHERE c.audit_id = a.id) ORDER BY at, id LIMIT 1`,
)

export async function firstUnchained(queries: Queries): Promise<string | undefined> {
  return (await queries.rows(selectUnchained, []))[0]?.id
}

const selectUnaudited = statement<[limit: number], { name: string }>(
  'audit.unaudited',
  `SELECT kind || ' ' || id AS name FROM credential c WHERE NOT matches_audit_trail(c) ORDER BY kind DESC, id LIMIT $1`,
)

/** Operators and API keys that do not match the trail. */
export async function unauditedCredentials(queries: Queries, limit: number): Promise<string[]> {
  return (await queries.rows(selectUnaudited, [limit])).map(({ name }) => name)
}

interface StoredAnchor {
  readonly seq: string
  readonly hash: Buffer
  readonly atMs: string
  readonly keyId: string
  readonly mac: Buffer
  readonly chained: Buffer | null
}

const selectAnchors = statement<[afterSeq: string, afterMac: Buffer, limit: number], StoredAnchor>(
  'audit.anchors',
  `SELECT n.seq::text AS seq, n.hash, ((extract(epoch FROM n.at) * 1000)::bigint)::text AS "atMs", n.key_id AS "keyId",
          n.mac, c.hash AS chained
     FROM audit_anchor n LEFT JOIN audit_chain c ON c.seq = n.seq
    WHERE (n.seq, n.mac) > ($1::bigint, $2::bytea)
    ORDER BY n.seq, n.mac LIMIT $3`,
)

/** An anchor, and the trail's hash at its position, if any. */
export interface AnchorAtPlace extends Anchor {
  readonly chained: Buffer | null
}

/** The next anchors after one, by position. */
export async function readAnchors(
  queries: Queries,
  { seq, mac }: Pick<Anchor, 'seq' | 'mac'>,
  limit: number,
): Promise<AnchorAtPlace[]> {
  const rows = await queries.rows(selectAnchors, [String(seq), mac, limit])
  return rows.map(({ seq, atMs, ...row }) => ({ ...row, seq: BigInt(seq), at: Number(atMs) }))
}

const insertAnchorStatement = statement<
  [seq: string, hash: Buffer, at: string, keyId: string, mac: Buffer],
  { seq: unknown }
>(
  'audit.insert_anchor',
  `INSERT INTO audit_anchor (seq, hash, at, key_id, mac)
   SELECT $1::bigint, $2, $3, $4, $5
    WHERE NOT EXISTS (SELECT FROM audit_anchor WHERE seq = $1 AND key_id = $4 AND hash = $2)
   RETURNING seq`,
)

/** Adds an anchor unless this key has one at the position. @returns whether it was added */
export async function insertAnchor(queries: Queries, { seq, hash, at, keyId, mac }: Anchor): Promise<boolean> {
  const row = [String(seq), hash, instantParameter(at), keyId, mac] as const
  return (await queries.rows(insertAnchorStatement, [...row])).length > 0
}

const insertLoginStatement = statement<
  [id: string, at: string, actor: string, actorName: string | null, address: string, since: string],
  { at: number }
>(
  'audit.insert_login',
  `WITH login AS (
     SELECT max(at) AS at FROM audit
      WHERE action = 'operator.logged_in' AND actor = $3::text AND address = $5::text AND at > $6::timestamptz
   ),
   added AS (
     INSERT INTO audit (id, at, actor, actor_name, action, subject, address, facts)
     SELECT $1::uuid, $2::timestamptz, $3, $4, 'operator.logged_in', $3, $5, '{}' FROM login WHERE login.at IS NULL
     RETURNING at
   )
   SELECT coalesce(login.at, (SELECT at FROM added)) AS at FROM login`,
)

/** Adds a log-in unless there is one since `sinceMs`. @returns its time, epoch milliseconds */
export async function insertLogin(
  queries: Queries,
  login: Operator & Pick<AuditRow, 'id' | 'at'>,
  sinceMs: number,
): Promise<number> {
  const { id, at, actor, actorName = null, address } = login
  const since = instantParameter(sinceMs)
  const [found] = await queries.rows(insertLoginStatement, [id, instantParameter(at), actor, actorName, address, since])
  return found?.at ?? at
}

const lockLimitsStatement = statement<[]>('audit.lock_limits', 'SELECT pg_advisory_xact_lock(7046741012)')

async function lockLimits(queries: Queries): Promise<void> {
  await queries.rows(lockLimitsStatement, [])
}

const selectLimits = statement<[], { limits: Record<string, string | null> }>(
  'audit.limits',
  `SELECT facts -> 'limits' AS limits FROM audit WHERE action = 'limits.configured' ORDER BY at DESC, id DESC LIMIT 1`,
)

async function lastLimits(queries: Queries): Promise<Record<string, string | null> | null> {
  return (await queries.rows(selectLimits, []))[0]?.limits ?? null
}
