import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import pg from 'pg'
import { migrate } from '../packages/server/src/platform/db/migrate.ts'
import type { After } from './benchmark.ts'
import { ROOT } from './server-process.ts'

/** An empty directory, removed at the end. */
export async function temporaryDirectory(after: After): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-bench-'))
  after(() => rm(directory, { recursive: true, force: true }))
  // If root runs the benchmark, PostgreSQL runs as another user, who needs access.
  await chmod(directory, 0o711)
  return directory
}

export interface BenchPostgres {
  readonly postmasterPid: number
  /** Its default database. */
  readonly url: string
  /** Creates an empty database. @returns its address */
  createDatabase(name: string): Promise<string>
}

/**
 * Starts a PostgreSQL with fsync and synchronous_commit on, as the sandbox of a checkout does.
 * @param settings over those of the sandbox
 */
export async function openPostgres(
  after: After,
  settings: Readonly<Record<string, string>> = {},
  root = ROOT,
): Promise<BenchPostgres> {
  const { startEmbeddedPostgres } = (await import(
    `${root}/packages/sandbox/src/postgres/embedded-postgres.ts`
  )) as typeof import('../packages/sandbox/src/postgres/embedded-postgres.ts')
  const dataDirectory = await temporaryDirectory(after)
  const postgres = await startEmbeddedPostgres({ dataDirectory, settings: { max_connections: '300', ...settings } })
  after(() => postgres.stop())
  const createDatabase = async (name: string) => {
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    await client.query(`CREATE DATABASE ${name}`)
    await client.end()
    const url = new URL(postgres.url)
    url.pathname = `/${name}`
    return url.href
  }
  return { postmasterPid: postgres.postmasterPid, url: postgres.url, createDatabase }
}

/** Starts a PostgreSQL. @returns a function that creates a migrated database and returns its address */
export async function startPostgres(after: After): Promise<(name: string) => Promise<string>> {
  const { createDatabase } = await openPostgres(after)
  return async (name) => {
    const url = await createDatabase(name)
    await migrate(url, [cashIn, cashOut, refundIn, adjustment])
    return url
  }
}
