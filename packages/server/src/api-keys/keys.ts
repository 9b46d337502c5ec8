import {
  API_KEY_PATTERN,
  type ApiKeyScope,
  apiKeyScopes,
  type Caps,
  type EndpointInput,
  type generateApiKey,
  type listApiKeys,
  Refusal,
} from '@pixgate/spec'
import type { Static } from 'typebox'
import { tokenKind, type Use } from '../credentials/credentials.ts'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import { isNetwork, type Networks, networksOf } from '../platform/networks.ts'

export { type Mode as ApiKeyMode, SECRET_BYTES } from '../credentials/credentials.ts'

/** Format of API keys. @source rules#api-keys.2 */
export const {
  format: formatKey,
  modeOf,
  displayOf,
  length: KEY_LENGTH,
} = tokenKind(API_KEY_PATTERN, { sandbox: 'pix_test_', production: 'pix_live_' })

export interface KnownKey {
  readonly id: string
  readonly scopes: ReadonlySet<ApiKeyScope>
  /** Allowed networks; absent: any. */
  readonly networks?: Networks
  /** Epoch milliseconds; `null`: never. */
  readonly expiresAt: number | null
  readonly caps?: Caps
  /** The operator who created it; absent: the administrative token did. */
  readonly madeBy?: string
  readonly isDeactivated: boolean
}

export function knownKey({ id, scopes, cidrs, expiresAt, createdBy, deactivatedAt, ...caps }: FoundKey): KnownKey {
  const { paymentCents, hourCents, dayCents, nightCents, newRecipientCents } = caps
  const given: Caps = { paymentCents, hourCents, dayCents, nightCents, newRecipientCents }
  return {
    id,
    scopes: new Set(scopes),
    ...(cidrs && { networks: networksOf(cidrs) }),
    expiresAt,
    ...(Object.values(given).some((cents) => cents !== null) && { caps: given }),
    ...(createdBy !== null && { madeBy: createdBy }),
    isDeactivated: deactivatedAt !== null,
  }
}

/** The reason to refuse a known key, if any. Never shown to the caller. @source rules#api-keys.9, rules#api-keys.10 */
export function faultOf(key: KnownKey, address: string, nowMs: number) {
  if (key.isDeactivated) return 'deactivated'
  if (key.expiresAt !== null && nowMs >= key.expiresAt) return 'expired'
  if (key.networks?.include(address) === false) return 'wrong_address'
  return undefined
}

export type KeyRequest = EndpointInput<typeof generateApiKey>['body']

/** The last instant with a four-digit year. */
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Validates the requested terms; omitted ones limit nothing.
 * @throws Refusal validation_error (400) for an invalid network, or an expiry in the past or beyond the year 9999
 * @source rules#api-keys.8, rules#api-keys.9, rules#api-keys.10, rules#api-keys.13
 */
export function termsOf({ name, scopes, cidrs, expiresAt, caps = {} }: KeyRequest, nowMs: number): KeyTerms {
  const wrong = cidrs?.findIndex((text) => !isNetwork(text)) ?? -1
  if (wrong >= 0)
    throw faulty(`cidrs[${wrong}]`, 'format', 'must be an IP address, or one with its prefix: 203.0.113.0/24')
  const expiry = expiresAt === undefined ? null : Date.parse(expiresAt)
  if (expiry !== null && (expiry <= nowMs || expiry > LATEST)) {
    throw faulty('expiresAt', 'out_of_range', 'must be in the future, and no later than the year 9999 in UTC')
  }
  return {
    name: name ?? null,
    scopes: scopes ?? apiKeyScopes,
    cidrs: cidrs ?? null,
    expiresAt: expiry,
    paymentCents: centsOrNull(caps.paymentCents),
    hourCents: centsOrNull(caps.hourCents),
    dayCents: centsOrNull(caps.dayCents),
    nightCents: centsOrNull(caps.nightCents),
    newRecipientCents: centsOrNull(caps.newRecipientCents),
  }
}

