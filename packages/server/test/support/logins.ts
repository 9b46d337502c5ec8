import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { administer } from './database.ts'

/** What production takes for one. */
const PASSWORD = 'Hd5gJc3ZtV6nKx1FqS0w'

/** Logins of the cluster's, each with what it is a member of. */

/** A login that goes with the test. */
export interface Login {
  readonly role: string
  readonly password: string
}

/** Makes a login with options of `CREATE ROLE`. */
export async function login(t: TestContext, options = ''): Promise<Login> {
  const cluster = clusterUrl()
  const role = `login_${randomBytes(8).toString('hex')}`
  await administer(cluster, `CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}' ${options}`)
  t.after(() => administer(cluster, `DROP ROLE ${role}`))
  return { role, password: PASSWORD }
}

/** The login that the guide makes for a server. */
export function serverLogin(t: TestContext): Promise<Login> {
  return login(t, 'IN ROLE pixgate_app')
}

/** The address of a database, for a login. */
export function as(url: string, { role, password }: Login): string {
  return Object.assign(new URL(url), { username: role, password }).href
}

/** A session that goes with the test, whatever becomes of it; it has no time-outs. */
export async function sessionOf(t: TestContext, url: string, name = 'thief'): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: name })
  client.on('error', () => undefined)
  await client.connect()
  t.after(() => client.end())
  await client.query('SET idle_in_transaction_session_timeout = 0')
  return client
}

function clusterUrl(): string {
  const cluster = process.env.PIXGATE_TEST_DATABASE_URL
  if (cluster === undefined) throw new Error('no database cluster: run the tests with `npm test`')
  return cluster
}
