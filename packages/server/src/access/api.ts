import { randomBytes } from 'node:crypto'
import { type endpoints, limits, Refusal } from '@pixgate/spec'
import { insertAudit, type Operator, operatorOf } from '../audit/trail.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256 } from '../platform/crypto.ts'
import { type Database, refusableTransaction } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import { type KeyRequest, keyView, shownTerms, termsOf } from './api-keys.ts'
import {
  apiKeyFormat,
  type CredentialCache,
  insertKey,
  insertOperator,
  listCredentials,
  type Mode,
  markAllKeysDeactivated,
  markDeactivated,
  namedOperatorOf,
  operatorTokenFormat,
  SECRET_BYTES,
  type StoredCredential,
  type StoredOperator,
} from './credentials.ts'
import { lockAdmins, lockWithoutToken, operatorView } from './operators.ts'

export interface AccessDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly mode: Mode
  readonly cache: Pick<CredentialCache, 'clear'>
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
  { database, clock, ids, mode }: AccessDependencies,
  { createdBy, ...request }: KeyRequest & Pick<StoredCredential, 'createdBy'>,
  operator: Operator,
  live: LiveRequest,
): Promise<GeneratedKey> {
  const apiKey = apiKeyFormat.format(mode, randomBytes(SECRET_BYTES))
  const display = apiKeyFormat.displayOf(apiKey)
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
  { database, clock, ids, cache }: AccessDependencies,
  keyId: string,
  operator: Operator,
  live: LiveRequest,
): Promise<void> {
  if (!isUuid(keyId)) throw new Refusal('not_found')
  const at = clock.now()
  await refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    const key = await markDeactivated(queries, 'api_key', keyId, at)
    if (key === undefined) throw new Refusal('not_found')
    await insertAudit(queries, {
      ...operator,
      id: ids.uuid(),
      at,
      action: 'api_key.deactivated',
      subject: keyId,
      facts: { display: key.display },
    })
  })
  cache.clear()
}

/**
 * Deactivates every active key for ever, with an audit row that names the reason and the keys. Takes effect here at
 * once, in other processes at their next look-up.
 * @returns the number of keys
 * @throws Refusal overloaded (503) the request has lapsed · DatabaseUnavailable
 * @source rules#api-keys.14
 */
async function deactivateAllKeys(
  { database, clock, ids, cache }: AccessDependencies,
  reason: string,
  operator: Operator,
  live: LiveRequest,
): Promise<number> {
  const at = clock.now()
  const count = await database.transaction(async (queries) => {
    refuseLapsed(live)
    const keys = await markAllKeysDeactivated(queries, at)
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
  cache.clear()
  return count
}

/**
 * Creates an operator, with an audit row. If the answer is lost, the operator remains with an unknown token; the caller
 * creates another and deactivates this one.
 * @throws DatabaseUnavailable · Refusal overloaded (503) the request has lapsed
 * @source rules#operators.1, rules#operators.2
 */
async function createOperator(
  { database, clock, ids, mode }: AccessDependencies,
  { name, role, createdBy }: Pick<StoredOperator, 'name' | 'role' | 'createdBy'>,
  operator: Operator,
  live: LiveRequest,
): Promise<{ id: string; token: string; createdAt: number }> {
  const token = operatorTokenFormat.format(mode, randomBytes(SECRET_BYTES))
  const display = operatorTokenFormat.displayOf(token)
  const id = ids.uuid()
  const createdAt = clock.now()
  await database.transaction(async (queries) => {
    refuseLapsed(live)
    await insertOperator(queries, { id, name, role, hash: sha256(token), display, createdAt, createdBy })
    await insertAudit(queries, {
      ...operator,
      id: ids.uuid(),
      at: createdAt,
      action: 'operator.created',
      subject: id,
      facts: { name, role, display },
    })
  })
  return { id, token, createdAt }
}

/** People of the sandbox. They have no token and log in by links. @source rules#console.3 */
const SANDBOX_OPERATORS = [
  { name: 'Ana Souza', role: 'admin' },
  { name: 'Bruno Lima', role: 'approver' },
] as const satisfies readonly Pick<StoredOperator, 'name' | 'role'>[]

/** The operators of the sandbox; missing ones are created. @throws DatabaseUnavailable */
export function ensureSandboxOperators({
  database,
  clock,
  ids,
}: Pick<AccessDependencies, 'database' | 'clock' | 'ids'>) {
  return database.transaction(async (queries) => {
    const known = await lockWithoutToken(queries)
    const operators = []
    for (const { name, role } of SANDBOX_OPERATORS) {
      const existing = known.find((operator) => operator.name === name && operator.role === role)
      const id = existing?.id ?? ids.uuid()
      if (!existing) {
        const at = clock.now()
        await insertOperator(queries, { id, name, role, hash: null, display: '', createdAt: at, createdBy: null })
        const row = {
          actor: 'sandbox',
          address: '',
          id: ids.uuid(),
          at,
          subject: id,
          facts: { name, role, display: '' },
        }
        await insertAudit(queries, { ...row, action: 'operator.created' })
      }
      operators.push({ id, name, role })
    }
    return operators
  })
}

/**
 * Deactivates an operator for ever, with an audit row. Takes effect here at once, in other processes at their next
 * look-up.
 * @throws Refusal not_found (404) when it is unknown or already deactivated · last_admin (409) · overloaded (503) the
 * request has lapsed · DatabaseUnavailable
 * @source rules#operators.5
 */
async function deactivateOperator(
  { database, clock, ids, cache }: AccessDependencies,
  operatorId: string,
  operator: Operator,
  live: LiveRequest,
): Promise<void> {
  if (!isUuid(operatorId)) throw new Refusal('not_found')
  const id = operatorId.toLowerCase()
  const at = clock.now()
  await refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    const admins = await lockAdmins(queries)
    if (admins.length === 1 && admins.includes(id)) throw new Refusal('last_admin')
    const deactivated = await markDeactivated(queries, 'operator', id, at)
    if (deactivated === undefined) throw new Refusal('not_found')
    await insertAudit(queries, {
      ...operator,
      id: ids.uuid(),
      at,
      action: 'operator.deactivated',
      subject: id,
      facts: { name: deactivated.name, role: deactivated.role },
    })
  })
  cache.clear()
}

