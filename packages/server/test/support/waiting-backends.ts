import pg from 'pg'
import { until } from './until.ts'

/** Another session of a test's database, which can hold rows and see who waits for them. */
export interface Holder {
  /** Holds what a `SELECT … FOR UPDATE` finds, until it is released. */
  hold(query: string): Promise<void>
  release(): Promise<void>
  /** Resolves when so many backends wait for a lock. */
  waiting(wanted: number): Promise<void>
}

/** Opens a session that ends when it is released. */
export async function openHolder(url: string): Promise<Holder> {
  // What a transaction sees of the other backends stays as it was when it first looked: that takes a session of its own.
  const [session, observer] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })]
  for (const client of [session, observer]) await client.connect()
  return {
    hold: async (query) => {
      await session.query('BEGIN')
      await session.query(query)
    },
    release: async () => {
      await session.query('COMMIT')
      for (const client of [session, observer]) await client.end()
    },
    waiting: (wanted) =>
      until(async () => {
        const { rows } = await observer.query(
          `SELECT count(*)::int AS waiting FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        )
        return rows[0].waiting >= wanted
      }),
  }
}
