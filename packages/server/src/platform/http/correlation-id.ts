import type { IncomingHttpHeaders } from 'node:http'
import { CORRELATION_ID } from '@pixgate/spec'
import type { Ids } from '../ids.ts'

/** The header by which a client follows one request through its own systems and ours. */
export const CORRELATION_HEADER = 'x-correlation-id'

const FORM = new RegExp(CORRELATION_ID)

/**
 * The request's correlation id: the client's own, as it came, or a new one where it sent none that can be echoed. It never
 * fails a request.
 * @source rules#http.3
 */
export function correlationIdOf({ headers }: { readonly headers: IncomingHttpHeaders }, ids: Ids): string {
  const given = headers[CORRELATION_HEADER]
  return typeof given === 'string' && FORM.test(given) ? given : ids.uuid()
}
