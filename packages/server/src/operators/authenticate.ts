import { type Endpoint, generateApiKey, getMetrics, Refusal, roleIncludes } from '@pixgate/spec'
import { bearerToken } from '../credentials/bearer.ts'
import type { LastUsed } from '../credentials/last-used.ts'
import type { RefusalReports } from '../credentials/reports.ts'
import type { Mode } from '../credentials/token-text.ts'
import { createWrongTokens } from '../credentials/wrong-tokens.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256 } from '../platform/crypto.ts'
import type { Caller, IncomingRequest } from '../platform/http/handler.ts'
import type { OnPreviousSecret } from '../platform/secrets.ts'
import { BY_ADMIN_TOKEN, type ConfiguredTokens, createConfiguredTokens } from './configured-tokens.ts'
import type { Roster } from './roster.ts'
import { modeOf } from './token.ts'

/** What the operators' tokens are told by. */
export interface OperatorAuthenticatorOptions extends ConfiguredTokens {
  readonly onPreviousSecret?: OnPreviousSecret
  /** Of the tokens of named operators that are let in. */
  readonly mode: Mode
  readonly roster: Roster
  readonly lastUsed: LastUsed
  readonly clock: Clock
  readonly reports: RefusalReports
}

/** The part of a request that a token is judged by. */
export type OperatorRequest = Pick<IncomingRequest, 'headers' | 'remoteAddress' | 'endpoint'>

/**
 * Finds out who sent a token to an endpoint of the operator.
 * @throws Refusal `unauthorized`, one and the same whatever is wrong · `rate_limited` (429) too many wrong ones came ·
 *   DatabaseUnavailable, which says nothing of the token
 */
export type AuthenticateOperator = (request: OperatorRequest) => Promise<Caller>

/** What the administrative token opens for ever: the specification says the one, whoever scrapes may need the other. */
const OF_ADMIN_TOKEN: readonly Endpoint[] = [generateApiKey, getMetrics]

/**
 * Takes the tokens of named operators, the administrative token, and where the metrics are read theirs; the latter two also
 * as they were before, while they are being replaced, which is told. A token is compared
 * before anything is counted: nobody can keep an operator out by showing wrong ones. What is no bearer token guesses nothing
 * and is not counted, and who scrapes with a wrong token takes nothing from the others.
 * @source rules#api-keys.7, rules#operators.2, rules#operators.6, rules#metrics.4, rules#rotation.1, rules#rotation.2
 */
export function createOperatorAuthenticator(options: OperatorAuthenticatorOptions): AuthenticateOperator {
  const { mode, roster, lastUsed, clock, reports } = options
  const configuredToken = createConfiguredTokens(options)
  const wrongTokens = createWrongTokens(clock)
  const wrongScrapes = createWrongTokens(clock)

  async function callerOf(token: string, { endpoint, remoteAddress }: OperatorRequest): Promise<Caller | undefined> {
    const configured = configuredToken(token, endpoint)
    if (configured) {
      const { caller, previousSecret } = configured
      if (caller === BY_ADMIN_TOKEN && !OF_ADMIN_TOKEN.includes(endpoint) && (await roster.hasAdmin())) {
        reports.operator('retired_admin_token', remoteAddress)
        throw new Refusal('unauthorized')
      }
      if (previousSecret !== undefined) options.onPreviousSecret?.(previousSecret)
      return caller
    }
    const operator = modeOf(token) === mode ? await roster.find(sha256(token)) : undefined
    if (operator === undefined) return undefined
    const { id, name, role } = operator
    lastUsed.note(id)
    return { credential: 'admin', id, name, role }
  }

  return async (request) => {
    const { headers, remoteAddress, endpoint } = request
    const token = bearerToken(headers.authorization)
    if (token === undefined) {
      reports.operator('malformed', remoteAddress)
      throw new Refusal('unauthorized')
    }
    const caller = await callerOf(token, request)
    if (caller) return caller
    const refusal = (endpoint === getMetrics ? wrongScrapes : wrongTokens).refusal(remoteAddress)
    reports.operator(refusal.code === 'rate_limited' ? 'throttled' : 'unknown', remoteAddress)
    throw refusal
  }
}

/**
 * Judges whether an operator who is known may call this.
 * @throws Refusal `insufficient_role` (403)
 */
export type AdmitOperator = (request: Pick<IncomingRequest, 'endpoint' | 'remoteAddress'>, caller: Caller) => void

/** Judges by the role. @source rules#operators.3 */
export function createOperatorAdmission(reports: RefusalReports): AdmitOperator {
  return ({ endpoint, remoteAddress }, { id, role }) => {
    if (endpoint.role === undefined || (role !== undefined && roleIncludes(role, endpoint.role))) return
    reports.operator('insufficient_role', remoteAddress, id)
    throw new Refusal('insufficient_role')
  }
}
