import type { Database } from './database.ts'

/**
 * A database whose long statements run elsewhere, one at a time and in the order in which they came. Nobody is refused for the
 * length of the queue: each request in it holds a connection of its client, and of these there are so many.
 * @param elsewhere a pool of its own
 * @source rules#lists.4
 */
export function withLongStatements(database: Database, elsewhere: Database): Database {
  let last: Promise<unknown> = Promise.resolve()

  function oneAtATime<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work)
    last = result.catch(ignore)
    return result
  }

  return {
    ...database,
    rows: (query, parameters, isWanted) =>
      query.isLong
        ? oneAtATime(() => elsewhere.rows(query, parameters, isWanted))
        : database.rows(query, parameters, isWanted),
  }
}

/** Whoever waits for it is told. */
function ignore(): void {}
