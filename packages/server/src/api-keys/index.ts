import { createLastUsed, type RefusalReports } from '../credentials/credentials.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { type ApiKeyHandlers, createApiKeyHandlers } from './api.ts'
import {
  type AdmitApiKey,
  type AuthenticateApiKey,
  createApiKeyAdmission,
  createApiKeyAuthenticator,
  createKeyLookup,
  createVerifiedKeys,
} from './authenticate.ts'
import { type ApiKeyMode, findDeactivatedAt, markUsed } from './keys.ts'

export type { ApiKeyMode } from './keys.ts'

/** Deactivation times by key id; `null` for active keys. */
export type DeactivatedAt = (ids: readonly string[]) => Promise<ReadonlyMap<string, number | null>>

export interface ApiKeysModule {
  readonly handlers: ApiKeyHandlers
  readonly authenticate: AuthenticateApiKey
  readonly admit: AdmitApiKey
  /** Deactivation times by key id, epoch milliseconds, read from the database. @throws DatabaseUnavailable */
  readonly deactivatedAt: DeactivatedAt
  /** @source rules#api-keys.11 */
  readonly writeLastUsed: () => Promise<void>
}

export interface ApiKeysOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly mode: ApiKeyMode
  /** Requests per key; 0: unlimited. */
  readonly rateLimitPerMinute: number
  readonly reports: RefusalReports
}

/** More keys than any installation uses concurrently. */
const KEYS_MAX = 1_000

export function createApiKeysModule(options: ApiKeysOptions): ApiKeysModule {
  const { database, clock } = options
  const verified = createVerifiedKeys(clock, KEYS_MAX)
  const lookup = createKeyLookup(database, clock, verified)
  const lastUsed = createLastUsed(clock, KEYS_MAX, (uses) => markUsed(database, uses))
  return {
    handlers: createApiKeyHandlers({ ...options, verified }),
    authenticate: createApiKeyAuthenticator({ ...options, verified, lookup, lastUsed }),
    admit: createApiKeyAdmission({ ...options, keysMax: KEYS_MAX }),
    deactivatedAt: (ids) => findDeactivatedAt(database, ids),
    writeLastUsed: lastUsed.flush,
  }
}
