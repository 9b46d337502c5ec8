import type { Database } from './database.ts'

/**
 * A database whose keyed statements run elsewhere. PostgreSQL expects ten keys where it is not told how many there are, so that it
 * thinks planning anew for the two or three of an event worth its while, each time: that was a fifth of what an event cost it.
 * @param elsewhere a pool whose plans are generic
 * @source rules#database.8
 */
export function withKeyedStatements(database: Database, elsewhere: Database): Database {
  return {
    ...database,
    rows: (query, parameters, isWanted) => (query.isKeyed ? elsewhere : database).rows(query, parameters, isWanted),
  }
}
