import type { ExceededLimit } from '@pixgate/spec'
import type { Logger } from '../../platform/log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../../platform/runtime.ts'
import type { MadeBy } from '../made-by.ts'

/** Is told of each refusal because of a limit. Throws nothing. */
export type OnLimitExceeded = (limit: ExceededLimit, madeBy: MadeBy) => void

/**
 * Logs and counts what limits refuse: a key that meets them again and again may be stolen.
 * @param onRefused counts it by the limit
 * @source rules#limits.8
 */
export function createLimitReports(
  logger: Logger,
  onRefused: (limit: ExceededLimit) => void,
  heartbeat: Heartbeat = createHeartbeat(),
): OnLimitExceeded {
  return (limit, { caller, address }) => {
    onRefused(limit)
    const { name, owner, maxCents, usedCents } = limit
    const line = { limit: name, owner, maxCents: Number(maxCents), usedCents: Number(usedCents), key: caller, address }
    heartbeat.report(`${name} ${owner} ${caller}`, (more) =>
      logger.warn(line, `a limit refused a payout or refund${andMore(more)}`),
    )
  }
}
