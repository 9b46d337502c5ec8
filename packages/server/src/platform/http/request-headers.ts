import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'
import { CORRELATION_ID, IDEMPOTENCY_KEY } from '@pixgate/spec'
import type { Ids } from '../ids.ts'
import { invalidField } from './request.ts'

/** Idempotency key, correlation id and client address of a request. */

const IDEMPOTENCY_KEY_PATTERN = new RegExp(IDEMPOTENCY_KEY)

/**
 * @returns the key without its quotes, or `null` without the header
 * @throws validation_error (400) malformed or repeated
 * @source rules#idempotency.1
 */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const text = headers['idempotency-key']
  if (text === undefined) return null
  const match = typeof text === 'string' ? IDEMPOTENCY_KEY_PATTERN.exec(text) : null
  const key = match?.[1] ?? match?.[2]
  if (key === undefined) {
    throw invalidField('Idempotency-Key', 'pattern', 'Idempotency-Key must be 1 to 255 printable characters, sent once')
  }
  return key
}

/** Header by which a client follows a request through its own systems and ours. */
export const CORRELATION_HEADER = 'x-correlation-id'

const CORRELATION_ID_PATTERN = new RegExp(CORRELATION_ID)

/**
 * The client's correlation id if it is well-formed, otherwise a new one. Never refuses a request.
 * @source rules#http.3
 */
export function correlationIdOf({ headers }: { readonly headers: IncomingHttpHeaders }, ids: Ids): string {
  const given = headers[CORRELATION_HEADER]
  return typeof given === 'string' && CORRELATION_ID_PATTERN.test(given) ? given : ids.uuid()
}

/** Longest textual address: IPv4-mapped IPv6. */
const ADDRESS_MAX_LENGTH = 45

/**
 * The client's address as trusted proxies report it, if it is a plain address. Anything else in `X-Forwarded-For` may
 * be forged, so the connection's address counts instead.
 * @source rules#audit.6
 */
export function clientAddress(reported: string | undefined, ofConnection: string | undefined): string {
  if (isAddress(reported)) return reported
  return isAddress(ofConnection) ? ofConnection : 'unknown'
}

function isAddress(text: string | undefined): text is string {
  // An IPv6 zone (`fe80::1%eth0`) is arbitrary text, valid on one machine only.
  return text !== undefined && text.length <= ADDRESS_MAX_LENGTH && !text.includes('%') && isIP(text) !== 0
}
