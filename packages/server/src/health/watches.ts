import type { BreakerState } from '../banks/breaker.ts'
import type { Clock, DatabaseClock } from '../platform/clock.ts'
import { DatabaseUnavailable, databaseError, databaseProblem, isRefusedWrite } from '../platform/db/errors.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createLogThrottle, type LogThrottle } from '../platform/runtime.ts'
import type { Backlog, Count, HealthStore } from './store.ts'

/** Tolerated offset of the node's clock; a larger one must be repaired. @source failure-modes#EX-4 */
const SKEW_MAX_MS = 1_000

export function clockProblem(clock: Pick<DatabaseClock, 'skewMs'>): string | undefined {
  const skewMs = Math.round(clock.skewMs())
  if (Math.abs(skewMs) <= SKEW_MAX_MS) return undefined
  return `the clock of this machine is ${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} the database's`
}

export interface ClockWatchOptions {
  readonly clock: DatabaseClock
  /** The database's time. @throws DatabaseUnavailable */
  readonly databaseNow: () => Promise<number>
  readonly logger: Logger
}

/**
 * Checks this machine's clock, which stamps every log line; a process whose clock is off is not ready. Logs each check that
 * finds it off, and the end of that.
 * @source rules#logs.5
 */
export function createClockWatch({ clock, databaseNow, logger }: ClockWatchOptions): () => Promise<void> {
  let wasOff = false
  return async () => {
    clock.observe(await databaseNow())
    const problem = clockProblem(clock)
    const skewMs = Math.round(clock.skewMs())
    if (problem !== undefined) {
      const level = Math.abs(skewMs) > SKEW_ERROR_MS ? 'error' : 'warn'
      logger[level]({ event: 'clock.skewed', skewMs }, `${problem}: ${NOT_READY}`)
    } else if (wasOff) logger.info({ event: 'clock.in_sync' }, "the clock of this machine agrees with the database's")
    wasOff = problem !== undefined
  }
}

/** From here on log lines cannot be found by their time. */
const SKEW_ERROR_MS = 60_000

const NOT_READY = 'this process is not ready until they differ by at most 1 s; synchronise both with NTP'

/** Observes the engine to know whether the database accepts writes. One that refuses them may still be read. */
export interface WriteWatch {
  /** @param error unexpected error of the database; `undefined`: committed */
  onWrite(error: unknown): void
  /** A commit exceeded its time limit. */
  onOverdue(): void
  /** Reason why writes fail, if they do. */
  problem(): string | undefined
}

export interface WriteWatchOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly throttle?: LogThrottle
}

/**
 * Time for which a failed write counts. A process that is not ready gets no requests, would never write again and so would
 * never notice the recovery.
 */
const FAILURE_COUNTS_MS = 60_000

/** @source rules#health.7 */
export function createWriteWatch({ clock, logger, throttle = createLogThrottle() }: WriteWatchOptions): WriteWatch {
  let lastFailure: { readonly at: number; readonly problem: string } | undefined
  return {
    onWrite: (error) => {
      if (isRefusedWrite(error)) lastFailure = { at: clock.now(), problem: databaseProblem(error) }
      if (error !== undefined || lastFailure === undefined) return
      lastFailure = undefined
      throttle.report('resumed', (more) => {
        if (lastFailure !== undefined) return
        logger.info({ event: 'database.writes_resumed' }, `the database accepts writes again${andMore(more)}`)
      })
    },
    onOverdue: () => {
      lastFailure = { at: clock.now(), problem: 'a commit takes too long: a synchronous standby may be missing' }
    },
    problem: () => (lastFailure && clock.now() - lastFailure.at < FAILURE_COUNTS_MS ? lastFailure.problem : undefined),
  }
}

export interface OverdueWorkOptions {
  /** Unclaimed overdue work by kind. @throws DatabaseUnavailable */
  readonly countOverdue: () => Promise<readonly Count[]>
  /** The circuit breaker of payouts and refunds. */
  readonly payoutBreaker: () => BreakerState
  readonly logger: Logger
}

/**
 * Checks for overdue work: reveals a deployment without a worker. Logs each kind of work at each check, and the end of
 * that.
 * @source rules#logs.5
 */
export function createOverdueWorkWatch(options: OverdueWorkOptions): () => Promise<void> {
  const { countOverdue, payoutBreaker, logger } = options
  let overdueBefore: ReadonlySet<string> = new Set()
  return async () => {
    const found = await countOverdue()
    for (const { kind, count, oldestSeconds } of found) {
      const isHeldBack = KINDS_BEHIND_BREAKER.has(kind) && payoutBreaker() !== 'closed'
      const fields = { event: 'work.overdue', work: kind, count, lateSeconds: Math.round(oldestSeconds ?? 0) }
      logger.warn({ ...fields, ...(isHeldBack ? { heldBack: 'breaker' } : {}) }, OVERDUE)
    }
    const overdueNow = new Set(found.map(({ kind }) => kind))
    for (const work of overdueBefore) {
      if (!overdueNow.has(work)) logger.info({ event: 'work.overdue_cleared', work }, NOT_OVERDUE)
    }
    overdueBefore = overdueNow
  }
}

const KINDS_BEHIND_BREAKER: ReadonlySet<string> = new Set(['cash_out', 'refund_in'])

const OVERDUE = 'work is overdue by more than a minute: no worker, an overloaded worker, or an open circuit breaker'

/** Claimed, done, or waiting for a reason: payouts that the kill switch holds back are not overdue. */
const NOT_OVERDUE = 'no work of this kind is overdue any more'

/** The readable parts of the backlog: one part may fail while others are read. */
export type BacklogReading = Partial<Backlog>

export interface BacklogReaderOptions {
  readonly store: HealthStore
  readonly logger: Logger
  readonly throttle?: LogThrottle
}

/**
 * Reads the backlog without throwing. A part that the database refuses is omitted and logged with the reason. An
 * unavailable database was already logged by its pool, and gets no further queries.
 * @source rules#logs.3, rules#metrics.7
 */
export function createBacklogReader(options: BacklogReaderOptions): () => Promise<BacklogReading> {
  const { store, logger, throttle = createLogThrottle() } = options

  function report(part: keyof Backlog, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    const fields = { event: 'metrics.part_unreadable', part, reason }
    throttle.report(`${part} ${reason}`, (more) =>
      logger.error(fields, `metric could not be read; it is missing from this scrape${andMore(more)}`),
    )
  }
  return async () => {
    const reading: { -readonly [Part in keyof Backlog]?: Backlog[Part] } = {}
    for (const part of Object.keys(store) as (keyof Backlog)[]) {
      try {
        reading[part] = await store[part]()
      } catch (error) {
        if (isUnreachable(error)) break
        report(part, error)
      }
    }
    return reading
  }
}

/** Whether there was no answer at all. A statement that timed out was answered. */
function isUnreachable(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && databaseError(error.cause) === undefined
}
