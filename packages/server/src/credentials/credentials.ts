import { crc32 } from 'node:zlib'
import { limits, Refusal } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'
import type { Caller } from '../platform/http/handler.ts'
import type { Logger } from '../platform/log.ts'
import { networkOf } from '../platform/networks.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../platform/runtime.ts'
import { createTokenBuckets } from '../platform/token-bucket.ts'

/**
 * The text of a key or token: prefix, secret, checksum. The checksum tells junk from keys without asking a database, and a
 * leaked key from a lookalike.
 * @source rules#api-keys.2, rules#operators.2
 */

/** What is shown opens one mode only. */
export type Mode = 'sandbox' | 'production'

/** How many random bytes make a key. */
export const SECRET_BYTES = 32

const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const DISPLAY_LENGTH = 8

/** One kind of keys. */
export interface TokenKind {
  /** Of each key; nothing longer or shorter is one. */
  readonly length: number
  /**
   * Writes a secret as a key.
   * @param secret {@link SECRET_BYTES} random bytes, every one of which counts: 43 base62 characters hold 256 bits
   */
  format(mode: Mode, secret: Buffer): string
  /** The mode of a key, or `undefined` where the text is none of this kind. A key may be well formed and yet unknown. */
  modeOf(text: string): Mode | undefined
  /** What may be kept and shown of a key, to tell it from others. @source rules#api-keys.3 */
  displayOf(key: string): string
}

/**
 * Makes a kind.
 * @param pattern of the whole text, prefix included
 * @param prefixes both as long
 */
export function tokenKind(pattern: string, prefixes: Readonly<Record<Mode, string>>): TokenKind {
  const shape = new RegExp(pattern)
  return {
    length: prefixes.sandbox.length + SECRET_LENGTH + CHECKSUM_LENGTH,
    format: (mode, secret) => {
      const unchecked = prefixes[mode] + base62(BigInt(`0x${secret.toString('hex')}`), SECRET_LENGTH)
      return unchecked + checksum(unchecked)
    },
    modeOf: (text) => {
      if (!shape.test(text) || checksum(text.slice(0, -CHECKSUM_LENGTH)) !== text.slice(-CHECKSUM_LENGTH))
        return undefined
      return text.startsWith(prefixes.sandbox) ? 'sandbox' : 'production'
    },
    displayOf: (key) => key.slice(prefixes.sandbox.length).slice(0, DISPLAY_LENGTH),
  }
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = 62n

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH)
}

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; rest > 0n; rest /= BASE) text = ALPHABET.charAt(Number(rest % BASE)) + text
  return text.padStart(length, '0')
}

/** One space, then visible ASCII to the end. The scheme's letters may be of either case (RFC 9110). */
const BEARER = /^Bearer ([!-~]+)$/i

/** The token of an `Authorization` header; `undefined`: it has none. @source rules#http.6 */
export function bearerToken(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}

/** The id of the named operator who calls; `null`: it is the administrative token. @source rules#operators.7 */
export function namedOperatorOf({ id, name }: Caller): string | null {
  return name === undefined ? null : id
}

/**
 * How wrong tokens are answered: to go on guessing is slow, from one address and from all of them. Whoever asks this has
 * compared the token already, so that a right one is never refused for somebody's wrong ones.
 * @source rules#api-keys.7
 */
export interface WrongTokens {
  /** Counts a wrong token, and says how it is refused: `unauthorized` (401), or `rate_limited` (429). */
  refusal(address: string): Refusal
}

/** Bounds the memory that strangers can occupy; who comes from more addresses meets the limit of them all. */
const ADDRESSES_MAX = 10_000

/** Begins with none. */
export function createWrongTokens(clock: Clock): WrongTokens {
  const buckets = (perMinute: number, bucketsMax: number) =>
    createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax })
  const ofAddress = buckets(limits.adminFailuresPerMinuteAndAddress, ADDRESSES_MAX)
  const ofAll = buckets(limits.adminFailuresPerMinute, 1)
  return {
    refusal: (address) => {
      // An address that is stopped does not use up what all have.
      const waitMs = ofAddress.take(networkOf(address)) || ofAll.take('all')
      return waitMs > 0 ? rateLimited(waitMs) : new Refusal('unauthorized')
    },
  }
}

