import { type Endpoint, generateApiKey, getMetrics, limits, Refusal, roleIncludes } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import { secretsEqual, sha256Hex } from '../platform/crypto.ts'
import type { Caller, IncomingRequest } from '../platform/http/handler.ts'
import { clientNetworkOf } from '../platform/networks.ts'
import type { OnPreviousSecretUsed } from '../platform/secrets.ts'
import { createTokenBuckets, type TokenBuckets } from '../platform/token-bucket.ts'
import {
  apiKeyFormat,
  type CachedCredential,
  type Credential,
  type CredentialCache,
  faultOf,
  type LastUsed,
  type Mode,
  operatorTokenFormat,
} from './credentials.ts'
import { ADDRESSES_MAX, createWrongTokens, type RefusalReports, rateLimited } from './refusals.ts'

/** One space, then visible ASCII to the end. The scheme is case-insensitive (RFC 9110). */
const BEARER = /^Bearer ([!-~]+)$/i

/** The token of an `Authorization` header, if any. @source rules#http.6 */
function bearerToken(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}

export interface AuthenticatorOptions {
  readonly clock: Clock
  readonly mode: Mode
  readonly cache: CredentialCache
  readonly lastUsed: LastUsed
  readonly reports: RefusalReports
}

/**
 * Identifies an API key; synchronous if it was looked up recently.
 * @throws Refusal `unauthorized`, the same for every fault · `rate_limited` (429) after too many unknown keys from the
 * address · DatabaseUnavailable, which says nothing about the key
 */
export type AuthenticateApiKey = (
  request: Pick<IncomingRequest, 'headers' | 'remoteAddress'>,
) => Caller | Promise<Caller>

/**
 * Accepts API keys of one mode. Malformed keys never reach the database, and unknown ones only within the budget of their
 * address.
 * @source rules#api-keys.2, rules#api-keys.4, rules#api-keys.9, rules#api-keys.12, rules#http.6
 */
export function createApiKeyAuthenticator(options: AuthenticatorOptions): AuthenticateApiKey {
  const { clock, mode, cache, lastUsed, reports } = options
  const perMinute = limits.unknownKeysPerMinuteAndAddress
  const strangers = createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax: ADDRESSES_MAX })

  const isGood = (credential: Credential, address: string) =>
    credential.kind === 'api_key' && faultOf(credential, address, clock.now()) === undefined

  function admitted({ caller }: Credential): Caller {
    lastUsed.note(caller.id)
    return caller
  }

  async function lookUpForStranger(hash: string, address: string): Promise<Credential | undefined> {
    const owner = clientNetworkOf(address)
    const waitMs = strangers.take(owner)
    if (waitMs > 0) {
      reports.apiKey('throttled', address)
      throw rateLimited(waitMs)
    }
    let isWrong = false
    try {
      const credential = await cache.lookUp(hash)
      isWrong = credential === undefined || !isGood(credential, address)
      return credential
    } finally {
      // A database outage says nothing about the key.
      if (!isWrong) strangers.giveBack(owner)
    }
  }

  async function lookUp(hash: string, known: CachedCredential | undefined, address: string): Promise<Caller> {
    // A key that would be refused is treated like an unknown one, so that rate limits reveal nothing either. After a start
    // many requests have the same key: they share one look-up and one token.
    const isKnown = known !== undefined && isGood(known.credential, address)
    const key = await (isKnown ? cache.lookUp(hash) : (cache.underWay(hash) ?? lookUpForStranger(hash, address)))
    const fault = key?.kind === 'api_key' ? faultOf(key, address, clock.now()) : 'unknown'
    if (key && !fault) return admitted(key)
    reports.apiKey(fault ?? 'unknown', address, key?.caller.id)
    throw new Refusal('unauthorized')
  }

  return ({ headers, remoteAddress }) => {
    const token = bearerToken(headers.authorization)
    const hash = token?.length === apiKeyFormat.length ? sha256Hex(token) : undefined
    const known = hash === undefined ? undefined : cache.get(hash)
    // Fast path of nearly every request: a cached key is well-formed and needs no wait.
    if (known?.isFresh && isGood(known.credential, remoteAddress)) return admitted(known.credential)
    if (token !== undefined && hash !== undefined && apiKeyFormat.modeOf(token) === mode)
      return lookUp(hash, known, remoteAddress)
    reports.apiKey('malformed', remoteAddress)
    return Promise.reject(new Refusal('unauthorized'))
  }
}

