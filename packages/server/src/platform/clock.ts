/**
 * The service's time is the database's clock, carried on by the node's monotonic clock between replies. The node's wall
 * clock stamps log lines, and a process whose wall clock is off is not ready; it decides nothing about money.
 * @source failure-modes#P10
 */
export interface Clock {
  /** Epoch milliseconds. Never goes backwards once a decision depends on it. */
  now(): number
  /** Start of the current period without a step, by this clock. Absent where the clock never steps. */
  steadySince?(): number
  /** Last time the clock was set back, by this clock. Absent where that cannot happen. */
  setBackAt?(): number | undefined
}

export interface DatabaseClock extends Clock {
  /** Takes a time read from the database. Only the first one may set the clock back. */
  observe(databaseAt: number): void
  /**
   * The first observation, or the last one at which the database's time had stepped. Intervals that began before it may
   * be wrong.
   */
  steadySince(): number
  /** Counts only steps larger than a late reply explains. */
  setBackAt(): number | undefined
  /** Offset of the node's wall clock from the database's, in milliseconds, with its sign. */
  skewMs(): number
}

/** A delayed reply carries a time that is seconds old. A larger difference means a clock was set or stood still. */
const STEP_MS = 30_000

/**
 * Follows the database from the first observation on, which comes before any work. Until then the clock shows the wall
 * clock, which must not hold it back later: a wall clock one hour fast would stop it for that hour.
 * @source failure-modes#EX-4
 */
export function createDatabaseClock(wall = () => Date.now(), monotonic = () => performance.now()): DatabaseClock {
  let offset = wall() - monotonic()
  let latest = 0
  let isHeard = false
  let steadySince = Number.POSITIVE_INFINITY
  let setBackAt: number | undefined
  const now = () => {
    latest = Math.max(latest, Math.trunc(monotonic() + offset))
    return latest
  }
  return {
    now,
    observe: (databaseAt) => {
      if (!isHeard) latest = 0
      const stepMs = databaseAt - (monotonic() + offset)
      const isStep = !isHeard || Math.abs(stepMs) > STEP_MS
      if (isHeard && stepMs < -STEP_MS) setBackAt = now()
      if (isStep) steadySince = Math.max(latest, databaseAt)
      isHeard = true
      offset = databaseAt - monotonic()
    },
    steadySince: () => steadySince,
    setBackAt: () => setBackAt,
    skewMs: () => wall() - (monotonic() + offset),
  }
}

/**
 * Calls `run` once after `ms`. Does not keep the process alive. Costs a fraction of `AbortSignal.timeout`, which cannot
 * be cancelled.
 * @returns cancels the timer
 */
export function startTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

/** Runs `run` with a signal that aborts after `ms`. */
export async function within<Done>(ms: number, run: (deadline: AbortSignal) => Promise<Done>): Promise<Done> {
  const ending = new AbortController()
  const stopTimer = startTimer(ms, () => ending.abort())
  try {
    return await run(ending.signal)
  } finally {
    stopTimer()
  }
}

/**
 * Keeps the process alive. A worker waits on unreferenced timers: without this it would exit with status 0 as soon as
 * the database closes its connections.
 * @returns releases the process
 * @source rules#health.8
 */
export function keepRunning(): () => void {
  const timer = setInterval(() => undefined, 3_600_000)
  return () => clearInterval(timer)
}

/**
 * Milliseconds from any origin, for deadlines that must not be missed. Goes on while the process is stopped (monotonic
 * clock) and while the machine is suspended (wall clock). A wall clock set forward only makes things late.
 * @source failure-modes#P10
 */
export function sleeplessClock(monotonic = () => performance.now(), wall = () => Date.now()): () => number {
  let [monotonicAt, wallAt] = [monotonic(), wall()]
  let at = 0
  return () => {
    const [monotonicNow, wallNow] = [monotonic(), wall()]
    at += Math.max(monotonicNow - monotonicAt, wallNow - wallAt)
    monotonicAt = monotonicNow
    wallAt = wallNow
    return at
  }
}
