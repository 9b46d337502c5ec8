import type { OperatorRole } from '@pixgate/spec'
import {
  type AuthenticateOperator,
  type ConfiguredTokens,
  createOperatorAuthenticator,
} from '../../src/access/authenticate.ts'
import { createCredentialCache, createLastUsed } from '../../src/access/credentials.ts'
import { hasAdmin } from '../../src/access/operators.ts'
import { createRefusalReports, type OnRefused } from '../../src/access/refusals.ts'
import type { Database } from '../../src/platform/db/database.ts'
import type { Logger } from '../../src/platform/log.ts'
import type { OnPreviousSecretUsed } from '../../src/platform/secrets.ts'
import { capturedLog } from '../support/captured-log.ts'

/** What the operators of these tests show. */
export const ADMIN_TOKEN = 'the-administrative-token-of-this-test'
export const METRICS_TOKEN = 'the-token-of-whoever-scrapes-of-this-test'

/** An operator of a test. */
export interface TestOperator {
  readonly id: string
  readonly name: string
  readonly role: OperatorRole
  readonly hash: Buffer
}

/** A database that has these operators, and how often it was asked. */
export function databaseWith(...operators: TestOperator[]): { database: Database; asked: () => number } {
  let count = 0
  const database = {
    rows: async ({ name }: { readonly name: string }) => {
      count += 1
      if (name === 'access.has_admin') return [{ hasAdmin: operators.some(({ role }) => role === 'admin') }]
      return operators.map((operator) => ({ ...operator, kind: 'operator', deactivatedAt: null }))
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
  readonly onPreviousSecretUsed?: OnPreviousSecretUsed
}

/** An operator's door as one process of the sandbox has it. */
export function operatorAuthenticator(clock: { now(): number }, given: Given = {}): AuthenticateOperator {
  const { database = databaseWith().database, logger = capturedLog().logger, onRefused } = given
  return createOperatorAuthenticator({
    adminToken: ADMIN_TOKEN,
    metricsToken: METRICS_TOKEN,
    ...given.tokens,
    ...(given.onPreviousSecretUsed && { onPreviousSecretUsed: given.onPreviousSecretUsed }),
    mode: 'sandbox',
    cache: createCredentialCache(database, clock, 10),
    hasAdmin: () => hasAdmin(database),
    lastUsed: createLastUsed(clock, 10, async () => undefined),
    clock,
    reports: createRefusalReports(logger, onRefused),
  })
}
