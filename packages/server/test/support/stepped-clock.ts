import { createDatabaseClock, type DatabaseClock } from '../../src/platform/clock.ts'

/** A clock that follows the database and can be put forward. */
export interface SteppedClock extends DatabaseClock {
  advance(ms: number): void
}

/**
 * Follows the database, plus everything it was put forward. One that stands takes its time from the first observation and
 * moves only when it is put forward: nothing becomes due because a machine is slow.
 */
export function steppedClock({ stands = false } = {}): SteppedClock {
  const clock = createDatabaseClock()
  let [ahead, stoodAt]: [number, number | undefined] = [0, undefined]
  return {
    ...clock,
    observe: (databaseAt) => {
      clock.observe(databaseAt)
      if (stands) stoodAt ??= clock.now()
    },
    now: () => (stoodAt ?? clock.now()) + ahead,
    advance: (ms) => {
      ahead += ms
    },
  }
}
