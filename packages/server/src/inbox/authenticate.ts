import { Refusal } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import { hmacSha256, secretsEqual } from '../platform/crypto.ts'
import type { Authenticators, Caller } from '../platform/http/handler.ts'
import type { Logger } from '../platform/log.ts'
import { isTimely, partnerTimestamp } from './rules.ts'

/** What proves that the partner is speaking. */
export interface PartnerCredentials {
  /** HMAC secrets, the present one first, then the one before. */
  readonly secrets: readonly string[]
  /** A static key instead of a signature; only where it is configured. */
  readonly apiKey: string | undefined
}

const SIGNATURE = /^sha256=([0-9a-fA-F]{64})$/

/**
 * Judges the partner's request by its raw bytes, before anything is parsed or stored. An authentic request whose time
 * is off is not believed either, but makes us ask the partner.
 * @throws unauthorized (401) always the same one
 * @source rules#partner-inbox.1, rules#partner-inbox.2
 */
export function createPartnerAuthenticator(
  credentials: PartnerCredentials,
  clock: Clock,
  logger: Logger,
  onUntimely: (body: Buffer) => Promise<void>,
): Authenticators['partner'] {
  const caller: Caller = { credential: 'partner', id: 'partner' }
  return async ({ headers, rawBody }) => {
    const apiKey = headers['x-partner-api-key']
    if (credentials.apiKey !== undefined && typeof apiKey === 'string' && secretsEqual(apiKey, credentials.apiKey)) {
      return caller
    }
    if (!isSigned(headers['x-partner-signature'], rawBody, credentials.secrets)) throw new Refusal('unauthorized')
    const timestamp = partnerTimestamp(single(headers['x-partner-timestamp']))
    if (timestamp === undefined || !isTimely(timestamp, clock.now())) {
      logger.warn('a signed event of the partner is out of its time window; asking the partner instead')
      await onUntimely(rawBody)
      throw new Refusal('unauthorized')
    }
    return caller
  }
}

function isSigned(header: string | string[] | undefined, body: Buffer, secrets: readonly string[]): boolean {
  const hex = SIGNATURE.exec(single(header) ?? '')?.[1]
  if (hex === undefined) return false
  const given = Buffer.from(hex, 'hex')
  // Every secret is tried, so that the time taken does not tell which one fits.
  return secrets.map((secret) => secretsEqual(hmacSha256(secret, body), given)).includes(true)
}

/** Repeated headers arrive joined by a comma or as a list: neither is one value. */
function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}
