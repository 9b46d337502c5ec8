/**
 * Time. The service lives by the database's clock, advanced by the node's monotonic clock between replies; the node's
 * wall clock decides nothing.
 * @source failure-modes#P10
 */
export interface Clock {
  /** Epoch milliseconds; never goes backwards once anything is decided by it. */
  now(): number
}

/** A clock that follows the database. */
export interface DatabaseClock extends Clock {
  /** Takes a time the database just told. The first one sets the clock, backwards too; no later one does. */
  observe(databaseAt: number): void
  /** How far the node's wall clock is from the database's, in milliseconds, sign included. */
  skewMs(): number
}

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
  const now = () => {
    latest = Math.max(latest, Math.trunc(monotonic() + offset))
    return latest
  }
  return {
    now,
    observe: (databaseAt) => {
      if (!isHeard) latest = 0
      isHeard = true
      offset = databaseAt - monotonic()
    },
    skewMs: () => wall() - (monotonic() + offset),
  }
}
