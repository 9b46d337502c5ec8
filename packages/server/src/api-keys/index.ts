import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import {
  type AdminTokens,
  type Authenticate,
  createAdminAuthenticator,
  createApiKeyAuthenticator,
} from './authenticate.ts'
import type { ApiKeyMode } from './key.ts'
import { type ApiKeyHandlers, createApiKeyHandlers } from './routes.ts'
import { createVerifiedKeys } from './verified-keys.ts'

export type { ApiKeyMode } from './key.ts'

/** API keys: how they are made and deactivated, who they let in, and how often. */
export interface ApiKeysModule {
  readonly handlers: ApiKeyHandlers
  /** For endpoints whose credential is `api-key`. */
  readonly authenticateApiKey: Authenticate
  /** For endpoints whose credential is `admin`. */
  readonly authenticateAdmin: Authenticate
}

/** What the module needs. */
export interface ApiKeysOptions extends AdminTokens {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly mode: ApiKeyMode
  /** Requests of one key; 0: as many as it likes. */
  readonly rateLimitPerMinute: number
}

/** More keys than anybody uses at a time. */
const KEYS_MAX = 1_000

/** Builds the module. */
export function createApiKeysModule(options: ApiKeysOptions): ApiKeysModule {
  const verified = createVerifiedKeys(options.clock, KEYS_MAX)
  return {
    handlers: createApiKeyHandlers({ ...options, verified }),
    authenticateApiKey: createApiKeyAuthenticator({ ...options, verified, keysMax: KEYS_MAX }),
    authenticateAdmin: createAdminAuthenticator(options),
  }
}
