import type { Logger } from '../log.ts'
import { andMore, createHeartbeat } from '../runtime.ts'
import type { Caller } from './handler.ts'

/**
 * `closed`: a connection, to make room. `limited`: a request was refused, or put off, for what came before it. `crowded`: one
 * with right credentials was refused, as they have too many connections.
 */
export type StrangerOutcome = (typeof STRANGER_OUTCOMES)[number]

/** Every {@link StrangerOutcome}. */
export const STRANGER_OUTCOMES = ['closed', 'limited', 'crowded'] as const

/** Is told of what was refused to strangers of a network, and to whom else; throws nothing. */
export type ReportStranger = (outcome: StrangerOutcome, network: string, caller?: Caller) => void

/** Is told of each connection and request of strangers that was refused; throws nothing. */
export type OnStranger = (outcome: StrangerOutcome) => void

const SENTENCES: Readonly<Record<StrangerOutcome, string>> = {
  closed: 'there are too many connections without credentials: one of the network that has the most was closed',
  limited: 'too many requests of a network had wrong credentials or never arrived: more of them are 429, a second late',
  crowded: 'one credential, or all API keys together, hold too many connections: a request on another one is 429',
}

/** Makes the reports of strangers: a line at the first, and then one a minute. @source rules#logs.3 */
export function createStrangerReport(logger: Logger, onStranger?: OnStranger): ReportStranger {
  const heartbeat = createHeartbeat()
  return (outcome, network, caller) => {
    onStranger?.(outcome)
    const who = { network, ...(caller && { credential: caller.credential, credentialId: caller.id }) }
    heartbeat.report(outcome, (more) => logger.warn(who, SENTENCES[outcome] + andMore(more)))
  }
}
