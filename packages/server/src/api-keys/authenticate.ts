import { getMetrics, limits, Refusal } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import { secretsEqual, sha256 } from '../platform/crypto.ts'
import type { Database } from '../platform/db/database.ts'
import type { Caller, IncomingRequest } from '../platform/http/handler.ts'
import type { OnPreviousSecret } from '../platform/previous-secrets.ts'
import { createTokenBuckets, type TokenBuckets } from '../platform/token-bucket.ts'
import { type ApiKeyMode, modeOf } from './key.ts'
import { findActiveKey } from './store.ts'
import type { VerifiedKeys } from './verified-keys.ts'

/**
 * Finds out who sent a bearer token.
 * @throws Refusal `unauthorized`, one and the same whatever is wrong · `rate_limited` (429) · DatabaseUnavailable, which
 * says nothing of the key
 * @source rules#http.6
 */
export type Authenticate = (
  request: Pick<IncomingRequest, 'headers' | 'remoteAddress'> & Partial<Pick<IncomingRequest, 'endpoint'>>,
) => Promise<Caller>

/** What API keys are told by. */
export interface ApiKeyAuthenticatorOptions {
  readonly database: Database
  readonly clock: Clock
  /** Of the keys that are taken. */
  readonly mode: ApiKeyMode
  readonly verified: VerifiedKeys
  /** Requests of one key; 0: as many as it likes. */
  readonly rateLimitPerMinute: number
  /** How many keys' requests are counted at a time. */
  readonly keysMax: number
}

/**
 * Takes API keys of one mode, each so often. What is no such key never reaches the database.
 * @source rules#api-keys.2, rules#api-keys.4, rules#http.12
 */
export function createApiKeyAuthenticator(options: ApiKeyAuthenticatorOptions): Authenticate {
  const { database, clock, mode, verified } = options
  const requests = options.rateLimitPerMinute === 0 ? undefined : requestBuckets(options)

  async function find(hash: Buffer): Promise<string | undefined> {
    const askedAt = clock.now()
    const id = await findActiveKey(database, hash)
    if (id !== undefined) verified.put(hash, id, askedAt)
    return id
  }

  return async ({ headers }) => {
    const token = bearerToken(headers.authorization)
    if (token === undefined || modeOf(token) !== mode) throw new Refusal('unauthorized')
    const hash = sha256(token)
    const id = verified.get(hash) ?? (await find(hash))
    if (id === undefined) throw new Refusal('unauthorized')
    if (requests) refuseFor(requests.take(id))
    return { credential: 'api-key', id }
  }
}

function requestBuckets({ clock, rateLimitPerMinute, keysMax }: ApiKeyAuthenticatorOptions): TokenBuckets {
  const atOnce = Math.floor((rateLimitPerMinute * limits.rateLimitBurstSeconds) / 60)
  return createTokenBuckets(clock, {
    perMinute: rateLimitPerMinute,
    capacity: Math.max(1, atOnce),
    bucketsMax: keysMax,
  })
}

/** The tokens of the operator. */
export interface AdminTokens {
  /** `PIXGATE_ADMIN_TOKEN`. */
  readonly adminToken: string
  /** `PIXGATE_ADMIN_TOKEN_PREVIOUS`. */
  readonly adminTokenPrevious?: string | undefined
  /** `PIXGATE_METRICS_TOKEN`. */
  readonly metricsToken?: string | undefined
  /** `PIXGATE_METRICS_TOKEN_PREVIOUS`. */
  readonly metricsTokenPrevious?: string | undefined
  readonly onPreviousSecret?: OnPreviousSecret
}

/** Bounds the memory that strangers can take; who comes from more addresses meets the limit of them all. */
const ADDRESSES_MAX = 10_000

/**
 * Takes the administrative token, and nothing else but the token of the metrics where these are read, each also as it was
 * before while it is being replaced. An address that sent too many wrong ones is refused before its next
 * one is looked at, be it right or wrong: so it cannot go on guessing. The count over all addresses refuses wrong ones
 * only: nobody can lock the operator out from elsewhere. What is no bearer token guesses nothing and is not counted.
 * @source rules#api-keys.7, rules#metrics.4, rules#rotation.1, rules#rotation.2
 */
export function createAdminAuthenticator({
  adminToken,
  adminTokenPrevious,
  metricsToken,
  metricsTokenPrevious,
  onPreviousSecret,
  clock,
}: AdminTokens & { readonly clock: Clock }): Authenticate {
  const wrongTokens = (perMinute: number, bucketsMax: number) =>
    createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax })
  const ofAddress = wrongTokens(limits.adminFailuresPerMinuteAndAddress, ADDRESSES_MAX)
  const ofAll = wrongTokens(limits.adminFailuresPerMinute, 1)

  return async ({ headers, remoteAddress, endpoint }) => {
    const token = bearerToken(headers.authorization)
    if (token === undefined) throw new Refusal('unauthorized')
    refuseFor(ofAddress.waitMs(remoteAddress))
    if (secretsEqual(token, adminToken)) return { credential: 'admin', id: 'admin' }
    if (adminTokenPrevious !== undefined && secretsEqual(token, adminTokenPrevious)) {
      onPreviousSecret?.('PIXGATE_ADMIN_TOKEN_PREVIOUS')
      return { credential: 'admin', id: 'admin' }
    }
    if (endpoint === getMetrics) {
      if (metricsToken !== undefined && secretsEqual(token, metricsToken)) return { credential: 'admin', id: 'metrics' }
      if (metricsTokenPrevious !== undefined && secretsEqual(token, metricsTokenPrevious)) {
        onPreviousSecret?.('PIXGATE_METRICS_TOKEN_PREVIOUS')
        return { credential: 'admin', id: 'metrics' }
      }
    }
    ofAddress.take(remoteAddress)
    refuseFor(ofAll.take('all'))
    throw new Refusal('unauthorized')
  }
}

/** @throws Refusal `rate_limited` where there is something to wait for */
function refuseFor(waitMs: number): void {
  if (waitMs > 0) throw new Refusal('rate_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}

/** One space, then visible ASCII to the end. The scheme's letters may be of either case (RFC 9110). */
const BEARER = /^Bearer ([!-~]+)$/i

function bearerToken(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}
