import type { ApiKeyScope, Caps } from '@pixgate/spec'
import type { Use } from '../credentials/last-used.ts'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'

/** All SQL of the API keys module. */

/** What a key is for, as whoever makes it says. */
export interface KeyTerms extends Caps {
  readonly name: string | null
  readonly scopes: readonly ApiKeyScope[]
  /** `null`: from anywhere. */
  readonly cidrs: readonly string[] | null
  /** Epoch milliseconds; `null`: never. */
  readonly expiresAt: number | null
}

/** A key as it is kept: never the key itself. */
export interface StoredKey extends KeyTerms {
  readonly id: string
  /** SHA-256 of the key. */
  readonly hash: Buffer
  readonly display: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The operator who made it; `null`: the administrative token. */
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
  'apiKeys.insertKey',
  `INSERT INTO api_key (id, hash, display, created_at, created_by, name, scopes, cidrs, expires_at, cap_payment_cents,
                        cap_hour_cents, cap_day_cents, cap_night_cents, cap_new_recipient_cents)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
)

/** Adds a key. */
export async function insertKey(queries: Queries, key: StoredKey): Promise<void> {
  const { id, hash, display, createdAt, createdBy, name, scopes, cidrs, expiresAt } = key
  const { paymentCents, hourCents, dayCents, nightCents, newRecipientCents } = key
  await queries.rows(insertKeyStatement, [
    ...([id, hash, display, instantParameter(createdAt), createdBy] as const),
    ...([name, scopes, cidrs, expiresAt === null ? null : instantParameter(expiresAt)] as const),
    ...([paymentCents, hourCents, dayCents, nightCents, newRecipientCents] as const),
  ])
}

/** The columns of {@link KeyTerms}. */
const TERMS = `name, scopes, cidrs, expires_at AS "expiresAt", cap_payment_cents AS "paymentCents",
  cap_hour_cents AS "hourCents", cap_day_cents AS "dayCents", cap_night_cents AS "nightCents",
  cap_new_recipient_cents AS "newRecipientCents"`

/** A key as it is looked for by its hash. */
export interface FoundKey extends KeyTerms {
  readonly id: string
  readonly hash: Buffer
  /** The operator who made it; `null`: the administrative token did. */
  readonly createdBy: string | null
  /** Epoch milliseconds. */
  readonly deactivatedAt: number | null
}

const findKeysStatement = statement<[hashes: readonly Buffer[]], FoundKey>(
  'apiKeys.findKeys',
  `SELECT id, hash, created_by AS "createdBy", deactivated_at AS "deactivatedAt", ${TERMS} FROM api_key WHERE hash = ANY($1::bytea[])`,
)

/** The keys that have one of these hashes, deactivated ones too. */
export function findKeys(queries: Queries, hashes: readonly Buffer[]): Promise<FoundKey[]> {
  return queries.rows(findKeysStatement, [hashes])
}

const deactivatedAtStatement = statement<[ids: readonly string[]], { id: string; deactivatedAt: number | null }>(
  'apiKeys.deactivatedAt',
  'SELECT id, deactivated_at AS "deactivatedAt" FROM api_key WHERE id = ANY($1::uuid[])',
)

/** Of keys by their ids, when each was deactivated, epoch milliseconds; `null`: it is active. */
export async function findDeactivatedAt(
  queries: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number | null>> {
  const rows = ids.length === 0 ? [] : await queries.rows(deactivatedAtStatement, [ids])
  return new Map(rows.map(({ id, deactivatedAt }) => [id, deactivatedAt]))
}

/** A key as it is shown. */
export interface ListedKey extends KeyTerms {
  readonly id: string
  readonly display: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly createdBy: string | null
  readonly lastUsedAt: number | null
  readonly deactivatedAt: number | null
}

// The ids are UUIDv7, which sort by the time they were made.
const listKeysStatement = statement<[before: string | null, limit: number], ListedKey>(
  'apiKeys.listKeys',
  `SELECT id, display, created_at AS "createdAt", created_by AS "createdBy", last_used_at AS "lastUsedAt",
          deactivated_at AS "deactivatedAt", ${TERMS}
     FROM api_key
    WHERE $1::uuid IS NULL OR id < $1
    ORDER BY id DESC
    LIMIT $2`,
)

/** Keys older than `before`, or the newest, newest first. */
export function listKeys(queries: Queries, before: string | undefined, limit: number): Promise<ListedKey[]> {
  return queries.rows(listKeysStatement, [before ?? null, limit])
}

const deactivateKeyStatement = statement<[id: string, at: string], { display: string }>(
  'apiKeys.deactivateKey',
  'UPDATE api_key SET deactivated_at = $2 WHERE id = $1 AND deactivated_at IS NULL RETURNING display',
)

/**
 * Marks a key as deactivated.
 * @returns its display, or `undefined` where there was no active one
 */
export async function markDeactivated(queries: Queries, id: string, nowMs: number): Promise<string | undefined> {
  const [key] = await queries.rows(deactivateKeyStatement, [id, instantParameter(nowMs)])
  return key?.display
}

// In the order of the ids, so that two who ask for it at the same time cannot wait for each other.
const deactivateAllStatement = statement<[at: string], { id: string; display: string }>(
  'apiKeys.deactivateAll',
  `WITH active AS (SELECT id FROM api_key WHERE deactivated_at IS NULL ORDER BY id FOR NO KEY UPDATE)
   UPDATE api_key k SET deactivated_at = $1 FROM active WHERE k.id = active.id
   RETURNING k.id, k.display`,
)

/** Marks every active key as deactivated. @returns which those were */
export function markAllDeactivated(queries: Queries, nowMs: number) {
  return queries.rows(deactivateAllStatement, [instantParameter(nowMs)])
}

// What somebody else holds is left for the next time: waiting for it might be waiting for each other.
const markUsedStatement = statement<[ids: readonly string[], at: readonly number[]]>(
  'apiKeys.markUsed',
  `WITH used AS (SELECT * FROM unnest($1::uuid[], $2::timestamptz[]) AS u(id, at)),
        free AS (SELECT id FROM api_key WHERE id = ANY($1) FOR NO KEY UPDATE SKIP LOCKED)
   UPDATE api_key k SET last_used_at = greatest(k.last_used_at, u.at)
     FROM used u JOIN free USING (id)
    WHERE k.id = u.id`,
)

/** Notes when keys were used, where nothing later is noted. */
export async function markUsed(queries: Queries, uses: readonly Use[]): Promise<void> {
  await queries.rows(markUsedStatement, [uses.map(({ id }) => id), uses.map(({ usedAt }) => usedAt)])
}
