import { crc32 } from 'node:zlib'
import {
  API_KEY_PATTERN,
  type ApiKeyScope,
  type Caps,
  limits,
  OPERATOR_TOKEN_PATTERN,
  type OperatorRole,
} from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'
import { type Database, instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { Caller } from '../platform/http/handler.ts'
import { isUuid } from '../platform/ids.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import { type NetworkList, networkList } from '../platform/networks.ts'

/**
 * Format of keys and tokens: prefix, secret, checksum. The checksum recognises junk without a query, and a leaked key
 * among lookalikes.
 * @source rules#api-keys.2, rules#operators.2
 */

/** A credential opens one mode only. */
export type Mode = 'sandbox' | 'production'

export const SECRET_BYTES = 32

const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const DISPLAY_LENGTH = 8

interface TokenKind {
  /** Exact length of every key. */
  readonly length: number
  /**
   * Formats a secret as a key.
   * @param secret {@link SECRET_BYTES} random bytes, all significant: 43 base62 characters hold 256 bits
   */
  format(mode: Mode, secret: Buffer): string
  /** The mode of a well-formed key, which may still be unknown; `undefined` for other texts. */
  modeOf(text: string): Mode | undefined
  /** The part of a key that may be stored and shown. @source rules#api-keys.3 */
  displayOf(key: string): string
}

/** @param prefixes of equal length */
function tokenKind(pattern: string, prefixes: Readonly<Record<Mode, string>>): TokenKind {
  const shape = new RegExp(pattern)
  return {
    length: prefixes.sandbox.length + SECRET_LENGTH + CHECKSUM_LENGTH,
    format: (mode, secret) => {
      const unchecked = prefixes[mode] + base62(BigInt(`0x${secret.toString('hex')}`), SECRET_LENGTH)
      return unchecked + checksum(unchecked)
    },
    modeOf: (text) => {
      if (!shape.test(text) || checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH))
        return undefined
      return text.startsWith(prefixes.sandbox) ? 'sandbox' : 'production'
    },
    displayOf: (key) => key.slice(prefixes.sandbox.length).slice(0, DISPLAY_LENGTH),
  }
}

/** Formats of API keys and of operators' tokens. */
export const apiKeyFormat = tokenKind(API_KEY_PATTERN, { sandbox: 'pix_test_', production: 'pix_live_' })
export const operatorTokenFormat = tokenKind(OPERATOR_TOKEN_PATTERN, {
  sandbox: 'pix_op_test_',
  production: 'pix_op_live_',
})

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = 62n

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH)
}

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= BASE) text = ALPHABET.charAt(Number(rest % BASE)) + text
  return text.padStart(length, '0')
}

/** The id of the calling named operator; `null` for the administrative token. @source rules#operators.7 */
export function namedOperatorOf({ id, name }: Caller): string | null {
  return name === undefined ? null : id
}

/** Properties of an API key that limit its use. */
export interface KeyTerms extends Caps {
  readonly name: string | null
  readonly scopes: readonly ApiKeyScope[]
  /** `null`: any network. */
  readonly cidrs: readonly string[] | null
  /** Epoch milliseconds; `null`: never. */
  readonly expiresAt: number | null
}

/** A stored credential, without the key or token itself. */
export interface StoredCredential {
  readonly id: string
  readonly hash: Buffer
  readonly display: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The operator who created it; `null`: the administrative token. */
  readonly createdBy: string | null
}

type Cents = bigint | null

const insertKeyStatement = statement<
  [
    ...[id: string, hash: Buffer, display: string, createdAt: string, createdBy: string | null],
    ...[name: string | null, scopes: readonly string[], cidrs: readonly string[] | null, expiresAt: string | null],
    ...[payment: Cents, hour: Cents, day: Cents, night: Cents, newRecipient: Cents],
  ]
