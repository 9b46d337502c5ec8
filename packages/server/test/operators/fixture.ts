import { createLastUsed, createRefusalReports, type OnRefused } from '../../src/credentials/credentials.ts'
import {
  type AuthenticateOperator,
  type ConfiguredTokens,
  createOperatorAuthenticator,
  createRoster,
} from '../../src/operators/authenticate.ts'
import type { ActiveOperator } from '../../src/operators/operators.ts'
import type { Database } from '../../src/platform/db/database.ts'
import type { Logger } from '../../src/platform/log.ts'
import type { OnPreviousSecret } from '../../src/platform/secrets.ts'
import { capturedLog } from '../support/captured-log.ts'

/** What the operators of these tests show. */
export const ADMIN_TOKEN = 'the-administrative-token-of-this-test'
export const METRICS_TOKEN = 'the-token-of-whoever-scrapes-of-this-test'

/** A database that has these operators, and how often it was asked. */
export function databaseWith(...operators: ActiveOperator[]): { database: Database; asked: () => number } {
  let count = 0
  const database = {
    rows: async () => {
      count += 1
      return [...operators]
    },
  } as unknown as Database
  return { database, asked: () => count }
}

interface Given {
  readonly database?: Database
  readonly logger?: Logger
  readonly onRefused?: OnRefused
  /** Besides or instead of those above. */
  readonly tokens?: Partial<ConfiguredTokens>
  readonly onPreviousSecret?: OnPreviousSecret
}

/** An operator's door as one process of the sandbox has it. */
export function operatorAuthenticator(clock: { now(): number }, given: Given = {}): AuthenticateOperator {
  const { database = databaseWith().database, logger = capturedLog().logger, onRefused } = given
  return createOperatorAuthenticator({
    adminToken: ADMIN_TOKEN,
    metricsToken: METRICS_TOKEN,
    ...given.tokens,
    ...(given.onPreviousSecret && { onPreviousSecret: given.onPreviousSecret }),
    mode: 'sandbox',
    roster: createRoster(database, clock),
    lastUsed: createLastUsed(clock, 10, async () => undefined),
    clock,
    reports: createRefusalReports(logger, onRefused),
  })
}
