import type { IncomingHttpHeaders } from 'node:http'
import { IDEMPOTENCY_KEY, Refusal } from '@pixgate/spec'

const KEY = new RegExp(IDEMPOTENCY_KEY)

/**
 * Reads `Idempotency-Key`.
 * @returns the key without its quotes, or `null` where there is none
 * @throws validation_error (400) malformed or repeated
 * @source rules#idempotency.1
 */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const text = headers['idempotency-key']
  if (text === undefined) return null
  const match = typeof text === 'string' ? KEY.exec(text) : null
  const key = match?.[1] ?? match?.[2]
  if (key === undefined) {
    const message = 'Idempotency-Key must be 1 to 255 printable characters, sent once'
    throw new Refusal('validation_error', { message, fields: [{ field: 'Idempotency-Key', code: 'pattern', message }] })
  }
  return key
}
