import type { Logger } from '../log.ts'
import { andMore, createHeartbeat } from '../runtime.ts'
import type { Caller } from './handler.ts'

/**
 * - `closed`: a connection was closed to make room.
 * - `limited`: a request was refused or delayed because of earlier ones.
 * - `crowded`: a request with valid credentials was refused, since these hold too many connections.
 */
export type StrangerOutcome = (typeof STRANGER_OUTCOMES)[number]

export const STRANGER_OUTCOMES = ['closed', 'limited', 'crowded'] as const

/** Called for each refusal, with the network and, if known, the caller; must not throw. */
export type ReportStranger = (outcome: StrangerOutcome, network: string, caller?: Caller) => void

export type OnStranger = (outcome: StrangerOutcome) => void

const SENTENCES: Readonly<Record<StrangerOutcome, string>> = {
  closed: 'too many connections without credentials: closed one of the network with the most',
  limited:
    'too many requests of a network had wrong credentials or never arrived: answering more with 429, one second late',
  crowded:
    'one credential, or all API keys together, hold too many connections: answering requests on further ones with 429',
}

/** Logs the first report, then one line a minute. @source rules#logs.3 */
export function createStrangerReport(logger: Logger, onStranger?: OnStranger): ReportStranger {
  const heartbeat = createHeartbeat()
  return (outcome, network, caller) => {
    onStranger?.(outcome)
    const who = { network, ...(caller && { credential: caller.credential, credentialId: caller.id }) }
    heartbeat.report(outcome, (more) => logger.warn(who, SENTENCES[outcome] + andMore(more)))
  }
}
