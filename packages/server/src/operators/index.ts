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

/** Who operates the service: how operators are made and deactivated, who they are, and what they may do. */
export interface OperatorsModule {
  readonly handlers: OperatorsHandlers
  /** For endpoints whose credential is `admin`. */
  readonly authenticate: AuthenticateOperator
  /** Of those who are known, who may call this. */
  readonly admit: AdmitOperator
  /** All operators there ever were, as they are now: of the database. @throws DatabaseUnavailable */
  readonly everybody: () => Promise<readonly Person[]>
  /** How often keys and operators were deactivated: to be read before who holds them. @throws DatabaseUnavailable */
  readonly holdersVersion: () => Promise<bigint>
  /** Writes when operators used their tokens. @source rules#operators.4 */
  readonly writeLastUsed: () => Promise<void>
}

/** What the module needs. */
export interface OperatorsOptions extends ConfiguredTokens {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly mode: Mode
  readonly onPreviousSecret: OnPreviousSecret
  readonly reports: RefusalReports
}

/** More people than anybody has. */
const OPERATORS_MAX = 1_000

/** Builds the module. */
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
