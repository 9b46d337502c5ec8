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

/** When keys were deactivated, by their ids; `null`: it is active. */
export type DeactivatedAt = (ids: readonly string[]) => Promise<ReadonlyMap<string, number | null>>

/** API keys: how they are made and deactivated, who they let in, for what, and how often. */
export interface ApiKeysModule {
  readonly handlers: ApiKeyHandlers
  /** For endpoints whose credential is `api-key`. */
  readonly authenticate: AuthenticateApiKey
  /** Of those who are known, who may call this now. */
  readonly admit: AdmitApiKey
  /** Of keys by their ids, when each was deactivated, epoch milliseconds: of the database. @throws DatabaseUnavailable */
  readonly deactivatedAt: DeactivatedAt
  /** Writes when keys were used. @source rules#api-keys.11 */
  readonly writeLastUsed: () => Promise<void>
}

/** What the module needs. */
export interface ApiKeysOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly mode: ApiKeyMode
  /** Requests of one key; 0: as many as it likes. */
  readonly rateLimitPerMinute: number
  readonly reports: RefusalReports
}

/** More keys than anybody uses at a time. */
const KEYS_MAX = 1_000

/** Builds the module. */
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
