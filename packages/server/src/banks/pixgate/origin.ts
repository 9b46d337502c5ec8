import { limits } from '@pixgate/spec'
import { hmacSha256, secretsEqual } from '../../platform/crypto.ts'
import type { InboundRequest, Judgement } from '../inbound.ts'

export interface PartnerCredentials {
  readonly secrets: readonly string[]
  /** Static key instead of a signature; absent: not accepted. */
  readonly apiKey: string | undefined
  readonly apiKeyPrevious?: string | undefined
  /** Whether the static key is accepted from an address. */
  readonly isFromBank: (address: string) => boolean
}

type Header = InboundRequest['headers'][string]

/**
 * Checks an event by its raw bytes. A signed event outside its time window may be a replay.
 * @source rules#partner-inbox.1, rules#partner-inbox.2, rules#production.7, rules#rotation.2
 */
export function originOf(credentials: PartnerCredentials, request: InboundRequest): Judgement {
  const { headers, body, nowMs } = request
  const byKey = judgementOfKey(credentials, single(headers['x-partner-api-key']))
  if (byKey !== undefined) {
    if (credentials.isFromBank(request.remoteAddress)) return byKey
    if (headers['x-partner-signature'] === undefined) return { origin: 'refused', reason: FROM_ELSEWHERE }
  }
  const signed = signatureOf(headers['x-partner-signature'], body, credentials.secrets)
  if ('fault' in signed) return { origin: 'refused', reason: `the signature is ${signed.fault}` }
  const judgement = timeliness(headers['x-partner-timestamp'], nowMs)
  return judgement === 'proven' && signed.isByPrevious ? byPrevious('PIXGATE_PARTNER_SECRET_PREVIOUS') : judgement
}

const FROM_ELSEWHERE = 'the static key came from an address that PIXGATE_PARTNER_ADDRESSES does not have'

/** @returns `undefined` for an unknown key */
function judgementOfKey({ apiKey, apiKeyPrevious }: PartnerCredentials, key: string | undefined) {
  const is = (ours: string | undefined) => key !== undefined && ours !== undefined && secretsEqual(key, ours)
  if (is(apiKey)) return 'proven'
  return is(apiKeyPrevious) ? byPrevious('PIXGATE_PARTNER_INBOUND_API_KEY_PREVIOUS') : undefined
}

function byPrevious(previousSecret: string): Judgement {
  return { origin: 'proven', previousSecret }
}

const SIGNATURE = /^sha256=([0-9a-fA-F]{64})$/

function signatureOf(
  header: Header,
  body: Buffer,
  secrets: readonly string[],
): { readonly fault: string } | { readonly isByPrevious: boolean } {
  if (header === undefined) return { fault: 'missing' }
  const hex = SIGNATURE.exec(single(header) ?? '')?.[1]
  if (hex === undefined) return { fault: 'malformed' }
  const given = Buffer.from(hex, 'hex')
  // Compares every secret, so that the time taken does not reveal which one matches.
  const fits = secrets.map((secret) => secretsEqual(hmacSha256(secret, body), given))
  return fits.includes(true) ? { isByPrevious: fits[0] !== true } : { fault: 'wrong' }
}

/** Whether a signed time is close enough to ours to exclude a replay. @source rules#partner-inbox.2 */
export function timeliness(header: Header, nowMs: number): Judgement {
  if (header === undefined) return { origin: 'stale', reason: 'the timestamp is missing' }
  const timestamp = partnerTimestamp(single(header))
  if (timestamp === undefined) return { origin: 'stale', reason: 'the timestamp is malformed' }
  const lateMs = nowMs - timestamp
  const beyondMs = Math.abs(lateMs) - limits.partnerTimestampWindowMs
  if (beyondMs <= 0) return 'proven'
  const reason = lateMs > 0 ? 'the timestamp is too old' : 'the timestamp lies ahead of our clock'
  return { origin: 'stale', reason, lateBySeconds: Math.sign(lateMs) * Math.ceil(beyondMs / 1_000) }
}

/** Repeated headers arrive joined by a comma or as a list; neither is a single value. */
function single(header: Header): string | undefined {
  return typeof header === 'string' ? header : undefined
}

const NUMBER = /^\d{1,16}$/

/** Larger numbers are milliseconds: as seconds they would lie after the year 5000. */
const SECONDS_MAX = 100_000_000_000

/**
 * Reads `X-Partner-Timestamp`: Unix seconds, milliseconds, or ISO 8601.
 * @returns epoch milliseconds, or `undefined`
 * @source rules#partner-inbox.2
 */
export function partnerTimestamp(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (NUMBER.test(text)) {
    const number = Number(text)
    return number > SECONDS_MAX ? number : number * 1_000
  }
  const at = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}
