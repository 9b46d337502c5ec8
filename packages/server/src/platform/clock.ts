/**
 * Time. The service lives by the database's clock, advanced by the node's monotonic clock between replies; the node's
 * wall clock decides nothing.
 * @source failure-modes#P10
 */
export interface Clock {
  /** Epoch milliseconds; never goes backwards. */
  now(): number
}

/** A clock that follows the database. */
export interface DatabaseClock extends Clock {
  /** Takes a time the database just told. */
  observe(databaseAt: number): void
  /** How far the node's wall clock is from the database's, in milliseconds, sign included. */
  skewMs(): number
}

/** Starts at the node's wall clock and follows the database from the first observation on. */
export function createDatabaseClock(wall = () => Date.now(), monotonic = () => performance.now()): DatabaseClock {
  let offset = wall() - monotonic()
  let latest = 0
  const now = () => {
    latest = Math.max(latest, Math.trunc(monotonic() + offset))
    return latest
  }
  return {
    now,
    observe: (databaseAt) => {
      offset = databaseAt - monotonic()
    },
    skewMs: () => wall() - (monotonic() + offset),
  }
}
