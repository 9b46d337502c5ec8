import type { RefusalReports } from '../credentials/reports.ts'
import type { Clock } from '../platform/clock.ts'
import { type AuthenticateOperator, createOperatorAuthenticator } from './authenticate.ts'

/** Who operates the service, and how they are told. */
export interface OperatorsModule {
  /** For endpoints whose credential is `admin`. */
  readonly authenticate: AuthenticateOperator
}

/** What the module needs. */
export interface OperatorsOptions {
  readonly clock: Clock
  /** `PIXGATE_ADMIN_TOKEN`. */
  readonly adminToken: string
  /** `PIXGATE_METRICS_TOKEN`. */
  readonly metricsToken?: string | undefined
  readonly reports: RefusalReports
}

/** Builds the module. */
export function createOperatorsModule(options: OperatorsOptions): OperatorsModule {
  return { authenticate: createOperatorAuthenticator(options) }
}
