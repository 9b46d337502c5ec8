import { type Queries, VerifiedClient } from './database.ts'
import { asUnavailable } from './errors.ts'

/** Long reads: on one core, read-only, ended with the process that asked. */
const SESSION_SETTINGS = {
  statement_timeout: '600000',
  client_connection_check_interval: '1000',
  max_parallel_workers_per_gather: '0',
  work_mem: '32MB',
  jit: 'off',
  TimeZone: 'UTC',
}

export interface SnapshotOptions {
  readonly url: string
  readonly name: string
  readonly signal?: AbortSignal
}

/**
 * Runs `work` on a read-only snapshot of the database, on a connection of its own. Numbers wider than 32 bits are read
 * as text.
 * @throws DatabaseUnavailable where the database cannot be reached, or not any more · Error where the look was ended,
 * or what it asks for is none
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
  // The pending query rejects; without a listener the error would also end the process.
  client.on('error', () => undefined)
  const ending = Promise.withResolvers<never>()
  // Without this, an abort after the connection would be an unhandled rejection.
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
    // A client that is ended while connecting never settles.
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
