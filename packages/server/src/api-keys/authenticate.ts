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

/** Asks the database for keys, by the hex of their hashes, and remembers those that it vouches for. */
export interface KeyLookup {
  /** The key with this hash, for whoever has shown it before. */
  again(hash: string): Promise<KnownKey | undefined>
  /**
   * The same for a stranger. What turns out not to let its bearer in is taken off the budget of the address.
   * @param isGood whether the key that was found lets its bearer in
   * @throws Refusal rate_limited (429) its budget is used up; the database was not asked
   * @source rules#api-keys.12
   */
  first(hash: string, address: string, isGood: (key: KnownKey) => boolean): Promise<KnownKey | undefined>
}

/** Look-ups that arrive while one is under way make the next one. */
const BATCH_MAX = 200
const QUEUE_MAX = 5_000

/** Bounds the memory that strangers can occupy. */
const ADDRESSES_MAX = 10_000

/** Makes the look-ups of a process. */
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

  /** Many requests begin with the same key when a process does: they share one look-up, and one token. */
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
      // A database that is away says nothing of the key.
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

/** A key as the database told it. */
export interface VerifiedKey {
  readonly key: KnownKey
  /** Whether that was a moment ago; otherwise the database has to be asked again. */
  readonly isFresh: boolean
}

/**
 * Keys that the database vouched for, by the hex of their hashes, so that not every request asks again: for `limits.apiKeyCacheMs` they are taken as
 * they are, and later they are still known not to be guesses. Only the good ones, and no more than a bounded number: the
 * one unused longest goes first.
 * @source rules#api-keys.4
 */
export interface VerifiedKeys {
  /** The key with this hash, or `undefined` where nobody has vouched for it. */
  get(hash: string): VerifiedKey | undefined
  /** @param askedAt when the question was put, not when it was answered: the key may have been deactivated in between */
  put(hash: string, key: KnownKey, askedAt: number): void
  /** Forgets the key with this hash. */
  drop(hash: string): void
  /** Forgets all of them, and what was asked until now and is answered later. */
  clear(): void
}

/** Begins with none. */
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
