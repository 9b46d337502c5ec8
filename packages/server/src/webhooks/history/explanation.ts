import type { AttemptOutcome } from '@pixgate/spec'
import { knownProblem } from '../../platform/connection-problem.ts'
import { type RequestPart, requestParts, type TimeSplit } from '../../platform/http-client/request-times.ts'

/** What there is to explain of an attempt. */
export interface Explained {
  readonly outcome: AttemptOutcome
  readonly statusCode: number | null
  /** Of the system, of TLS or of the client, where there was no answer. */
  readonly code: string | null
  readonly times: Pick<TimeSplit, `${RequestPart}Ms`>
}

/** Why there was no answer in time, by what was waited for last. */
const LATE: Readonly<Record<RequestPart, string>> = {
  dns: 'The name of your server was not looked up in time.',
  connect: 'Your server did not take the connection in time.',
  tls: 'Your server did not finish the TLS handshake in time.',
  wait: 'Your server took the connection and did not answer in time.',
}

/** Of the outcomes without an answer, where no code tells more. */
const UNANSWERED: Readonly<Record<Exclude<AttemptOutcome, 'delivered' | 'refused' | 'timeout'>, string>> = {
  dns: 'The name of your server has no address.',
  connect: 'No connection to your server could be made.',
  tls: 'No TLS connection to your server could be made.',
  broken: 'Your server closed the connection before answering.',
  address_not_allowed: 'The name of your server led to an address that is not public: no connection was made.',
}

/**
 * The outcome of an attempt in a sentence, for whoever runs the receiver.
 * @source rules#webhooks.17
 */
export function explanationOf({ outcome, statusCode, code, times }: Explained): string {
  switch (outcome) {
    case 'delivered':
      return `Your server took it: it answered ${statusCode}.`
    case 'refused':
      return ofStatus(statusCode ?? 0)
    case 'timeout':
      return LATE[requestParts.findLast((part) => times[`${part}Ms`] !== null) ?? 'connect']
    case 'dns':
    case 'connect':
    case 'tls':
      return ofCode(code) ?? UNANSWERED[outcome]
    case 'broken':
      return code?.startsWith('HPE_') ? 'Your server answered something that is not HTTP.' : UNANSWERED.broken
    case 'address_not_allowed':
      return UNANSWERED[outcome]
    default:
      return outcome satisfies never
  }
}

function ofCode(code: string | null): string | undefined {
  const problem = code === null ? undefined : knownProblem(code)
  return problem === undefined ? undefined : `Your server ${problem}.`
}

function ofStatus(statusCode: number): string {
  if (statusCode >= 300 && statusCode < 400) return `Your server answered ${statusCode}: a redirect is never followed.`
  if (statusCode === 401 || statusCode === 403) {
    return `Your server answered ${statusCode}: it did not accept who sent it, or did not verify the signature.`
  }
  if (statusCode === 410) return 'Your server answered 410: it wants nothing more.'
  return `Your server answered ${statusCode}.`
}