>(
  'access.insert_key',
  `INSERT INTO credential (kind, id, hash, display, created_at, created_by, name, scopes, cidrs, expires_at,
                           cap_payment_cents, cap_hour_cents, cap_day_cents, cap_night_cents, cap_new_recipient_cents)
   VALUES ('api_key', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
)

export async function insertKey(queries: Queries, key: StoredCredential & KeyTerms): Promise<void> {
  const { id, hash, display, createdAt, createdBy, name, scopes, cidrs, expiresAt } = key
  const { paymentCents, hourCents, dayCents, nightCents, newRecipientCents } = key
  await queries.rows(insertKeyStatement, [
    ...([id, hash, display, instantParameter(createdAt), createdBy] as const),
    ...([name, scopes, cidrs, expiresAt === null ? null : instantParameter(expiresAt)] as const),
    ...([paymentCents, hourCents, dayCents, nightCents, newRecipientCents] as const),
  ])
}

const insertOperatorStatement = statement<
  [
    id: string,
    hash: Buffer | null,
    display: string,
    createdAt: string,
    createdBy: string | null,
    name: string,
    role: string,
  ]
>(
  'access.insert_operator',
  `INSERT INTO credential (kind, id, hash, display, created_at, created_by, name, role)
   VALUES ('operator', $1, $2, $3, $4, $5, $6, $7)`,
)

export interface StoredOperator extends Omit<StoredCredential, 'hash'> {
  /** `null`: they have no token and log in by links of the sandbox. */
  readonly hash: Buffer | null
  readonly name: string
  readonly role: OperatorRole
}

export async function insertOperator(queries: Queries, operator: StoredOperator): Promise<void> {
  const { id, hash, display, createdAt, createdBy, name, role } = operator
  const row = [id, hash, display, instantParameter(createdAt), createdBy, name, role] as const
  await queries.rows(insertOperatorStatement, [...row])
}

const TERMS = `name, scopes, cidrs, expires_at AS "expiresAt", cap_payment_cents AS "paymentCents",
  cap_hour_cents AS "hourCents", cap_day_cents AS "dayCents", cap_night_cents AS "nightCents",
  cap_new_recipient_cents AS "newRecipientCents"`

/** A credential as it is looked up by its hash. */
export type FoundCredential = { readonly id: string; readonly hash: Buffer; readonly deactivatedAt: number | null } & (
  | ({ readonly kind: 'api_key'; readonly createdBy: string | null } & KeyTerms)
  | { readonly kind: 'operator'; readonly name: string; readonly role: OperatorRole }
)

/** A credential as requests use it. */
export interface Credential {
  readonly kind: FoundCredential['kind']
  readonly caller: Caller
  readonly isDeactivated: boolean
  /** Epoch milliseconds; `null`: never. */
  readonly expiresAt: number | null
  /** Allowed networks; absent: any. */
  readonly networks?: NetworkList
}

function credentialOf(found: FoundCredential): Credential {
  const { id, kind } = found
  const isDeactivated = found.deactivatedAt !== null
  if (kind === 'operator') {
    const { name, role } = found
    return { kind, caller: { credential: 'admin', id, name, role }, isDeactivated, expiresAt: null }
  }
  const { scopes, cidrs, expiresAt, createdBy } = found
  const { paymentCents, hourCents, dayCents, nightCents, newRecipientCents } = found
  const caps: Caps = { paymentCents, hourCents, dayCents, nightCents, newRecipientCents }
  return {
    kind,
    caller: {
      ...{ credential: 'api-key', id, scopes: new Set(scopes) },
      ...(Object.values(caps).some((cents) => cents !== null) && { caps }),
      ...(createdBy !== null && { keyMadeBy: createdBy }),
    },
    isDeactivated,
    expiresAt,
    ...(cidrs && { networks: networkList(cidrs) }),
  }
}

/** The reason to refuse a credential, if any. Never shown to the caller. @source rules#api-keys.9, rules#api-keys.10 */
export function faultOf({ isDeactivated, expiresAt, networks }: Credential, address: string, nowMs: number) {
  if (isDeactivated) return 'deactivated'
  if (expiresAt !== null && nowMs >= expiresAt) return 'expired'
  if (networks?.include(address) === false) return 'wrong_address'
  return undefined
}

const findStatement = statement<[hashes: readonly Buffer[]], FoundCredential>(
  'access.find',
  `SELECT kind, id, hash, created_by AS "createdBy", deactivated_at AS "deactivatedAt", role, ${TERMS}
     FROM credential WHERE hash = ANY ($1::bytea[])`,
)

interface Listed extends Omit<StoredCredential, 'hash'> {
  /** Epoch milliseconds. */
  readonly lastUsedAt: number | null
  readonly deactivatedAt: number | null
}

export type ListedKey = Listed & KeyTerms

export type ListedOperator = Listed & Pick<StoredOperator, 'name' | 'role'>

// Ids are UUIDv7, which sort by creation.
const listStatement = statement<[kind: string, before: string | null, limit: number], ListedKey & ListedOperator>(
  'access.list',
  `SELECT id, display, created_at AS "createdAt", created_by AS "createdBy", last_used_at AS "lastUsedAt",
          deactivated_at AS "deactivatedAt", role, ${TERMS}
     FROM credential
    WHERE kind = $1 AND ($2::uuid IS NULL OR id < $2)
    ORDER BY id DESC
    LIMIT $3`,
)

/** The next credentials of a kind before `before`, newest first. */
export function listCredentials(
  queries: Queries,
  kind: FoundCredential['kind'],
  before: string | undefined,
  limit: number,
): Promise<(ListedKey & ListedOperator)[]> {
  return queries.rows(listStatement, [kind, before ?? null, limit])
}

const deactivateStatement = statement<
  [kind: string, id: string, at: string],
  Pick<StoredOperator, 'display' | 'name' | 'role'>
>(
  'access.deactivate',
  `UPDATE credential SET deactivated_at = $3 WHERE kind = $1 AND id = $2 AND deactivated_at IS NULL
   RETURNING display, name, role`,
)

/** The text of a stored instant. */
export function instantOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** Marks a credential as deactivated. @returns the credential, or `undefined` if there was no active one */
export async function markDeactivated(queries: Queries, kind: FoundCredential['kind'], id: string, nowMs: number) {
  const [credential] = await queries.rows(deactivateStatement, [kind, id, instantParameter(nowMs)])
  return credential
}

// Locks in the order of the ids, so that concurrent calls cannot deadlock.
const deactivateAllKeysStatement = statement<[at: string], { id: string }>(
  'access.deactivate_all_keys',
  `WITH active AS (
     SELECT id FROM credential WHERE kind = 'api_key' AND deactivated_at IS NULL ORDER BY id FOR NO KEY UPDATE
   )
   UPDATE credential c SET deactivated_at = $1 FROM active WHERE c.id = active.id
   RETURNING c.id`,
)

/** Marks every active key as deactivated. @returns those keys */
export function markAllKeysDeactivated(queries: Queries, nowMs: number) {
  return queries.rows(deactivateAllKeysStatement, [instantParameter(nowMs)])
}

const deactivatedAtStatement = statement<[ids: readonly string[]], { id: string; deactivatedAt: number | null }>(
  'access.deactivated_at',
  `SELECT id, deactivated_at AS "deactivatedAt" FROM credential WHERE id = ANY ($1::uuid[])`,
)

/** Deactivation times by id of an API key or operator, epoch milliseconds; `null` for active ones. */
export async function deactivatedAt(
  queries: Queries,
  callers: readonly string[],
): Promise<ReadonlyMap<string, number | null>> {
  // The administrative token has a name, and is never deactivated.
  const ids = callers.filter(isUuid)
  const rows = ids.length === 0 ? [] : await queries.rows(deactivatedAtStatement, [ids])
  return new Map(rows.map(({ id, deactivatedAt }) => [id, deactivatedAt]))
}

export interface CachedCredential {
  readonly credential: Credential
  /** Whether it was looked up recently; otherwise it must be looked up again. */
  readonly isFresh: boolean
}

/**
 * Active credentials by the hex of their hashes. They are accepted without a look-up for `limits.apiKeyCacheMs`; afterwards
 * a key still does not count as a guess. Capped; the least recently used is dropped.
 * @source rules#api-keys.4, rules#operators.5
 */
export interface CredentialCache {
  get(hash: string): CachedCredential | undefined
  /** The running look-up of a hash, if any. */
  underWay(hash: string): Promise<Credential | undefined> | undefined
  /** Looks a hash up, also for deactivated credentials. @throws DatabaseUnavailable · QueueFull */
  lookUp(hash: string): Promise<Credential | undefined>
  /** Drops all credentials, and the results of look-ups under way. */
  clear(): void
}

/** Look-ups that arrive during one form the next batch. More of them than a process has connections. */
const LOOKUPS_MAX = 5_000

/** @param credentialsMax number of cached credentials */
export function createCredentialCache(database: Database, clock: Clock, credentialsMax: number): CredentialCache {
  const cached = new LRUCache<string, { readonly credential: Credential; readonly askedAt: number }>({
    max: credentialsMax,
  })
  const underWay = new Map<string, Promise<Credential | undefined>>()
  let clearedAt = Number.NEGATIVE_INFINITY

  const batcher = createBatcher<string, Credential | undefined>(
    async (hashes) => {
      const rows = await database.rows(findStatement, [hashes.map((hash) => Buffer.from(hash, 'hex'))])
      const found = new Map(rows.map((row) => [row.hash.toString('hex'), credentialOf(row)]))
      return hashes.map((hash) => ({ result: found.get(hash) }))
    },
    { batchMax: LOOKUPS_MAX, queueMax: LOOKUPS_MAX },
  )

  async function ask(hash: string): Promise<Credential | undefined> {
    // The start of the look-up counts: the credential may be deactivated before its end.
    const askedAt = clock.now()
    const credential = await batcher.submit(hash)
    if (credential === undefined || credential.isDeactivated) cached.delete(hash)
    else if (askedAt > clearedAt) cached.set(hash, { credential, askedAt })
    return credential
  }

  return {
    get: (hash) => {
      const known = cached.get(hash)
      return known && { credential: known.credential, isFresh: clock.now() - known.askedAt < limits.apiKeyCacheMs }
    },
    underWay: (hash) => underWay.get(hash),
    lookUp: (hash) => {
      const look = ask(hash).finally(() => {
        if (underWay.get(hash) === look) underWay.delete(hash)
      })
      underWay.set(hash, look)
      return look
    },
    clear: () => {
      cached.clear()
      underWay.clear()
      clearedAt = clock.now()
    },
  }
}

/** A use, in epoch milliseconds. */
export interface Use {
  readonly id: string
  readonly usedAt: number
}

/**
 * Collects the times of use of keys or operators off the request's path, each at most once a minute and process.
 * @source rules#api-keys.11
 */
export interface LastUsed {
  note(id: string): void
  /** Writes all recorded uses at once. @throws errors of the write; the uses are recorded again a minute later */
  flush(): Promise<void>
}

/** @param idsMax number of remembered ids; beyond it, some are written more often */
export function createLastUsed(clock: Clock, idsMax: number, write: (uses: readonly Use[]) => Promise<void>): LastUsed {
  const notedAt = new LRUCache<string, number>({ max: idsMax })
  const pending = new Map<string, number>()
  return {
    note: (id) => {
      const now = clock.now()
      const before = notedAt.get(id)
      if (before !== undefined && now - before < limits.lastUsedEveryMs) return
      notedAt.set(id, now)
      pending.set(id, now)
    },
    flush: async () => {
      const uses = [...pending].map(([id, usedAt]) => ({ id, usedAt }))
      pending.clear()
      if (uses.length > 0) await write(uses)
    },
  }
}

// Rows locked by others are left for the next time, since waiting could deadlock.
const markUsedStatement = statement<[ids: readonly string[], at: readonly number[]]>(
  'access.mark_used',
  `WITH used AS (SELECT * FROM unnest($1::uuid[], $2::timestamptz[]) AS u(id, at)),
        free AS (SELECT id FROM credential WHERE id = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED)
   UPDATE credential c SET last_used_at = greatest(c.last_used_at, u.at)
     FROM used u JOIN free USING (id)
    WHERE c.id = u.id`,
)

/** Stores the times of use, unless a later one is stored. */
export async function markUsed(queries: Queries, uses: readonly Use[]): Promise<void> {
  await queries.rows(markUsedStatement, [uses.map(({ id }) => id), uses.map(({ usedAt }) => usedAt)])
}
