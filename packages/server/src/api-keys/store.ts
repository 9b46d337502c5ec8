import { instantParameter, type Queries, statement } from '../platform/db/database.ts'

/** All SQL of the API keys module. */

/** A key as it is kept: never the key itself. */
export interface StoredKey {
  readonly id: string
  /** SHA-256 of the key. */
  readonly hash: Buffer
  readonly display: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

const insertKeyStatement = statement<[id: string, hash: Buffer, display: string, createdAt: string]>(
  'apiKeys.insertKey',
  'INSERT INTO api_key (id, hash, display, created_at) VALUES ($1, $2, $3, $4)',
)

/** Adds a key. */
export async function insertKey(queries: Queries, { id, hash, display, createdAt }: StoredKey): Promise<void> {
  await queries.rows(insertKeyStatement, [id, hash, display, instantParameter(createdAt)])
}

const findActiveKeyStatement = statement<[hash: Buffer], { id: string }>(
  'apiKeys.findActiveKey',
  'SELECT id FROM api_key WHERE hash = $1 AND deactivated_at IS NULL',
)

/** The id of the key with this hash, unless it was deactivated. */
export async function findActiveKey(queries: Queries, hash: Buffer): Promise<string | undefined> {
  const [key] = await queries.rows(findActiveKeyStatement, [hash])
  return key?.id
}

/** A key as it is shown. */
export interface ListedKey {
  readonly id: string
  readonly display: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly deactivatedAt: number | null
}

// The ids are UUIDv7, which sort by the time they were made.
const listKeysStatement = statement<[before: string | null, limit: number], ListedKey>(
  'apiKeys.listKeys',
  `SELECT id, display, created_at AS "createdAt", deactivated_at AS "deactivatedAt"
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
