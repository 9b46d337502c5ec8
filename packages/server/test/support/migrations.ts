import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { administer } from './database.ts'

/** Databases that are not migrated, or not to the end. */

/** A database without a schema; it goes with the test. */
export async function emptyDatabase(t: TestContext, owner?: { role: string; password: string }): Promise<string> {
  const cluster = process.env.PIXGATE_TEST_DATABASE_URL
  if (cluster === undefined) throw new Error('no database cluster: run the tests with `npm test`')
  const name = `empty_${randomBytes(8).toString('hex')}`
  await administer(cluster, `CREATE DATABASE ${name}${owner ? ` OWNER ${owner.role}` : ''}`)
  t.after(() => administer(cluster, `DROP DATABASE ${name} WITH (FORCE)`))
  const url = new URL(cluster)
  url.pathname = `/${name}`
  if (owner) Object.assign(url, { username: owner.role, password: owner.password })
  return url.href
}

/** A database as the migrations up to a version left it. */
export async function databaseAt(t: TestContext, version: number): Promise<string> {
  const url = await emptyDatabase(t)
  await administer(url, 'CREATE TABLE schema_migration (version integer, name text, hash text, applied_at timestamptz)')
  await migrateBy(url, 1, version)
  return url
}

/** Runs the migrations of some versions. */
export async function migrateBy(url: string, first: number, last: number): Promise<void> {
  const folder = new URL('../../migrations/', import.meta.url)
  const names = (await readdir(folder)).filter((name) => first <= versionOf(name) && versionOf(name) <= last)
  for (const name of names.sort()) {
    const sql = await readFile(new URL(name, folder), 'utf8')
    const hash = createHash('sha256').update(sql).digest('hex')
    await administer(url, sql)
    await administer(url, `INSERT INTO schema_migration VALUES (${versionOf(name)}, '${name}', '${hash}', now())`)
  }
}

function versionOf(name: string): number {
  return Number.parseInt(name, 10)
}
