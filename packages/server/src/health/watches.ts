import type { BreakerState } from '../banks/breaker.ts'
import type { Clock, DatabaseClock } from '../platform/clock.ts'
import { DatabaseUnavailable, databaseError, databaseProblem, isRefusedWrite } from '../platform/db/errors.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../platform/runtime.ts'
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
 * Checks this machine's clock, which decides nothing but stamps every log line. Logs each check that finds it off, and
 * the end of that.
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

/** Beyond this, log lines cannot be found by their time. */
const GROSS_MS = 60_000

const CONSEQUENCE = 'and so are the times in this log; nothing else depends on it: correct it, for example by NTP'
const AHEAD = `the clock of this machine is ahead of the database’s, ${CONSEQUENCE}`
const BEHIND = `the clock of this machine is behind the database’s, ${CONSEQUENCE}`

/** Tracks whether the database accepts writes. One that refuses them may still be read. */
export interface WriteWatch {
  /** Reports the result of a write. @param refusal the database's error; `undefined` after a commit */
  onWrite(refusal: unknown): void
  /** Reports that a commit does not end. */
  onOverdue(): void
  problem(): string | undefined
}

export interface WriteWatchOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly heartbeat?: Heartbeat
}

/**
 * Maximum time for which a refused write counts. A process that is not ready gets no requests, would never write again
 * and so would never notice the recovery.
 */
const COUNTS_FOR_MS = 60_000

/** @source rules#health.7 */
export function createWriteWatch({ clock, logger, heartbeat = createHeartbeat() }: WriteWatchOptions): WriteWatch {
  let refused: { readonly at: number; readonly problem: string } | undefined
  return {
    onWrite: (refusal) => {
      if (isRefusedWrite(refusal)) refused = { at: clock.now(), problem: databaseProblem(refusal) }
      if (refusal !== undefined || refused === undefined) return
      refused = undefined
      heartbeat.report('back', (more) => {
        if (refused === undefined) logger.info(`the database takes writes again${andMore(more)}`)
      })
    },
    onOverdue: () => {
      refused = { at: clock.now(), problem: 'the database does not end commits: a synchronous standby may be missing' }
    },
    problem: () => (refused && clock.now() - refused.at < COUNTS_FOR_MS ? refused.problem : undefined),
  }
}

export interface LateWorkOptions {
  /** Unclaimed overdue work by kind. @throws DatabaseUnavailable */
  readonly late: () => Promise<readonly Count[]>
  readonly orders: () => BreakerState
  readonly logger: Logger
}

/**
 * Checks for overdue work: reveals a deployment without a worker. Logs each kind of work at each check, and the end of
 * that.
 * @source rules#logs.5
 */
export function createLateWorkWatch({ late, orders, logger }: LateWorkOptions): () => Promise<void> {
  let lateBefore: ReadonlySet<string> = new Set()
  return async () => {
    const found = await late()
    for (const { kind, count, oldestSeconds } of found) {
      const isHeldBack = ORDERS.has(kind) && orders() !== 'closed'
      const fields = { work: kind, count, lateSeconds: Math.round(oldestSeconds ?? 0) }
      logger.warn({ ...fields, ...(isHeldBack ? { heldBack: 'breaker' } : {}) }, LATE)
    }
    const lateNow = new Set(found.map(({ kind }) => kind))
    for (const work of lateBefore) if (!lateNow.has(work)) logger.info({ work }, TAKEN_UP)
    lateBefore = lateNow
  }
}

const ORDERS: ReadonlySet<string> = new Set(['cash_out', 'refund_in'])

const LATE = 'work is overdue by more than a minute: no worker, an overloaded worker, or an open circuit breaker'

const TAKEN_UP = 'overdue work has been claimed'

/** The readable parts of the backlog: one part may fail while others are read. */
export type BacklogReading = Partial<Backlog>

export interface BacklogReaderOptions {
  readonly store: HealthStore
  readonly logger: Logger
  readonly heartbeat?: Heartbeat
}

/**
 * Reads the backlog without throwing. A part that the database refuses is omitted and logged with the reason. An
 * unavailable database was already logged by its pool, and gets no further queries.
 * @source rules#logs.3, rules#metrics.7
 */
export function createBacklogReader(options: BacklogReaderOptions): () => Promise<BacklogReading> {
  const { store, logger, heartbeat = createHeartbeat() } = options

  function report(figure: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    heartbeat.report(`${figure} ${reason}`, (more) =>
      logger.error({ figure, reason }, `a figure of the metrics could not be read, and is left out${andMore(more)}`),
    )
  }
  return async () => {
    const reading: { -readonly [Part in keyof Backlog]?: Backlog[Part] } = {}
    for (const part of Object.keys(store) as (keyof Backlog)[]) {
      try {
        reading[part] = await store[part]()
      } catch (error) {
        if (isAway(error)) break
        report(part, error)
      }
    }
    return reading
  }
}

/** Whether there was no answer at all. A statement that timed out was answered. */
function isAway(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && databaseError(error.cause) === undefined
}
