import { type Endpoint, generateApiKey, getMetrics, limits, Refusal, roleIncludes } from '@pixgate/spec'
import {
  bearerToken,
  createWrongTokens,
  type LastUsed,
  type Mode,
  type RefusalReports,
} from '../credentials/credentials.ts'
import type { Clock } from '../platform/clock.ts'
import { secretsEqual, sha256 } from '../platform/crypto.ts'
import type { Database } from '../platform/db/database.ts'
import type { Caller, IncomingRequest } from '../platform/http/handler.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import type { OnPreviousSecret } from '../platform/secrets.ts'
import { type ActiveOperator, activeOperators, modeOf } from './operators.ts'

/** Tokens from the configuration, with their previous values during a rotation. */
export interface ConfiguredTokens {
  readonly adminToken: string
  readonly adminTokenPrevious?: string | undefined
  readonly metricsToken?: string | undefined
  readonly metricsTokenPrevious?: string | undefined
}

export interface ConfiguredToken {
  readonly text: string | undefined
  readonly caller: Caller
  /** Variable of a previous token. */
  readonly previousSecret?: string
}

const BY_ADMIN_TOKEN: Caller = { credential: 'admin', id: 'admin', role: 'admin' }

const BY_SCRAPER: Caller = { credential: 'admin', id: 'metrics', role: 'viewer' }

/**
 * Finds the configured token that was sent. The metrics token is only accepted at the metrics endpoint.
 * @source rules#metrics.4, rules#rotation.1
 */
function createConfiguredTokens(
  tokens: ConfiguredTokens,
): (shown: string, endpoint: Endpoint) => ConfiguredToken | undefined {
  const known: readonly ConfiguredToken[] = [
    { text: tokens.adminToken, caller: BY_ADMIN_TOKEN },
    { text: tokens.adminTokenPrevious, caller: BY_ADMIN_TOKEN, previousSecret: 'PIXGATE_ADMIN_TOKEN_PREVIOUS' },
    { text: tokens.metricsToken, caller: BY_SCRAPER },
    { text: tokens.metricsTokenPrevious, caller: BY_SCRAPER, previousSecret: 'PIXGATE_METRICS_TOKEN_PREVIOUS' },
  ]
  return (shown, endpoint) =>
    known.find(
      ({ text, caller }) =>
        (caller !== BY_SCRAPER || endpoint === getMetrics) && text !== undefined && secretsEqual(shown, text),
    )
}

/**
 * The active operators. They are few, so all of them are read at once and cached for `limits.apiKeyCacheMs`: a wrong
 * token costs no query of its own, and a right one is always found.
 * @source rules#operators.5
 */
export interface Roster {
  /**
   * Finds an operator by the hash of the token. Looks up missing ones again, so that a new token works everywhere at
   * once.
   * @throws DatabaseUnavailable
   */
  find(hash: Buffer): Promise<ActiveOperator | undefined>
  /** @throws DatabaseUnavailable */
  hasAdmin(): Promise<boolean>
  /** Drops the cache, and the results of look-ups under way. */
  clear(): void
}

/** Concurrent readers share one query. */
const READERS_MAX = 5_000

/** The operators at the start of a query. */
interface Reading {
  readonly operators: readonly ActiveOperator[]
  /** Epoch milliseconds. */
  readonly askedAt: number
}

export function createRoster(database: Database, clock: Clock): Roster {
  let last: Reading | undefined
  let clearedAt = Number.NEGATIVE_INFINITY

  const readers = createBatcher<null, Reading>(
    async (waiting) => {
      const askedAt = clock.now()
      const result = { operators: await activeOperators(database), askedAt }
      if (askedAt > clearedAt) last = result
      return waiting.map(() => ({ result }))
    },
    { batchMax: READERS_MAX, queueMax: READERS_MAX },
  )

  async function current(): Promise<Reading> {
    return last && clock.now() - last.askedAt < limits.apiKeyCacheMs ? last : readers.submit(null)
  }

  const among = ({ operators }: Reading, hash: Buffer) => operators.find((operator) => operator.hash.equals(hash))

  return {
    find: async (hash) => {
      const kept = last
      const reading = await current()
      const found = among(reading, hash)
      return found || reading !== kept ? found : among(await readers.submit(null), hash)
    },
    hasAdmin: async () => (await current()).operators.some(({ role }) => role === 'admin'),
    clear: () => {
      last = undefined
      clearedAt = clock.now()
    },
  }
}

export interface OperatorAuthenticatorOptions extends ConfiguredTokens {
  readonly onPreviousSecret?: OnPreviousSecret
  readonly mode: Mode
  readonly roster: Roster
  readonly lastUsed: LastUsed
  readonly clock: Clock
  readonly reports: RefusalReports
}

export type OperatorRequest = Pick<IncomingRequest, 'headers' | 'remoteAddress' | 'endpoint'>

/**
 * Authenticates a request to an endpoint of the operator.
 * @throws Refusal `unauthorized`, the same for every fault · `rate_limited` (429) after too many wrong tokens ·
 * DatabaseUnavailable, which says nothing about the token
 */
export type AuthenticateOperator = (request: OperatorRequest) => Promise<Caller>

/** Endpoints that the administrative token opens permanently: one by the specification, the other for scrapers. */
const OF_ADMIN_TOKEN: readonly Endpoint[] = [generateApiKey, getMetrics]

/**
 * Accepts the tokens of named operators, the administrative token, and at the metrics endpoint the metrics token.
 * Previous values of the latter two are accepted during a rotation and reported. Tokens are compared before anything is
 * counted, so that wrong ones cannot lock an operator out. A missing bearer token is not counted as a guess, and
 * wrong metrics tokens have their own budget.
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

/** Checks whether an authenticated operator may make this call. @throws Refusal `insufficient_role` (403) */
export type AdmitOperator = (request: Pick<IncomingRequest, 'endpoint' | 'remoteAddress'>, caller: Caller) => void

/** @source rules#operators.3 */
export function createOperatorAdmission(reports: RefusalReports): AdmitOperator {
  return ({ endpoint, remoteAddress }, { id, role }) => {
    if (endpoint.role === undefined || (role !== undefined && roleIncludes(role, endpoint.role))) return
    reports.operator('insufficient_role', remoteAddress, id)
    throw new Refusal('insufficient_role')
  }
}
