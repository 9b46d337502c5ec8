import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import type { OnPreviousSecretUsed } from '../platform/secrets.ts'
import { createAccessHandlers, ensureSandboxOperators } from './api.ts'
import {
  type ConfiguredTokens,
  createApiKeyAuthenticator,
  createApiKeyAuthorizer,
  createOperatorAuthenticator,
  createOperatorAuthorizer,
} from './authenticate.ts'
import { createCredentialCache, createLastUsed, deactivatedAt, type Mode, markUsed } from './credentials.ts'
import { allOperators, deactivationCount, hasAdmin } from './operators.ts'
import { createRefusalReports, type OnRefused } from './refusals.ts'

export { markUsed } from './credentials.ts'
export { HoldersChanged, isApprover, isCreatedBy, isSamePerson, lockActiveOperator, type Person } from './operators.ts'
export { REFUSAL_REASONS } from './refusals.ts'

export interface AccessOptions extends ConfiguredTokens {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly mode: Mode
  /** Requests per key; 0: unlimited. */
  readonly rateLimitPerMinute: number
  readonly onRefused: OnRefused
  readonly onPreviousSecretUsed: OnPreviousSecretUsed
}

/** More credentials than any installation uses concurrently. */
const CREDENTIALS_MAX = 2_000

export type AccessModule = ReturnType<typeof createAccessModule>

/** Operators, API keys and configured tokens: who calls, and what they may do. */
export function createAccessModule(options: AccessOptions) {
  const { database, clock, logger, onRefused } = options
  const cache = createCredentialCache(database, clock, CREDENTIALS_MAX)
  const lastUsed = createLastUsed(clock, CREDENTIALS_MAX, (uses) => markUsed(database, uses))
  const reports = createRefusalReports(logger, onRefused)
  const shared = { ...options, cache, lastUsed, reports }
  return {
    handlers: createAccessHandlers(shared),
    authenticateKey: createApiKeyAuthenticator(shared),
    authorizeKey: createApiKeyAuthorizer({ ...shared, keysMax: CREDENTIALS_MAX }),
    authenticateOperator: createOperatorAuthenticator({ ...shared, hasAdmin: () => hasAdmin(database) }),
    authorizeOperator: createOperatorAuthorizer(reports),
    /** Two people for the sandbox: one orders, the other approves. @source rules#console.3 */
    sandboxOperators: () => ensureSandboxOperators(options),
    /** All operators ever created, in their current state. @throws DatabaseUnavailable */
    allOperators: () => allOperators(database),
    /**
     * Number of deactivations of keys and operators. Read it before the list: if it has changed at the commit, the list
     * is stale.
     * @throws DatabaseUnavailable
     */
    deactivationCount: () => deactivationCount(database),
    /** Deactivation times by id of an API key or operator; `null` for active ones. @throws DatabaseUnavailable */
    deactivatedAt: (ids: readonly string[]) => deactivatedAt(database, ids),
    /** @source rules#api-keys.11, rules#operators.4 */
    writeLastUsed: lastUsed.flush,
  }
}