export type AccessHandlers = Handlers<
  Pick<
    typeof endpoints,
    | 'generateApiKey'
    | 'listApiKeys'
    | 'deactivateApiKey'
    | 'deactivateAllApiKeys'
    | 'createOperator'
    | 'listOperators'
    | 'deactivateOperator'
  >
>

/** A page with the cursor of the next. @param rows one more than the limit if there are more */
function pageOf<Row, View extends { readonly id: string }>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => View,
) {
  const data = rows.slice(0, limit).map(view)
  const hasMore = rows.length > limit
  return { data, pagination: { limit, hasMore, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null } }
}

export function createAccessHandlers(dependencies: AccessDependencies): AccessHandlers {
  const { database } = dependencies
  return {
    generateApiKey: async ({ body, context }) => {
      const request = { ...body, createdBy: namedOperatorOf(context.caller) }
      const { apiKey, createdAt } = await generateKey(dependencies, request, operatorOf(context), context.live)
      return { status: 201, body: { apiKey, createdAt: new Date(createdAt).toISOString() } }
    },
    listApiKeys: async ({ query: { cursor, limit = limits.pageLimitDefault } }) => {
      // One extra row reveals whether more exist.
      const keys = await listCredentials(database, 'api_key', cursor, limit + 1)
      return { status: 200, body: pageOf(keys, limit, keyView) }
    },
    deactivateApiKey: async ({ params, context }) => {
      await deactivateKey(dependencies, params.id, operatorOf(context), context.live)
      return { status: 204 }
    },
    deactivateAllApiKeys: async ({ body: { reason }, context }) => {
      const deactivatedCount = await deactivateAllKeys(dependencies, reason, operatorOf(context), context.live)
      return { status: 200, body: { deactivatedCount } }
    },
    createOperator: async ({ body: { name, role }, context }) => {
      const operator = { name, role, createdBy: namedOperatorOf(context.caller) }
      const { id, token, createdAt } = await createOperator(dependencies, operator, operatorOf(context), context.live)
      return { status: 201, body: { id, name, role, token, createdAt: new Date(createdAt).toISOString() } }
    },
    listOperators: async ({ query: { cursor, limit = limits.pageLimitDefault } }) => {
      const operators = await listCredentials(database, 'operator', cursor, limit + 1)
      return { status: 200, body: pageOf(operators, limit, operatorView) }
    },
    deactivateOperator: async ({ params, context }) => {
      await deactivateOperator(dependencies, params.id, operatorOf(context), context.live)
      return { status: 204 }
    },
  }
}
