import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { After } from './benchmark.ts'
import { openClient, type Send } from './http-client.ts'
import { startPostgres, temporaryDirectory } from './postgres.ts'
import { startServer } from './server-process.ts'

/** The service with its simulated bank, as `npm start` runs it, and what a benchmark needs to speak to it. */
export interface Pixgate {
  readonly send: Send
  readonly apiKey: string
  /** Signs the bank's events. */
  readonly partnerSecret: string
  /** The service's own, to store what shall be there before, and to look at what became of it. */
  readonly database: pg.Pool
}

/** Starts a service on an empty database. */
export async function startPixgate(after: After): Promise<Pixgate> {
  const createDatabase = await startPostgres(after)
  const databaseUrl = await createDatabase('pixgate_bench')
  const [adminToken, partnerSecret] = [randomSecret(), randomSecret()]
  const { url } = await startServer(after, ['node', 'packages/server/src/main.ts'], {
    DATABASE_URL: databaseUrl,
    PIXGATE_DATA_DIR: await temporaryDirectory(after),
    PIXGATE_SIMULATOR_PORT: '0',
    PIXGATE_ADMIN_TOKEN: adminToken,
    PIXGATE_PARTNER_SECRET: partnerSecret,
    PIXGATE_RATE_LIMIT_PER_MINUTE: '0',
  })
  const send = openClient(after, url)
  const database = new pg.Pool({ connectionString: databaseUrl })
  after(() => database.end())
  const headers = { authorization: `Bearer ${adminToken}` }
  const { apiKey } = JSON.parse(await send({ method: 'POST', path: '/api-key/generate', headers }))
  return { send, apiKey, partnerSecret, database }
}

function randomSecret(): string {
  return randomBytes(32).toString('base64url')
}
