import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import pg from 'pg'
import { startEmbeddedPostgres } from '../packages/sandbox/src/postgres/embedded-postgres.ts'
import { migrate } from '../packages/server/src/platform/db/migrate.ts'
import type { After } from './benchmark.ts'

/** An empty directory that goes with the benchmark. */
export async function temporaryDirectory(after: After): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-bench-'))
  after(() => rm(directory, { recursive: true, force: true }))
  // PostgreSQL never runs as root: where root starts the benchmark, another user must be able to enter.
  await chmod(directory, 0o711)
  return directory
}

/** Starts a PostgreSQL with fsync and synchronous_commit on. @returns makes a migrated database and gives its address */
export async function startPostgres(after: After): Promise<(name: string) => Promise<string>> {
  const dataDirectory = await temporaryDirectory(after)
  const postgres = await startEmbeddedPostgres({ dataDirectory, settings: { max_connections: '300' } })
  after(() => postgres.stop())
  return async (name) => {
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    await client.query(`CREATE DATABASE ${name}`)
    await client.end()
    const url = new URL(postgres.url)
    url.pathname = `/${name}`
    await migrate(url.href, [cashIn, cashOut, refundIn, adjustment])
    return url.href
  }
}
