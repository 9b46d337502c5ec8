/**
 * Time. The service lives by the database's clock, advanced by the node's monotonic clock between replies; the node's
 * wall clock decides nothing.
 * @source failure-modes#P10
 */
export interface Clock {
  /** Epoch milliseconds; never goes backwards once anything is decided by it. */
  now(): number
  /** Since when, by itself, it has run without a step; absent where it never steps. */
  steadySince?(): number
  /** When it was last set back, by itself; absent where it never is, `undefined` where it has not been. */
  setBackAt?(): number | undefined
}

/** A clock that follows the database. */
export interface DatabaseClock extends Clock {
  /** Takes a time the database just told. The first one sets the clock, backwards too; no later one does. */
  observe(databaseAt: number): void
  /**
   * The first observation, or the last one that found the database elsewhere than where its time had been carried on to:
   * what lies before it may have lasted longer or shorter than it looks.
   */
  steadySince(): number
  /** By more than a late reply explains. */
  setBackAt(): number | undefined
  /** How far the node's wall clock is from the database's, in milliseconds, sign included. */
  skewMs(): number
}

/** A reply that was delayed tells an old time, by seconds; what is further off is a clock that was set, or stood still. */
const STEP_MS = 30_000

/**
 * Follows the database from the first observation on, which comes before anything works by this clock. Until then it is
 * the node's wall clock, and whatever that said must not hold the clock back: one that is an hour fast would stop it for
 * that hour.
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
 * Calls `run` once, after a while. Does not keep the process alive. Costs a fraction of `AbortSignal.timeout`, which
 * cannot be called off.
 * @returns calls it off
 */
export function startTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

/** Does something that is told to end, by its signal, after a while. */
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
 * Keeps the process running. A worker waits on timers that keep nothing alive: without this it would end, with status 0, as
 * soon as the database closes its connections.
 * @returns lets it end
 * @source rules#health.8
 */
export function keepRunning(): () => void {
  const timer = setInterval(() => undefined, 3_600_000)
  return () => clearInterval(timer)
}

/**
 * A clock for what must not happen late: milliseconds, from any origin. It goes on while the process is stopped, by the
 * monotonic clock, and while its machine is suspended, when that one stands still and the wall clock goes on. A wall clock
 * that is set forward only makes things late.
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
