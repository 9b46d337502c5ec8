import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { administer } from './database.ts'

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
