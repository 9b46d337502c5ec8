import { chmod, mkdtemp, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adjustment, cashIn, cashOut, refundIn } from '@pixgate/spec'
import { startEmbeddedPostgres } from '../../../sandbox/src/postgres/embedded-postgres.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { administer, TEMPLATE } from './database.ts'
import { SHIFTED_SEARCH_PATH, shiftedClockSql, shiftedFunctionsSql } from './shifted-clock.ts'

/**
 * One PostgreSQL for the whole test run, with a migrated template that each test file clones (see database.ts). The
 * test runner calls both functions once, in its own process; the address reaches the test processes by environment.
 */

let directory: string | undefined
let cluster: Awaited<ReturnType<typeof startEmbeddedPostgres>> | undefined

/** Linux keeps what is written here in memory. */
const MEMORY = '/dev/shm'

/** The log, and the databases of the tests that run at the same time, with room to spare. */
const ROOM_BYTES = 2_000_000_000

/**
 * Where the cluster is: in memory where there is room, since the databases come and go with the tests and most of their
 * time would be spent waiting for the disk. No test here takes the power away; a process that is killed loses nothing.
 */
async function clusterFolder(): Promise<string> {
  const memory = await statfs(MEMORY).catch(() => undefined)
  return memory !== undefined && memory.bavail * memory.bsize >= ROOM_BYTES ? MEMORY : tmpdir()
}

/** Starts the cluster and makes the template. */
export async function globalSetup(): Promise<void> {
  directory = await mkdtemp(join(await clusterFolder(), 'pixgate-test-'))
  // As root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(directory, 0o711)
  cluster = await startEmbeddedPostgres({
    dataDirectory: directory,
    settings: {
      max_connections: '200',
      max_wal_size: '256MB',
      // Statistics that come at any time would change plans from one run to the next.
      autovacuum: 'off',
      ...(shiftedClockSql && { search_path: SHIFTED_SEARCH_PATH }),
    },
  })
  await administer(cluster.url, `CREATE DATABASE ${TEMPLATE}`)
  const template = new URL(cluster.url)
  template.pathname = `/${TEMPLATE}`
  if (shiftedClockSql) await administer(template.href, shiftedClockSql)
  await migrate(template.href, [cashIn, cashOut, refundIn, adjustment])
  if (shiftedClockSql) await administer(template.href, shiftedFunctionsSql)
  await administer(template.href, await readFile(new URL('./template.sql', import.meta.url), 'utf8'))
  process.env.PIXGATE_TEST_DATABASE_URL = cluster.url
}

/** Stops it and removes its data. */
export async function globalTeardown(): Promise<void> {
  await cluster?.stop()
  if (directory !== undefined) await rm(directory, { recursive: true, force: true })
}
