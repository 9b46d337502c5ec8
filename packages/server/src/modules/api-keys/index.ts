import { type Authenticate, createAdminAuthenticator, createApiKeyAuthenticator } from './authenticate.ts'
import type { GenerateDependencies } from './commands.ts'
import { type ApiKeyHandlers, createApiKeyHandlers } from './routes.ts'

export type { ApiKeyMode } from './key.ts'

/** API keys: how they are made and who they let in. */
export interface ApiKeysModule {
  readonly handlers: ApiKeyHandlers
  /** For endpoints whose credential is `api-key`. */
  readonly authenticateApiKey: Authenticate
  /** For endpoints whose credential is `admin`. */
  readonly authenticateAdmin: Authenticate
}

/** What the module needs. */
export interface ApiKeysOptions extends GenerateDependencies {
  /** `PIXGATE_ADMIN_TOKEN`. */
  readonly adminToken: string
}

/** Builds the module. */
export function createApiKeysModule(options: ApiKeysOptions): ApiKeysModule {
  const { database, clock, mode, adminToken } = options
  return {
    handlers: createApiKeyHandlers(options),
    authenticateApiKey: createApiKeyAuthenticator(database, clock, mode),
    authenticateAdmin: createAdminAuthenticator(adminToken),
  }
}
