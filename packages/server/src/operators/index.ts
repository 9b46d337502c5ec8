import { createLastUsed, type Mode, type RefusalReports } from '../credentials/credentials.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { OnPreviousSecret } from '../platform/secrets.ts'
import { createOperatorsHandlers, type OperatorsHandlers } from './api.ts'
import {
  type AdmitOperator,
  type AuthenticateOperator,
  type ConfiguredTokens,
  createOperatorAdmission,
  createOperatorAuthenticator,
  createRoster,
} from './authenticate.ts'
import { everybody, holdersVersion, markUsed, type Person } from './operators.ts'

export { HoldersChanged, holdActive, isApprover, isMadeBy, isSamePerson, type Person } from './operators.ts'

export interface OperatorsModule {
  readonly handlers: OperatorsHandlers
  readonly authenticate: AuthenticateOperator
  readonly admit: AdmitOperator
  /** All operators ever created, in their current state, read from the database. @throws DatabaseUnavailable */
  readonly everybody: () => Promise<readonly Person[]>
  /** Number of deactivations of keys and operators; to be read before the holders. @throws DatabaseUnavailable */
  readonly holdersVersion: () => Promise<bigint>
  /** @source rules#operators.4 */
  readonly writeLastUsed: () => Promise<void>
}

export interface OperatorsOptions extends ConfiguredTokens {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly mode: Mode
  readonly onPreviousSecret: OnPreviousSecret
  readonly reports: RefusalReports
}

/** More operators than any installation has. */
const OPERATORS_MAX = 1_000

export function createOperatorsModule(options: OperatorsOptions): OperatorsModule {
  const { database, clock, reports } = options
  const roster = createRoster(database, clock)
  const lastUsed = createLastUsed(clock, OPERATORS_MAX, (uses) => markUsed(database, uses))
  return {
    handlers: createOperatorsHandlers({ ...options, roster }),
    authenticate: createOperatorAuthenticator({ ...options, roster, lastUsed }),
    admit: createOperatorAdmission(reports),
    everybody: () => everybody(database),
    holdersVersion: () => holdersVersion(database),
    writeLastUsed: lastUsed.flush,
  }
}
