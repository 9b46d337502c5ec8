import { Refusal } from '@pixgate/spec'
import type { Inbound } from '../banks/inbound.ts'
import type { Clock } from '../platform/clock.ts'
import type { Authenticators, Caller } from '../platform/http/handler.ts'
import type { InboxReports } from './reporting.ts'

const BANK: Caller = { credential: 'partner', id: 'partner' }
const ANYBODY: Caller = { credential: 'partner', id: 'unproven partner', isStranger: true }

/** Whether who was let in proved to be the bank. */
export function isProven(caller: Caller): boolean {
  return caller.id === BANK.id
}

/**
 * Lets the bank in, by its raw bytes, before anything is parsed or stored. An authentic callback whose time is off is not
 * believed either, but makes us ask the bank. What proves nothing is let in where the bank's calls prove nothing: it is only
 * ever a question to the bank.
 * @throws unauthorized (401) always the same one
 * @source rules#partner-inbox.1, rules#partner-inbox.2, rules#partner-inbox.15
 */
export function createBankAuthenticator(
  { routes, authenticate }: Pick<Inbound, 'routes' | 'authenticate'>,
  clock: Clock,
  reports: Pick<InboxReports, 'callback'>,
  onStale: (route: string, body: Buffer) => Promise<void>,
): Authenticators['partner'] {
  return async ({ endpoint, headers, rawBody: body, remoteAddress, search }) => {
    const judged = authenticate({ headers, body, remoteAddress, search, nowMs: clock.now() })
    const judgement = typeof judged === 'string' ? { origin: judged } : judged
    const { origin } = judgement
    reports.callback(endpoint.path, judgement)
    if (origin === 'proven') return BANK
    if (origin === 'unproven') return ANYBODY
    if (origin === 'stale') {
      const route = routes.find((one) => one.endpoint === endpoint)
      if (route) await onStale(route.name, body)
    }
    throw new Refusal('unauthorized')
  }
}
