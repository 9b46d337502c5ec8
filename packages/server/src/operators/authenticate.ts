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

/** The tokens that stand in the configuration, each also as it was before while it is being replaced. */
export interface ConfiguredTokens {
  /** `PIXGATE_ADMIN_TOKEN`. */
  readonly adminToken: string
  /** `PIXGATE_ADMIN_TOKEN_PREVIOUS`. */
  readonly adminTokenPrevious?: string | undefined
  /** `PIXGATE_METRICS_TOKEN`. */
  readonly metricsToken?: string | undefined
  /** `PIXGATE_METRICS_TOKEN_PREVIOUS`. */
  readonly metricsTokenPrevious?: string | undefined
}

/** Whose token it is. */
export interface ConfiguredToken {
  readonly text: string | undefined
  readonly caller: Caller
  /** The variable that it stands in, where it is one that is being replaced. */
  readonly previousSecret?: string
}

/** Who comes with the administrative token. */
const BY_ADMIN_TOKEN: Caller = { credential: 'admin', id: 'admin', role: 'admin' }

const BY_SCRAPER: Caller = { credential: 'admin', id: 'metrics', role: 'viewer' }

/**
 * Finds the configured token that was shown; that of the metrics counts where these are read, and nowhere else.
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
 * The operators who are active. They are few: all of them are read at once and kept for `limits.apiKeyCacheMs`, so that a
 * wrong token costs no question of its own, and a right one is found among them whatever else comes.
 * @source rules#operators.5
 */
export interface Roster {
  /**
   * Whose token has this hash. Who was not there a moment ago is looked for anew: a token works everywhere once it is made.
   * @throws DatabaseUnavailable
   */
  find(hash: Buffer): Promise<ActiveOperator | undefined>
  /** Whether there is an admin among them. @throws DatabaseUnavailable */
  hasAdmin(): Promise<boolean>
  /** Forgets them, and what was asked until now and is answered later. */
  clear(): void
}

/** They are wanted by as many as there are requests, and read one time after the other. */
const READERS_MAX = 5_000

/** As they were when the question was put. */
interface Reading {
  readonly operators: readonly ActiveOperator[]
  /** Epoch milliseconds. */
  readonly askedAt: number
}

/** Begins with none. */
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
