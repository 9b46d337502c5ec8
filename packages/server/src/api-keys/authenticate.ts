import { limits, Refusal } from '@pixgate/spec'
import { bearerToken } from '../credentials/bearer.ts'
import type { LastUsed } from '../credentials/last-used.ts'
import type { RefusalReports } from '../credentials/reports.ts'
import { rateLimited } from '../credentials/wrong-tokens.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256Hex } from '../platform/crypto.ts'
import type { Caller, IncomingRequest } from '../platform/http/handler.ts'
import { createTokenBuckets, type TokenBuckets } from '../platform/token-bucket.ts'
import { type ApiKeyMode, KEY_LENGTH, modeOf } from './key.ts'
import { faultOf, type KnownKey } from './known-key.ts'
import type { KeyLookup } from './lookup.ts'
import type { VerifiedKey, VerifiedKeys } from './verified-keys.ts'

/** The part of a request that a key is judged by. */
export type KeyedRequest = Pick<IncomingRequest, 'headers' | 'remoteAddress'>

/** What API keys are told by. */
export interface ApiKeyAuthenticatorOptions {
  readonly clock: Clock
  /** Of the keys that are let in. */
  readonly mode: ApiKeyMode
  readonly verified: VerifiedKeys
  readonly lookup: KeyLookup
  readonly lastUsed: LastUsed
  readonly reports: RefusalReports
}

/**
 * Finds out whose API key a bearer token is: at once where the database has vouched for it a moment ago.
 * @throws Refusal `unauthorized`, one and the same whatever is wrong · `rate_limited` (429) the address has shown too many
 * unknown ones · DatabaseUnavailable, which says nothing of the key
 */
export type AuthenticateApiKey = (request: KeyedRequest) => Caller | Promise<Caller>

/**
 * Takes API keys of one mode. What is no such key never reaches the database.
 * @source rules#api-keys.2, rules#api-keys.4, rules#api-keys.9, rules#api-keys.12, rules#http.6
 */
export function createApiKeyAuthenticator(options: ApiKeyAuthenticatorOptions): AuthenticateApiKey {
  const { clock, mode, verified, lookup, lastUsed, reports } = options

  const isGood = (key: KnownKey, address: string) => faultOf(key, address, clock.now()) === undefined

  function admitted(key: KnownKey): Caller {
    lastUsed.note(key.id)
    const { id, scopes, caps, madeBy } = key
    return { credential: 'api-key', id, scopes, ...(caps && { caps }), ...(madeBy && { keyMadeBy: madeBy }) }
  }

  function find(hash: string, known: VerifiedKey | undefined, address: string): Promise<KnownKey | undefined> {
    // What would be refused is treated as what nobody has ever seen: that must not be told by its limits either.
    return known && isGood(known.key, address)
      ? lookup.again(hash)
      : lookup.first(hash, address, (key) => isGood(key, address))
  }

  async function lookUp(hash: string, known: VerifiedKey | undefined, address: string): Promise<Caller> {
    const key = await find(hash, known, address).catch((error: unknown) => {
      if (error instanceof Refusal) reports.apiKey('throttled', address)
      throw error
    })
    const fault = key ? faultOf(key, address, clock.now()) : 'unknown'
    if (key && !fault) return admitted(key)
    reports.apiKey(fault ?? 'unknown', address, key?.id)
    throw new Refusal('unauthorized')
  }

  return ({ headers, remoteAddress }) => {
    const token = bearerToken(headers.authorization)
    const hash = token?.length === KEY_LENGTH ? sha256Hex(token) : undefined
    const known = hash === undefined ? undefined : verified.get(hash)
    // Nearly every request: nothing is waited for, and what the database has vouched for is well-formed.
    if (known?.isFresh && isGood(known.key, remoteAddress)) return admitted(known.key)
    if (token !== undefined && hash !== undefined && modeOf(token) === mode) return lookUp(hash, known, remoteAddress)
    reports.apiKey('malformed', remoteAddress)
    return Promise.reject(new Refusal('unauthorized'))
  }
}

/** How API keys that are known are bounded. */
export interface ApiKeyAdmissionOptions {
  readonly clock: Clock
  readonly reports: RefusalReports
  /** Requests of one key; 0: as many as it likes. */
  readonly rateLimitPerMinute: number
  /** How many keys' requests are counted at a time. */
  readonly keysMax: number
}

/**
 * Judges whether a caller that is known may call this, and now.
 * @throws Refusal `rate_limited` (429) · `insufficient_scope` (403)
 */
export type AdmitApiKey = (request: Pick<IncomingRequest, 'endpoint' | 'remoteAddress'>, caller: Caller) => void

/** Judges by what a key is for and by how often it asks. @source rules#api-keys.8, rules#http.12 */
export function createApiKeyAdmission(options: ApiKeyAdmissionOptions): AdmitApiKey {
  const requests = options.rateLimitPerMinute === 0 ? undefined : requestBuckets(options)
  return ({ endpoint: { scope }, remoteAddress }, { id, scopes }) => {
    const waitMs = requests?.take(id) ?? 0
    if (waitMs > 0) throw rateLimited(waitMs)
    if (scope === undefined || scopes?.has(scope)) return
    options.reports.apiKey('insufficient_scope', remoteAddress, id)
    throw new Refusal('insufficient_scope')
  }
}

function requestBuckets({ clock, rateLimitPerMinute, keysMax }: ApiKeyAdmissionOptions): TokenBuckets {
  const atOnce = Math.floor((rateLimitPerMinute * limits.rateLimitBurstSeconds) / 60)
  return createTokenBuckets(clock, {
    perMinute: rateLimitPerMinute,
    capacity: Math.max(1, atOnce),
    bucketsMax: keysMax,
  })
}
