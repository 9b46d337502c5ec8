import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type Database, statement } from '../../src/platform/db/database.ts'
import { administer } from './database.ts'

/** Databases that are backed up and restored, and what is found in them. */

const OPEN_CASES = statement<[], { kind: string; facts: { reference: string; recipient?: { name: string | null } } }>(
  'test.open_case_facts',
  'SELECT kind, facts FROM "case" WHERE closed_at IS NULL ORDER BY kind',
)

/** The cases that are open, by kind. */
export function openCaseFacts(database: Database) {
  return database.rows(OPEN_CASES, [])
}

/** A copy of a database as it is now, which goes with the test. @returns its address */
export async function backupOf(t: TestContext, databaseUrl: string): Promise<string> {
  const url = new URL(databaseUrl)
  const [live, copy] = [url.pathname.slice(1), `test_${randomBytes(8).toString('hex')}`]
  const cluster = Object.assign(new URL(url), { pathname: '/postgres' }).href
  // Nobody may be connected to what is copied; whoever was connects again.
  await administer(cluster, `ALTER DATABASE ${live} ALLOW_CONNECTIONS false`)
  await administer(cluster, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${live}'`)
  await administer(cluster, `CREATE DATABASE ${copy} TEMPLATE ${live} STRATEGY wal_log`)
  await administer(cluster, `ALTER DATABASE ${live} ALLOW_CONNECTIONS true`)
  t.after(() => administer(cluster, `DROP DATABASE ${copy} WITH (FORCE)`))
  return Object.assign(new URL(url), { pathname: `/${copy}` }).href
}
