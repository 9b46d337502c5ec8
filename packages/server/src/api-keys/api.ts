import { randomBytes } from 'node:crypto'
import { type endpoints, limits, Refusal } from '@pixgate/spec'
import { insertAudit, type Operator, operatorOf } from '../audit/trail.ts'
import { namedOperatorOf } from '../credentials/credentials.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256 } from '../platform/crypto.ts'
import { type Database, refusableTransaction } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import type { VerifiedKeys } from './authenticate.ts'
import {
  type ApiKeyMode,
  displayOf,
  formatKey,
  insertKey,
  type KeyRequest,
  keyPage,
  listKeys,
  markAllDeactivated,
  markDeactivated,
  SECRET_BYTES,
  type StoredKey,
  shownTerms,
  termsOf,
} from './keys.ts'

export interface ApiKeyDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly mode: ApiKeyMode
  readonly verified: VerifiedKeys
}

/** A new key; its text exists only here. */
export interface GeneratedKey {
  readonly apiKey: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/**
 * Creates a key, with an audit row. If the answer is lost, the key remains unused; the caller creates another.
 * @throws Refusal validation_error (400) · DatabaseUnavailable · Refusal overloaded (503) the request has lapsed
 * @source rules#api-keys.1, failure-modes#PL-4
 */
export async function generateKey(
  { database, clock, ids, mode }: ApiKeyDependencies,
  { createdBy, ...request }: KeyRequest & Pick<StoredKey, 'createdBy'>,
  operator: Operator,
  live: LiveRequest,
): Promise<GeneratedKey> {
  const apiKey = formatKey(mode, randomBytes(SECRET_BYTES))
  const display = displayOf(apiKey)
  const keyId = ids.uuid()
  const at = clock.now()
  const terms = termsOf(request, at)
  await database.transaction(async (queries) => {
    refuseLapsed(live)
    await insertKey(queries, { ...terms, id: keyId, hash: sha256(apiKey), display, createdAt: at, createdBy })
    await insertAudit(queries, {
      ...operator,
      id: ids.uuid(),
      at,
      action: 'api_key.generated',
      subject: keyId,
      facts: { display, ...shownTerms(terms) },
    })
  })
  return { apiKey, createdAt: at }
}

/**
 * Deactivates a key for ever, with an audit row. Takes effect here at once, in other processes at their next look-up.
 * @throws Refusal not_found (404) when it is unknown or already deactivated · overloaded (503) the request has lapsed ·
 * DatabaseUnavailable
 * @source rules#api-keys.4, rules#api-keys.6
 */
export async function deactivateKey(
  { database, clock, ids, verified }: ApiKeyDependencies,
  keyId: string,
  operator: Operator,
  live: LiveRequest,
): Promise<void> {
  if (!isUuid(keyId)) throw new Refusal('not_found')
  const at = clock.now()
  await refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    const display = await markDeactivated(queries, keyId, at)
    if (display === undefined) throw new Refusal('not_found')
    await insertAudit(queries, {
      ...operator,
      id: ids.uuid(),
      at,
      action: 'api_key.deactivated',
      subject: keyId,
      facts: { display },
    })
  })
  verified.clear()
}

/**
 * Deactivates every active key for ever, with an audit row that names the reason and the keys. Takes effect here at
 * once, in other processes at their next look-up.
 * @returns the number of keys
 * @throws Refusal overloaded (503) the request has lapsed · DatabaseUnavailable
 * @source rules#api-keys.14
 */
async function deactivateAllKeys(
  { database, clock, ids, verified }: ApiKeyDependencies,
  reason: string,
  operator: Operator,
  live: LiveRequest,
): Promise<number> {
  const at = clock.now()
  const count = await database.transaction(async (queries) => {
    refuseLapsed(live)
    const keys = await markAllDeactivated(queries, at)
    await insertAudit(queries, {
      ...operator,
      id: ids.uuid(),
      at,
      action: 'api_key.all_deactivated',
      subject: 'api_key',
      facts: { reason, keys: keys.map(({ id }) => id) },
    })
    return keys.length
  })
  verified.clear()
  return count
}

export type ApiKeyHandlers = Handlers<
  Pick<typeof endpoints, 'generateApiKey' | 'listApiKeys' | 'deactivateApiKey' | 'deactivateAllApiKeys'>
>

export function createApiKeyHandlers(dependencies: ApiKeyDependencies): ApiKeyHandlers {
  return {
    generateApiKey: async ({ body, context }) => {
      const request = { ...body, createdBy: namedOperatorOf(context.caller) }
      const { apiKey, createdAt } = await generateKey(dependencies, request, operatorOf(context), context.live)
      return { status: 201, body: { apiKey, createdAt: new Date(createdAt).toISOString() } }
    },
    listApiKeys: async ({ query: { cursor, limit = limits.pageLimitDefault } }) => {
      // One extra row reveals whether more exist.
      const keys = await listKeys(dependencies.database, cursor, limit + 1)
      return { status: 200, body: keyPage(keys, limit) }
    },
    deactivateApiKey: async ({ params, context }) => {
      await deactivateKey(dependencies, params.id, operatorOf(context), context.live)
      return { status: 204 }
    },
    deactivateAllApiKeys: async ({ body: { reason }, context }) => {
      const deactivatedCount = await deactivateAllKeys(dependencies, reason, operatorOf(context), context.live)
      return { status: 200, body: { deactivatedCount } }
    },
  }
}
