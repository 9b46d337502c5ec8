import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import pg from 'pg'
import { migrate } from '../packages/server/src/platform/db/migrate.ts'
import type { After } from './benchmark.ts'
import { ROOT } from './server-process.ts'

/** An empty directory that goes with the benchmark. */
export async function temporaryDirectory(after: After): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-bench-'))
  after(() => rm(directory, { recursive: true, force: true }))
  // PostgreSQL never runs as root: where root starts the benchmark, another user must be able to enter.
  await chmod(directory, 0o711)
  return directory
}

/** A PostgreSQL that belongs to a benchmark. */
export interface BenchPostgres {
  readonly postmasterPid: number
  /** The file that it logs to. */
  readonly log: string
  /** A database of its own, where whoever watches may keep what they need. */
  readonly url: string
  /** Makes an empty database. @returns its address */
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
  const log = join(dataDirectory, 'postgres.log')
  return { postmasterPid: postgres.postmasterPid, log, url: postgres.url, createDatabase }
}

/** Starts a PostgreSQL. @returns makes a migrated database and gives its address */
export async function startPostgres(after: After): Promise<(name: string) => Promise<string>> {
  const { createDatabase } = await openPostgres(after)
  return async (name) => {
    const url = await createDatabase(name)
    await migrate(url, [cashIn, cashOut, refundIn, adjustment])
    return url
  }
}
