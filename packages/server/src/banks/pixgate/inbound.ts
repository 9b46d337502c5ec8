import { receiveCashInEvent, receiveCashOutEvent } from '@pixgate/spec'
import type { Inbound } from '../inbound.ts'
import { isPartnerRoute, readBody, unreadable } from './messages.ts'
import { originOf, type PartnerCredentials } from './origin.ts'

const ACKNOWLEDGEMENT = { status: 200, body: { received: true } } as const

/** The callbacks of a bank that speaks our own protocol. @source partner-protocol#events */
export function createPixgateInbound(credentials: PartnerCredentials): Inbound {
  return {
    routes: [
      { name: 'cash-in', endpoint: receiveCashInEvent, acknowledgement: ACKNOWLEDGEMENT },
      { name: 'cash-out', endpoint: receiveCashOutEvent, acknowledgement: ACKNOWLEDGEMENT },
    ],
    authenticate: (request) => originOf(credentials, request),
    parse: (route, body) => [
      isPartnerRoute(route) ? readBody(route, body) : unreadable(body, `no route of this bank: ${route}`),
    ],
  }
}