/** The terms for the audit trail. */
export function shownTerms({ name, scopes, cidrs, expiresAt, ...caps }: KeyTerms): Readonly<Record<string, unknown>> {
  const { paymentCents, hourCents, dayCents, nightCents, newRecipientCents } = caps
  const given = Object.entries({ paymentCents, hourCents, dayCents, nightCents, newRecipientCents })
  return {
    name,
    scopes,
    cidrs,
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    caps: Object.fromEntries(given.map(([cap, cents]) => [cap, cents === null ? null : Number(cents)])),
  }
}

function faulty(field: string, code: string, rule: string): Refusal {
  const message = `${field} ${rule}`
  return new Refusal('validation_error', { message, fields: [{ field, code, message }] })
}

function centsOrNull(cents: number | undefined): bigint | null {
  return cents === undefined ? null : BigInt(cents)
}

type ApiKeyPage = Static<(typeof listApiKeys)['responses'][200]['schema']>

/** The envelope of a page. @param keys one more than the limit if there are more */
export function keyPage(keys: readonly ListedKey[], limit: number): ApiKeyPage {
  const data = keys.slice(0, limit).map(keyView)
  const hasMore = keys.length > limit
  return { data, pagination: { limit, hasMore, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null } }
}

function keyView(key: ListedKey): ApiKeyPage['data'][number] {
  const { id, display, name, scopes, cidrs, createdAt, createdBy, expiresAt, lastUsedAt, deactivatedAt } = key
  return {
    id,
    display,
    name,
    scopes: [...scopes],
    cidrs: cidrs && [...cidrs],
    caps: {
      paymentCents: centsOf(key.paymentCents),
      hourCents: centsOf(key.hourCents),
      dayCents: centsOf(key.dayCents),
      nightCents: centsOf(key.nightCents),
      newRecipientCents: centsOf(key.newRecipientCents),
    },
    createdAt: new Date(createdAt).toISOString(),
    createdBy,
    expiresAt: instantOf(expiresAt),
    lastUsedAt: instantOf(lastUsedAt),
    deactivatedAt: instantOf(deactivatedAt),
  }
}

function centsOf(cents: bigint | null): number | null {
  return cents === null ? null : Number(cents)
}

function instantOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

export interface KeyTerms extends Caps {
  readonly name: string | null
  readonly scopes: readonly ApiKeyScope[]
  /** `null`: any network. */
  readonly cidrs: readonly string[] | null
  /** Epoch milliseconds; `null`: never. */
  readonly expiresAt: number | null
}

