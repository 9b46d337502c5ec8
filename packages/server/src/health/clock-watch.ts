import type { DatabaseClock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { clockProblem } from './routes.ts'

/** What the clock is read from, and told to. */
export interface ClockWatchOptions {
  readonly clock: DatabaseClock
  /** The database's time. @throws DatabaseUnavailable */
  readonly databaseNow: () => Promise<number>
  readonly logger: Logger
}

/**
 * Makes the look at this machine's clock, which decides nothing but stands in every line of the log: a line at each look
 * that finds it off, and one when that is over.
 * @source rules#logs.5
 */
export function createClockWatch({ clock, databaseNow, logger }: ClockWatchOptions): () => Promise<void> {
  let wasOff = false
  return async () => {
    clock.observe(await databaseNow())
    const problem = clockProblem(clock)
    if (problem !== undefined) logger.warn({ skewMs: Math.round(clock.skewMs()) }, OFF)
    else if (wasOff) logger.info('the clock of this machine agrees with the database’s again')
    wasOff = problem !== undefined
  }
}

const OFF =
  'the clock of this machine is off the database’s, and so are the times of this log; nothing is decided by it: set it right'
