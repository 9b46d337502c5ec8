import type { BreakerState } from '../banks/breaker.ts'
import type { Clock, DatabaseClock } from '../platform/clock.ts'
import { DatabaseUnavailable, databaseError, databaseProblem, isRefusedWrite } from '../platform/db/errors.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../platform/runtime.ts'
import type { Backlog, Count, HealthStore } from './store.ts'

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

/** Whether the database takes what is written: it may be read all the same where it does not. */
export interface WriteWatch {
  /** A write was answered. @param refusal what the database threw; `undefined` where it was committed */
  onWrite(refusal: unknown): void
  /** Why nothing is written; `undefined` where nothing speaks against it. */
  problem(): string | undefined
}

/** What it is made with. */
export interface WriteWatchOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly heartbeat?: Heartbeat
}

/**
 * How long a refused write counts at most. A process that is not ready gets no requests, and without them it would never
 * write again and never find out.
 */
const COUNTS_FOR_MS = 60_000

/** Makes the watch. @source rules#health.7 */
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
    problem: () => (refused && clock.now() - refused.at < COUNTS_FOR_MS ? refused.problem : undefined),
  }
}

/** What late work is read from, and told to. */
export interface LateWorkOptions {
  /** Due work that nobody has taken up in time, by its kind. @throws DatabaseUnavailable */
  readonly late: () => Promise<readonly Count[]>
  /** Where the breaker of orders stands in this process. */
  readonly orders: () => BreakerState
  readonly logger: Logger
}

/**
 * Makes the look at late work: whoever serves without a worker beside it learns here that nobody works. A line for each kind
 * of work at each look, and one when that is over.
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

/** What the breaker of orders holds back. */
const ORDERS: ReadonlySet<string> = new Set(['cash_out', 'refund_in'])

const LATE =
  'what was due more than a minute ago has not been taken up: no worker runs, none keeps up, or what it needs is held back'

const TAKEN_UP = 'what was late has been taken up'

/** What of the backlog could be read: where one part cannot, the others can all the same. */
export type BacklogReading = Partial<Backlog>

/** What the backlog is read from, and what goes wrong is told to. */
export interface BacklogReaderOptions {
  readonly store: HealthStore
  readonly logger: Logger
  readonly heartbeat?: Heartbeat
}

/**
 * Makes the reading of what waits. It throws nothing: a part that the database refuses is left out, with a line that says
 * which and why. Of a database that is away its pool has said so, and nothing more is asked of it.
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

/** Whether there was no answer at all. A statement that took too long was answered. */
function isAway(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && databaseError(error.cause) === undefined
}