export interface ApiKeyAuthorizerOptions {
  readonly clock: Clock
  readonly reports: RefusalReports
  /** Requests per key; 0: unlimited. */
  readonly rateLimitPerMinute: number
  /** Maximum of keys with a count. */
  readonly keysMax: number
}

/**
 * Checks whether an authenticated caller may make this call now.
 * @throws Refusal `rate_limited` (429) · `insufficient_scope` (403)
 */
export type AuthorizeApiKey = (request: Pick<IncomingRequest, 'endpoint' | 'remoteAddress'>, caller: Caller) => void

/** Checks rate limit and scope of a key. @source rules#api-keys.8, rules#http.12 */
export function createApiKeyAuthorizer(options: ApiKeyAuthorizerOptions): AuthorizeApiKey {
  const requests = options.rateLimitPerMinute === 0 ? undefined : requestBuckets(options)
  return ({ endpoint: { scope }, remoteAddress }, { id, scopes }) => {
    const waitMs = requests?.take(id) ?? 0
    if (waitMs > 0) throw rateLimited(waitMs)
    if (scope === undefined || scopes?.has(scope)) return
    options.reports.apiKey('insufficient_scope', remoteAddress, id)
    throw new Refusal('insufficient_scope')
  }
}

function requestBuckets({ clock, rateLimitPerMinute, keysMax }: ApiKeyAuthorizerOptions): TokenBuckets {
  const atOnce = Math.floor((rateLimitPerMinute * limits.rateLimitBurstSeconds) / 60)
  return createTokenBuckets(clock, {
    perMinute: rateLimitPerMinute,
    capacity: Math.max(1, atOnce),
    bucketsMax: keysMax,
  })
}

/** Tokens from the configuration, with their previous values during a rotation. */
export interface ConfiguredTokens {
  readonly adminToken: string
  readonly adminTokenPrevious?: string | undefined
  readonly metricsToken?: string | undefined
  readonly metricsTokenPrevious?: string | undefined
}

interface ConfiguredToken {
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

export interface OperatorAuthenticatorOptions extends ConfiguredTokens, AuthenticatorOptions {
  readonly onPreviousSecretUsed?: OnPreviousSecretUsed
  /** Whether a named admin is active. @throws DatabaseUnavailable */
  readonly hasAdmin: () => Promise<boolean>
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
  const { mode, cache, lastUsed, clock, reports, hasAdmin } = options
  const configuredToken = createConfiguredTokens(options)
  const wrongTokens = createWrongTokens(clock)
  const wrongScrapes = createWrongTokens(clock)

  async function operatorOf(token: string): Promise<Caller | undefined> {
    if (operatorTokenFormat.modeOf(token) !== mode) return undefined
    const hash = sha256Hex(token)
    const known = cache.get(hash)
    const operator = known?.isFresh ? known.credential : await cache.lookUp(hash)
    if (operator?.kind !== 'operator' || operator.isDeactivated) return undefined
    lastUsed.note(operator.caller.id)
    return operator.caller
  }

  async function callerOf(token: string, { endpoint, remoteAddress }: OperatorRequest): Promise<Caller | undefined> {
    const configured = configuredToken(token, endpoint)
    if (!configured) return operatorOf(token)
    const { caller, previousSecret } = configured
    if (caller === BY_ADMIN_TOKEN && !OF_ADMIN_TOKEN.includes(endpoint) && (await hasAdmin())) {
      reports.operator('retired_admin_token', remoteAddress)
      throw new Refusal('unauthorized')
    }
    if (previousSecret !== undefined) options.onPreviousSecretUsed?.(previousSecret)
    return caller
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
export type AuthorizeOperator = (request: Pick<IncomingRequest, 'endpoint' | 'remoteAddress'>, caller: Caller) => void

/** @source rules#operators.3 */
export function createOperatorAuthorizer(reports: RefusalReports): AuthorizeOperator {
  return ({ endpoint, remoteAddress }, { id, role }) => {
    if (endpoint.role === undefined || (role !== undefined && roleIncludes(role, endpoint.role))) return
    reports.operator('insufficient_role', remoteAddress, id)
    throw new Refusal('insufficient_role')
  }
}
