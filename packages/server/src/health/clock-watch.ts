import type { DatabaseClock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'

/** The node's clock may be off by this much; more is somebody's to repair. @source failure-modes#EX-4 */
const SKEW_MAX_MS = 1_000

/** What is wrong with this machine's clock, as a whole sentence; `undefined` where nothing is. */
export function clockProblem(clock: Pick<DatabaseClock, 'skewMs'>): string | undefined {
  const skewMs = Math.round(clock.skewMs())
  if (Math.abs(skewMs) <= SKEW_MAX_MS) return undefined
  return `the clock of this machine is ${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} the database's`
}

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
    const skewMs = Math.round(clock.skewMs())
    if (problem !== undefined) {
      const level = Math.abs(skewMs) > GROSS_MS ? 'error' : 'warn'
      logger[level]({ skewMs }, skewMs > 0 ? AHEAD : BEHIND)
    } else if (wasOff) logger.info('the clock of this machine agrees with the database’s again')
    wasOff = problem !== undefined
  }
}

/** From here on nobody would find a line by its time. */
const GROSS_MS = 60_000

const CONSEQUENCE = 'and so are the times of this log; nothing is decided by it: set it right'
const AHEAD = `the clock of this machine is ahead of the database’s, ${CONSEQUENCE}`
const BEHIND = `the clock of this machine is behind the database’s, ${CONSEQUENCE}`
