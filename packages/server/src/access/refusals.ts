import { limits, Refusal } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { clientNetworkOf } from '../platform/networks.ts'
import { andMore, createLogThrottle, type LogThrottle } from '../platform/runtime.ts'
import { createTokenBuckets } from '../platform/token-bucket.ts'

/**
 * Slows down guessing, per address and in total. Called only after the token was compared, so that a right one is never
 * refused because of others' wrong ones.
 * @source rules#api-keys.7
 */
export interface WrongTokens {
  /** Counts a wrong token and returns its refusal: `unauthorized` (401) or `rate_limited` (429). */
  refusal(address: string): Refusal
}

/** Bounds the memory that strangers can occupy. */
export const ADDRESSES_MAX = 10_000

export function createWrongTokens(clock: Clock): WrongTokens {
  const buckets = (perMinute: number, bucketsMax: number) =>
    createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax })
  const ofAddress = buckets(limits.adminFailuresPerMinuteAndAddress, ADDRESSES_MAX)
  const ofAll = buckets(limits.adminFailuresPerMinute, 1)
  return {
    refusal: (address) => {
      // A blocked address does not use up the total budget.
      const waitMs = ofAddress.take(clientNetworkOf(address)) || ofAll.take('all')
      return waitMs > 0 ? rateLimited(waitMs) : new Refusal('unauthorized')
    },
  }
}

export function rateLimited(waitMs: number): Refusal {
  return new Refusal('rate_limited', { retryAfterSeconds: Math.ceil(waitMs / 1_000) })
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
  throttle: LogThrottle = createLogThrottle(),
): RefusalReports {
  function line(sentence: string | undefined, fields: Readonly<Record<string, unknown>>, kind: string): void {
    if (sentence === undefined) return
    throttle.report(kind, (more) => logger.warn(fields, sentence + andMore(more)))
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