/** What is refused until so many milliseconds have passed. */
export function rateLimited(waitMs: number): Refusal {
  return new Refusal('rate_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}

/** When something was used, epoch milliseconds. */
export interface Use {
  readonly id: string
  readonly usedAt: number
}

/**
 * Remembers when keys or operators were used until somebody writes it down, off the path of the request: each at most once a
 * minute and process.
 * @source rules#api-keys.11
 */
export interface LastUsed {
  /** Notes that it was used now. */
  note(id: string): void
  /** Writes what was noted, all of it at once. @throws what writing throws; it is noted anew a minute later */
  flush(): Promise<void>
}

/** @param idsMax how many are remembered; of more, some are written more often */
export function createLastUsed(clock: Clock, idsMax: number, write: (uses: readonly Use[]) => Promise<void>): LastUsed {
  const notedAt = new LRUCache<string, number>({ max: idsMax })
  const pending = new Map<string, number>()
  return {
    note: (id) => {
      const now = clock.now()
      const before = notedAt.get(id)
      if (before !== undefined && now - before < limits.lastUsedEveryMs) return
      notedAt.set(id, now)
      pending.set(id, now)
    },
    flush: async () => {
      const uses = [...pending].map(([id, usedAt]) => ({ id, usedAt }))
      pending.clear()
      if (uses.length > 0) await write(uses)
    },
  }
}

/** Why somebody was not let in. `throttled`: 429, whatever was shown. @source rules#metrics.8 */
export const REFUSAL_REASONS = {
  api_key: ['malformed', 'unknown', 'deactivated', 'expired', 'wrong_address', 'throttled', 'insufficient_scope'],
  operator: ['malformed', 'unknown', 'retired_admin_token', 'throttled', 'insufficient_role'],
} as const

/** Whose credential was refused. */
export type RefusedCredential = keyof typeof REFUSAL_REASONS

/** Is told of each that was refused; throws nothing. */
export type OnRefused = <Kind extends RefusedCredential>(
  kind: Kind,
  reason: (typeof REFUSAL_REASONS)[Kind][number],
) => void

/** Where refused credentials are reported. */
export interface RefusalReports {
  /** Of an API key. @param apiKeyId where the key is known */
  apiKey(reason: (typeof REFUSAL_REASONS)['api_key'][number], address: string, apiKeyId?: string): void
  /** Of what an operator shows. @param operatorId where it is known */
  operator(reason: (typeof REFUSAL_REASONS)['operator'][number], address: string, operatorId?: string): void
}

/** Makes the reports: a line at the first of a kind, then one a minute with how many more. @source rules#api-keys.9, rules#logs.3 */
export function createRefusalReports(
  logger: Logger,
  onRefused: OnRefused = () => undefined,
  heartbeat: Heartbeat = createHeartbeat(),
): RefusalReports {
  function line(sentence: string | undefined, fields: Readonly<Record<string, unknown>>, kind: string): void {
    if (sentence === undefined) return
    heartbeat.report(kind, (more) => logger.warn(fields, sentence + andMore(more)))
  }
  return {
    apiKey: (reason, address, apiKeyId) => {
      onRefused('api_key', reason)
      line(OF_API_KEYS[reason], { apiKeyId, reason, address }, `${apiKeyId} ${reason}`)
    },
    operator: (reason, address, operatorId) => {
      onRefused('operator', reason)
      line(OF_OPERATORS[reason], { operatorId, reason, address }, `${operatorId} ${reason}`)
    },
  }
}

/** What is malformed is counted and no more: nobody can mean it. */
const OF_API_KEYS: Readonly<Partial<Record<(typeof REFUSAL_REASONS)['api_key'][number], string>>> = {
  unknown: 'an API key that nobody has was refused',
  deactivated: 'an API key that was deactivated was refused; whoever uses it still has it',
  expired: 'an API key that has expired was refused; its owner needs another one',
  wrong_address: 'an API key was refused, as it may not be used from this address; somebody else may have it',
  throttled: 'an address has shown too many API keys that nobody has: more are refused without a look',
  insufficient_scope: 'a call was refused, as its API key does not have the scope',
}

const OF_OPERATORS: Readonly<Partial<Record<(typeof REFUSAL_REASONS)['operator'][number], string>>> = {
  unknown: 'a token that opens nothing was refused at an endpoint of the operator; somebody may be guessing',
  retired_admin_token:
    'PIXGATE_ADMIN_TOKEN was refused: since there is a named admin it makes API keys and reads the metrics, and nothing else',
  throttled: 'wrong tokens at the endpoints of the operator are answered 429 from now on; right ones pass',
  insufficient_role: 'a call was refused, as the role of its operator does not allow it',
}
