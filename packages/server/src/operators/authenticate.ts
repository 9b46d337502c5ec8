import { type Endpoint, getMetrics, Refusal } from '@pixgate/spec'
import { bearerToken } from '../credentials/bearer.ts'
import type { RefusalReports } from '../credentials/reports.ts'
import { createWrongTokens } from '../credentials/wrong-tokens.ts'
import type { Clock } from '../platform/clock.ts'
import { secretsEqual } from '../platform/crypto.ts'
import type { Caller, IncomingRequest } from '../platform/http/handler.ts'

/** What the operator's tokens are told by. */
export interface OperatorAuthenticatorOptions {
  /** `PIXGATE_ADMIN_TOKEN`. */
  readonly adminToken: string
  /** `PIXGATE_METRICS_TOKEN`. */
  readonly metricsToken?: string | undefined
  readonly clock: Clock
  readonly reports: RefusalReports
}

/**
 * Finds out who sent a token to an endpoint of the operator.
 * @throws Refusal `unauthorized`, one and the same whatever is wrong · `rate_limited` (429) too many wrong ones came
 */
export type AuthenticateOperator = (
  request: Pick<IncomingRequest, 'headers' | 'remoteAddress' | 'endpoint'>,
) => Promise<Caller>

/**
 * Takes the administrative token, and where the metrics are read theirs. The token is compared before anything is counted:
 * nobody can keep the operator out by showing wrong ones. What is no bearer token guesses nothing and is not counted, and
 * who scrapes with a wrong token takes nothing from the others.
 * @source rules#api-keys.7, rules#metrics.4
 */
export function createOperatorAuthenticator(options: OperatorAuthenticatorOptions): AuthenticateOperator {
  const { adminToken, metricsToken, clock, reports } = options
  const wrongTokens = createWrongTokens(clock)
  const wrongScrapes = createWrongTokens(clock)

  function callerOf(token: string, endpoint: Endpoint): Caller | undefined {
    if (secretsEqual(token, adminToken)) return { credential: 'admin', id: 'admin' }
    if (endpoint === getMetrics && metricsToken !== undefined && secretsEqual(token, metricsToken)) {
      return { credential: 'admin', id: 'metrics' }
    }
    return undefined
  }

  return async ({ headers, remoteAddress, endpoint }) => {
    const token = bearerToken(headers.authorization)
    if (token === undefined) {
      reports.operator('malformed', remoteAddress)
      throw new Refusal('unauthorized')
    }
    const caller = callerOf(token, endpoint)
    if (caller) return caller
    const refusal = (endpoint === getMetrics ? wrongScrapes : wrongTokens).refusal(remoteAddress)
    reports.operator(refusal.code === 'rate_limited' ? 'throttled' : 'unknown', remoteAddress)
    throw refusal
  }
}