/** A stored key, without the key itself. */
export interface StoredKey extends KeyTerms {
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
  'apiKeys.insertKey',
  `INSERT INTO api_key (id, hash, display, created_at, created_by, name, scopes, cidrs, expires_at, cap_payment_cents,
                        cap_hour_cents, cap_day_cents, cap_night_cents, cap_new_recipient_cents)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
)

export async function insertKey(queries: Queries, key: StoredKey): Promise<void> {
  const { id, hash, display, createdAt, createdBy, name, scopes, cidrs, expiresAt } = key
  const { paymentCents, hourCents, dayCents, nightCents, newRecipientCents } = key
  await queries.rows(insertKeyStatement, [
    ...([id, hash, display, instantParameter(createdAt), createdBy] as const),
    ...([name, scopes, cidrs, expiresAt === null ? null : instantParameter(expiresAt)] as const),
    ...([paymentCents, hourCents, dayCents, nightCents, newRecipientCents] as const),
  ])
}

const TERMS = `name, scopes, cidrs, expires_at AS "expiresAt", cap_payment_cents AS "paymentCents",
  cap_hour_cents AS "hourCents", cap_day_cents AS "dayCents", cap_night_cents AS "nightCents",
  cap_new_recipient_cents AS "newRecipientCents"`

export interface FoundKey extends KeyTerms {
  readonly id: string
  readonly hash: Buffer
  /** The operator who created it; `null`: the administrative token did. */
  readonly createdBy: string | null
  /** Epoch milliseconds. */
  readonly deactivatedAt: number | null
}

const findKeysStatement = statement<[hashes: readonly Buffer[]], FoundKey>(
  'apiKeys.findKeys',
  `SELECT id, hash, created_by AS "createdBy", deactivated_at AS "deactivatedAt", ${TERMS} FROM api_key WHERE hash = ANY($1::bytea[])`,
)

/** The keys with these hashes, including deactivated ones. */
export function findKeys(queries: Queries, hashes: readonly Buffer[]): Promise<FoundKey[]> {
  return queries.rows(findKeysStatement, [hashes])
}

const deactivatedAtStatement = statement<[ids: readonly string[]], { id: string; deactivatedAt: number | null }>(
  'apiKeys.deactivatedAt',
  'SELECT id, deactivated_at AS "deactivatedAt" FROM api_key WHERE id = ANY($1::uuid[])',
)

/** Deactivation times by key id, epoch milliseconds; `null` for active keys. */
export async function findDeactivatedAt(
  queries: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number | null>> {
  const rows = ids.length === 0 ? [] : await queries.rows(deactivatedAtStatement, [ids])
  return new Map(rows.map(({ id, deactivatedAt }) => [id, deactivatedAt]))
}

export interface ListedKey extends KeyTerms {
  readonly id: string
  readonly display: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly createdBy: string | null
  readonly lastUsedAt: number | null
  readonly deactivatedAt: number | null
}

// Ids are UUIDv7, which sort by creation.
const listKeysStatement = statement<[before: string | null, limit: number], ListedKey>(
  'apiKeys.listKeys',
  `SELECT id, display, created_at AS "createdAt", created_by AS "createdBy", last_used_at AS "lastUsedAt",
          deactivated_at AS "deactivatedAt", ${TERMS}
     FROM api_key
    WHERE $1::uuid IS NULL OR id < $1
    ORDER BY id DESC
    LIMIT $2`,
)

/** The next keys before `before`, newest first. */
export function listKeys(queries: Queries, before: string | undefined, limit: number): Promise<ListedKey[]> {
  return queries.rows(listKeysStatement, [before ?? null, limit])
}

const deactivateKeyStatement = statement<[id: string, at: string], { display: string }>(
  'apiKeys.deactivateKey',
  'UPDATE api_key SET deactivated_at = $2 WHERE id = $1 AND deactivated_at IS NULL RETURNING display',
)

/** Marks a key as deactivated. @returns its display, or `undefined` if there was no active one */
export async function markDeactivated(queries: Queries, id: string, nowMs: number): Promise<string | undefined> {
  const [key] = await queries.rows(deactivateKeyStatement, [id, instantParameter(nowMs)])
  return key?.display
}

// Locks in the order of the ids, so that concurrent calls cannot deadlock.
const deactivateAllStatement = statement<[at: string], { id: string; display: string }>(
  'apiKeys.deactivateAll',
  `WITH active AS (SELECT id FROM api_key WHERE deactivated_at IS NULL ORDER BY id FOR NO KEY UPDATE)
   UPDATE api_key k SET deactivated_at = $1 FROM active WHERE k.id = active.id
   RETURNING k.id, k.display`,
)

/** Marks every active key as deactivated. @returns those keys */
export function markAllDeactivated(queries: Queries, nowMs: number) {
  return queries.rows(deactivateAllStatement, [instantParameter(nowMs)])
}

// Rows locked by others are left for the next time, since waiting could deadlock.
const markUsedStatement = statement<[ids: readonly string[], at: readonly number[]]>(
  'apiKeys.markUsed',
  `WITH used AS (SELECT * FROM unnest($1::uuid[], $2::timestamptz[]) AS u(id, at)),
        free AS (SELECT id FROM api_key WHERE id = ANY($1) FOR NO KEY UPDATE SKIP LOCKED)
   UPDATE api_key k SET last_used_at = greatest(k.last_used_at, u.at)
     FROM used u JOIN free USING (id)
    WHERE k.id = u.id`,
)

/** Stores the times of use, unless a later one is stored. */
export async function markUsed(queries: Queries, uses: readonly Use[]): Promise<void> {
  await queries.rows(markUsedStatement, [uses.map(({ id }) => id), uses.map(({ usedAt }) => usedAt)])
}
