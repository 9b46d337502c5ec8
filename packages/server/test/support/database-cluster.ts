import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import { startEmbeddedPostgres } from '../../../sandbox/src/postgres/embedded-postgres.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { administer, TEMPLATE } from './database.ts'
import { SHIFTED_SEARCH_PATH, shiftedClockSql } from './shifted-clock.ts'

/**
 * One PostgreSQL for the whole test run, with a migrated template that each test file clones (see database.ts). The
 * test runner calls both functions once, in its own process; the address reaches the test processes by environment.
 */

let directory: string | undefined
let cluster: Awaited<ReturnType<typeof startEmbeddedPostgres>> | undefined

/** Starts the cluster and makes the template. */
export async function globalSetup(): Promise<void> {
  directory = await mkdtemp(join(tmpdir(), 'pixgate-test-'))
  // As root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(directory, 0o711)
  cluster = await startEmbeddedPostgres({
    dataDirectory: directory,
    settings: { max_connections: '200', ...(shiftedClockSql && { search_path: SHIFTED_SEARCH_PATH }) },
  })
  await administer(cluster.url, `CREATE DATABASE ${TEMPLATE}`)
  const template = new URL(cluster.url)
  template.pathname = `/${TEMPLATE}`
  if (shiftedClockSql) await administer(template.href, shiftedClockSql)
  await migrate(template.href, [cashIn, cashOut, refundIn, adjustment])
  process.env.PIXGATE_TEST_DATABASE_URL = cluster.url
}

/** Stops it and removes its data. */
export async function globalTeardown(): Promise<void> {
  await cluster?.stop()
  if (directory !== undefined) await rm(directory, { recursive: true, force: true })
}
