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
 * Format of keys and tokens: prefix, secret, checksum. The checksum recognises junk without a query, and a leaked key
 * among lookalikes.
 * @source rules#api-keys.2, rules#operators.2
 */

/** A credential opens one mode only. */
export type Mode = 'sandbox' | 'production'

export const SECRET_BYTES = 32

const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const DISPLAY_LENGTH = 8

export interface TokenKind {
  /** Exact length of every key. */
  readonly length: number
  /**
   * Formats a secret as a key.
   * @param secret {@link SECRET_BYTES} random bytes, all significant: 43 base62 characters hold 256 bits
   */
  format(mode: Mode, secret: Buffer): string
  /** The mode of a well-formed key, which may still be unknown; `undefined` for other texts. */
  modeOf(text: string): Mode | undefined
  /** The part of a key that may be stored and shown. @source rules#api-keys.3 */
  displayOf(key: string): string
}

/**
 * Defines a kind.
 * @param pattern of the whole text with its prefix
 * @param prefixes of equal length
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

/** One space, then visible ASCII to the end. The scheme is case-insensitive (RFC 9110). */
const BEARER = /^Bearer ([!-~]+)$/i

/** The token of an `Authorization` header, if any. @source rules#http.6 */
export function bearerToken(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}

/** The id of the calling named operator; `null` for the administrative token. @source rules#operators.7 */
export function namedOperatorOf({ id, name }: Caller): string | null {
  return name === undefined ? null : id
}

/**
 * Slows down guessing, per address and in total. Called only after the token was compared, so that a right one is never
 * refused because of others' wrong ones.
 * @source rules#api-keys.7
 */
export interface WrongTokens {
  /** Counts a wrong token and returns its refusal: `unauthorized` (401) or `rate_limited` (429). */
  refusal(address: string): Refusal
}

/** Bounds the memory that strangers can occupy. More addresses meet the total limit. */
const ADDRESSES_MAX = 10_000

export function createWrongTokens(clock: Clock): WrongTokens {
  const buckets = (perMinute: number, bucketsMax: number) =>
    createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax })
  const ofAddress = buckets(limits.adminFailuresPerMinuteAndAddress, ADDRESSES_MAX)
  const ofAll = buckets(limits.adminFailuresPerMinute, 1)
  return {
    refusal: (address) => {
      // A blocked address does not use up the total budget.
      const waitMs = ofAddress.take(networkOf(address)) || ofAll.take('all')
      return waitMs > 0 ? rateLimited(waitMs) : new Refusal('unauthorized')
    },
  }
}

export function rateLimited(waitMs: number): Refusal {
  return new Refusal('rate_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
}

/** A use, in epoch milliseconds. */
export interface Use {
  readonly id: string
  readonly usedAt: number
}

/**
 * Collects the times of use of keys or operators off the request's path, each at most once a minute and process.
 * @source rules#api-keys.11
 */
export interface LastUsed {
  note(id: string): void
  /** Writes all recorded uses at once. @throws errors of the write; the uses are recorded again a minute later */
  flush(): Promise<void>
}

/** @param idsMax number of remembered ids; beyond it, some are written more often */
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

/** Reasons of refusals. `throttled`: 429, whatever was sent. @source rules#metrics.8 */
export const REFUSAL_REASONS = {
  api_key: ['malformed', 'unknown', 'deactivated', 'expired', 'wrong_address', 'throttled', 'insufficient_scope'],
  operator: ['malformed', 'unknown', 'retired_admin_token', 'throttled', 'insufficient_role'],
} as const

export type RefusedCredential = keyof typeof REFUSAL_REASONS

/** Called for each refusal; must not throw. */
export type OnRefused = <Kind extends RefusedCredential>(
  kind: Kind,
  reason: (typeof REFUSAL_REASONS)[Kind][number],
) => void

export interface RefusalReports {
  /** For an API key. @param apiKeyId if the key is known */
  apiKey(reason: (typeof REFUSAL_REASONS)['api_key'][number], address: string, apiKeyId?: string): void
  /** For an operator's token. @param operatorId if the operator is known */
  operator(reason: (typeof REFUSAL_REASONS)['operator'][number], address: string, operatorId?: string): void
}

/** Logs the first of a kind, then one line a minute with the count. @source rules#api-keys.9, rules#logs.3 */
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

/** Malformed keys are counted but not logged: they cannot be meant seriously. */
const OF_API_KEYS: Readonly<Partial<Record<(typeof REFUSAL_REASONS)['api_key'][number], string>>> = {
  unknown: 'an unknown API key was refused',
  deactivated: 'a deactivated API key was refused; its user still has it',
  expired: 'an expired API key was refused; its owner needs a new one',
  wrong_address: 'an API key was refused from a network it is not allowed in; it may have been stolen',
  throttled: 'too many unknown API keys from one address; refusing further ones without a look-up',
  insufficient_scope: 'a call was refused: its API key lacks the scope',
}

const OF_OPERATORS: Readonly<Partial<Record<(typeof REFUSAL_REASONS)['operator'][number], string>>> = {
  unknown: 'an unknown token was refused at an endpoint of the operator; someone may be guessing',
  retired_admin_token:
    'PIXGATE_ADMIN_TOKEN was refused: since there is a named admin it makes API keys and reads the metrics, and nothing else',
  throttled: 'too many wrong tokens at the endpoints of the operator; answering further wrong ones with 429',
  insufficient_role: 'a call was refused: the role of its operator does not allow it',
}
