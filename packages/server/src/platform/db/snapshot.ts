import { type Queries, withConnection } from './database.ts'
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
 * @throws DatabaseUnavailable when the database cannot be reached · the signal's reason after an abort · any error of a
 * statement
 */
export async function withSnapshot<Result>(
  { url, name, signal }: SnapshotOptions,
  work: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  const reached = <Answer>(answer: Promise<Answer>): Promise<Answer> =>
    answer.catch((error: unknown) => {
      throw signal?.aborted ? error : asUnavailable(error)
    })
  const settings = Object.entries(SESSION_SETTINGS).map(([setting, value]) => `-c ${setting}=${value}`)
  const config = { connectionString: url, application_name: name, options: settings.join(' ') }
  let hasBegun = false
  const looked = withConnection(
    config,
    async (client) => {
      hasBegun = true
      await reached(client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'))
      return work({
        rows: async ({ name, text }, parameters) =>
          (await reached(client.query({ name, text, values: [...parameters] }))).rows,
      })
    },
    signal,
  )
  return looked.catch((error: unknown) => {
    throw hasBegun || signal?.aborted ? error : asUnavailable(error)
  })
}
