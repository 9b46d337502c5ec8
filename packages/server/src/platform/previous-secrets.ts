import { andMore, createHeartbeat, type Heartbeat } from './heartbeat.ts'
import type { Logger } from './log.ts'

/** Is told that a previous secret was accepted, by the variable that it stands in. Throws nothing. */
export type OnPreviousSecret = (variable: string) => void

/**
 * Says who has not changed over: while a previous secret is used, it cannot go.
 * @param count adds one to its uses
 * @source rules#rotation.2
 */
export function createPreviousSecretReports(
  logger: Logger,
  count: OnPreviousSecret,
  heartbeat: Heartbeat = createHeartbeat(),
): OnPreviousSecret {
  return (variable) => {
    count(variable)
    heartbeat.report(variable, (more) =>
      logger.info({ variable }, `a secret that is being replaced is used still${andMore(more)}`),
    )
  }
}
