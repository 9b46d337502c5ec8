import { type Queries, VerifiedClient } from './database.ts'
import { asUnavailable } from './errors.ts'

/** Long looks at the whole database: on one core, never written to, ended with the process that asked. */
const SESSION_SETTINGS = {
  statement_timeout: '600000',
  client_connection_check_interval: '1000',
  max_parallel_workers_per_gather: '0',
  work_mem: '32MB',
  jit: 'off',
  TimeZone: 'UTC',
}

/** Where to look. */
export interface SnapshotOptions {
  readonly url: string
  /** Shown in `pg_stat_activity`. */
  readonly name: string
  /** Ends the look where it is. */
  readonly signal?: AbortSignal
}

/**
 * Lets `work` read the database as it is at one moment, while others go on writing: a connection of its own, read-only.
 * Numbers wider than 32 bits come back as text.
 * @throws DatabaseUnavailable where the database cannot be reached, or not any more · Error where the look was ended, or what it
 *   asks for is none
 */
export async function withSnapshot<Result>(
  { url, name, signal }: SnapshotOptions,
  work: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted()
  const client = new VerifiedClient({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: 5_000,
    options: Object.entries(SESSION_SETTINGS)
      .map(([setting, value]) => `-c ${setting}=${value}`)
      .join(' '),
  })
  // Whoever waits for an answer is told; without a listener the error would also end the process.
  client.on('error', () => undefined)
  const ending = Promise.withResolvers<never>()
  // Nobody waits for it once there is a connection.
  ending.promise.catch(() => undefined)
  const end = () => {
    void client.end().catch(() => undefined)
    ending.reject(signal?.reason)
  }
  signal?.addEventListener('abort', end)
  const reached = <Answer>(answer: Promise<Answer>): Promise<Answer> =>
    answer.catch((error: unknown) => {
      throw signal?.aborted ? error : asUnavailable(error)
    })
  try {
    // A client that is ended while it connects never says so.
    await reached(Promise.race([client.connect(), ending.promise]))
    await reached(client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'))
    return await work({
      rows: async ({ name, text }, parameters) =>
        (await reached(client.query({ name, text, values: [...parameters] }))).rows,
    })
  } finally {
    signal?.removeEventListener('abort', end)
    await client.end()
  }
}
