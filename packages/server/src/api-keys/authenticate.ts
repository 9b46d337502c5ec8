import { limits, Refusal } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import { bearerToken, type LastUsed, type RefusalReports, rateLimited } from '../credentials/credentials.ts'
import type { Clock } from '../platform/clock.ts'
import { sha256Hex } from '../platform/crypto.ts'
import type { Database } from '../platform/db/database.ts'
import type { Caller, IncomingRequest } from '../platform/http/handler.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import { networkOf } from '../platform/networks.ts'
import { createTokenBuckets, type TokenBuckets } from '../platform/token-bucket.ts'
import { type ApiKeyMode, faultOf, findKeys, KEY_LENGTH, type KnownKey, knownKey, modeOf } from './keys.ts'

export type KeyedRequest = Pick<IncomingRequest, 'headers' | 'remoteAddress'>

export interface ApiKeyAuthenticatorOptions {
  readonly clock: Clock
  readonly mode: ApiKeyMode
  readonly verified: VerifiedKeys
  readonly lookup: KeyLookup
  readonly lastUsed: LastUsed
  readonly reports: RefusalReports
}

/**
 * Identifies an API key; synchronous if it was verified recently.
 * @throws Refusal `unauthorized`, the same for every fault · `rate_limited` (429) after too many unknown keys from the
 * address · DatabaseUnavailable, which says nothing about the key
 */
export type AuthenticateApiKey = (request: KeyedRequest) => Caller | Promise<Caller>

/**
 * Accepts API keys of one mode. Malformed keys never reach the database.
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
    // A key that would be refused is treated like an unknown one, so that rate limits reveal nothing either.
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
    // Fast path of nearly every request: a verified key is well-formed and needs no wait.
    if (known?.isFresh && isGood(known.key, remoteAddress)) return admitted(known.key)
    if (token !== undefined && hash !== undefined && modeOf(token) === mode) return lookUp(hash, known, remoteAddress)
    reports.apiKey('malformed', remoteAddress)
    return Promise.reject(new Refusal('unauthorized'))
  }
}

export interface ApiKeyAdmissionOptions {
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
export type AdmitApiKey = (request: Pick<IncomingRequest, 'endpoint' | 'remoteAddress'>, caller: Caller) => void

/** Checks rate limit and scope of a key. @source rules#api-keys.8, rules#http.12 */
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

export interface KeyLookup {
  /** Looks up a key that was valid before. */
  again(hash: string): Promise<KnownKey | undefined>
  /**
   * Looks up an unknown key. One that is refused counts against the budget of the address.
   * @param isGood whether a found key is accepted
   * @throws Refusal rate_limited (429) when the budget is used up; the database was not queried
   * @source rules#api-keys.12
   */
  first(hash: string, address: string, isGood: (key: KnownKey) => boolean): Promise<KnownKey | undefined>
}

/** Look-ups that arrive during one form the next batch. */
const BATCH_MAX = 200
const QUEUE_MAX = 5_000

/** Bounds the memory that strangers can occupy. */
const ADDRESSES_MAX = 10_000

export function createKeyLookup(database: Database, clock: Clock, verified: VerifiedKeys): KeyLookup {
  const batcher = createBatcher<string, KnownKey | undefined>(
    async (hashes) => {
      const rows = await findKeys(
        database,
        hashes.map((hash) => Buffer.from(hash, 'hex')),
      )
      const found = new Map(rows.map((row) => [row.hash.toString('hex'), knownKey(row)]))
      return hashes.map((hash) => ({ result: found.get(hash) }))
    },
    { batchMax: BATCH_MAX, queueMax: QUEUE_MAX },
  )
  const perMinute = limits.unknownKeysPerMinuteAndAddress
  const strangers = createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax: ADDRESSES_MAX })

  /** After a start many requests have the same key: they share one look-up and one token. */
  const underWay = new Map<string, Promise<KnownKey | undefined>>()

  async function ask(hash: string): Promise<KnownKey | undefined> {
    const askedAt = clock.now()
    const key = await batcher.submit(hash)
    if (key === undefined || key.isDeactivated) verified.drop(hash)
    else verified.put(hash, key, askedAt)
    return key
  }

  async function askForStranger(
    hash: string,
    owner: string,
    isGood: (key: KnownKey) => boolean,
  ): Promise<KnownKey | undefined> {
    let isWrong = false
    try {
      const key = await ask(hash)
      isWrong = key === undefined || !isGood(key)
      return key
    } finally {
      // A database outage says nothing about the key.
      if (!isWrong) strangers.giveBack(owner)
    }
  }

  return {
    again: ask,
    first: async (hash, address, isGood) => {
      const shared = underWay.get(hash)
      if (shared) return shared
      const owner = networkOf(address)
      const waitMs = strangers.take(owner)
      if (waitMs > 0) throw rateLimited(waitMs)
      const look = askForStranger(hash, owner, isGood).finally(() => underWay.delete(hash))
      underWay.set(hash, look)
      return look
    },
  }
}

export interface VerifiedKey {
  readonly key: KnownKey
  /** Whether it was verified recently; otherwise it must be looked up again. */
  readonly isFresh: boolean
}

/**
 * Valid keys by the hex of their hashes. They are accepted without a look-up for `limits.apiKeyCacheMs`; afterwards
 * they still do not count as guesses. Capped; the least recently used is dropped.
 * @source rules#api-keys.4
 */
export interface VerifiedKeys {
  get(hash: string): VerifiedKey | undefined
  /** @param askedAt start of the look-up, not its end: the key may have been deactivated in between */
  put(hash: string, key: KnownKey, askedAt: number): void
  drop(hash: string): void
  /** Drops all keys, and the results of look-ups under way. */
  clear(): void
}

export function createVerifiedKeys(clock: Clock, keysMax: number): VerifiedKeys {
  const keys = new LRUCache<string, { readonly key: KnownKey; readonly askedAt: number }>({ max: keysMax })
  let clearedAt = Number.NEGATIVE_INFINITY

  return {
    get: (hash) => {
      const known = keys.get(hash)
      return known && { key: known.key, isFresh: clock.now() - known.askedAt < limits.apiKeyCacheMs }
    },
    put: (hash, key, askedAt) => {
      if (askedAt > clearedAt) keys.set(hash, { key, askedAt })
    },
    drop: (hash) => void keys.delete(hash),
    clear: () => {
      keys.clear()
      clearedAt = clock.now()
    },
  }
}
