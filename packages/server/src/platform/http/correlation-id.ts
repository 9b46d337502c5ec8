import type { IncomingHttpHeaders } from 'node:http'
import { type FieldError, limits, REFERENCE, Refusal } from '@pixgate/spec'
import type { Ids } from '../ids.ts'

/** The header by which a client follows one request through its own systems and ours. */
export const CORRELATION_HEADER = 'x-correlation-id'

/**
 * The request's correlation id: the client's own, or a new one where it sent none or a malformed one.
 * @source rules#http.3
 */
export function correlationIdOf({ headers }: WithHeaders, ids: Ids): string {
  const given = headers[CORRELATION_HEADER]
  return isCorrelationId(given) ? given : ids.uuid()
}

/** A malformed id is refused, under the id that was made in its place. @source rules#http.3 */
export function correlationRefusal({ id, headers }: WithHeaders & { readonly id: string }): Refusal | undefined {
  const given = headers[CORRELATION_HEADER]
  return given === undefined || given === id ? undefined : new Refusal('validation_error', { fields: [MALFORMED] })
}

interface WithHeaders {
  readonly headers: IncomingHttpHeaders
}

const FORM = new RegExp(REFERENCE)

/** Node joins a repeated header with commas, so that it is malformed too. */
function isCorrelationId(given: string | string[] | undefined): given is string {
  return typeof given === 'string' && given.length <= limits.correlationIdMaxLength && FORM.test(given)
}

const MALFORMED: FieldError = {
  field: 'X-Correlation-ID',
  code: 'pattern',
  message: 'X-Correlation-ID must be 1 to 128 characters of A-Z a-z 0-9 . _ : -, sent once',
}
