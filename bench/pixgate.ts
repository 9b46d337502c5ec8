import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '@pixgate/spec'
import pg from 'pg'
import { type OpenBank, simulatedBank } from './banks.ts'
import type { After } from './benchmark.ts'
import { openClient, type Send } from './http-client.ts'
import { startPostgres, temporaryDirectory } from './postgres.ts'
import { startServer } from './server-process.ts'

/** A process of the service, and what a merchant needs to speak to it. */
export interface Process {
  readonly send: Send
  readonly apiKey: string
  readonly pid: number
}

/** The service with its simulated bank, as `npm start` runs it, and what a benchmark needs besides. */
export interface Pixgate extends Process {
  readonly url: string
  readonly databaseUrl: string
  /** Signs the bank's events. */
  readonly partnerSecret: string
  /** The service's own, to store what shall be there before, and to look at what became of it. */
  readonly database: pg.Pool
  /** Another process on the same database that answers requests and leaves the work behind them to others. */
  startApi(): Promise<Process>
  /** Lets somebody pay a charge at the bank, which tells of it. */
  payCharge(id: string): Promise<unknown>
  /** Ends the service and the bank; processes that were started beside it go on. */
  stop(): Promise<void>
}

/** What `npm start` runs, without npm and a shell in between. */
const [, ...COMMAND] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'),
).scripts.start.split(' ')

/** Starts a service on an empty database. @param open the bank that it is connected to; by default the simulated one by our own protocol */
export async function startPixgate(after: After, open: OpenBank = simulatedBank): Promise<Pixgate> {
  const createDatabase = await startPostgres(after)
  const databaseUrl = await createDatabase('pixgate_bench')
  const [adminToken, partnerSecret] = [randomSecret(), randomSecret()]
  const bank = await open(after)
  const environment = {
    DATABASE_URL: databaseUrl,
    PIXGATE_DATA_DIR: await temporaryDirectory(after),
    PIXGATE_ADMIN_TOKEN: adminToken,
    PIXGATE_PARTNER_SECRET: partnerSecret,
    PIXGATE_RATE_LIMIT_PER_MINUTE: '0',
    // The bank has none of the charges that a benchmark stores: asked about a payment of one, it knows nothing of it.
    PIXGATE_UNVERIFIED_CREDITS_MAX_CENTS: String(limits.valueMaxCents),
    ...bank.settings,
  }
  const { url, pid, stop } = await startServer(after, COMMAND, environment)
  await bank.register(url)
  const send = openClient(after, url)
  const database = new pg.Pool({ connectionString: databaseUrl })
  after(() => database.end())
  const headers = { authorization: `Bearer ${adminToken}` }
  const { apiKey } = JSON.parse(await send({ method: 'POST', path: '/api-key/generate', headers }))
  const startApi = async () => {
    const api = await startServer(after, [...COMMAND, 'api'], { ...environment, PIXGATE_PARTNER_URL: NOBODY })
    return { send: openClient(after, api.url), apiKey, pid: api.pid }
  }
  const { payCharge } = bank
  return { url, databaseUrl, send, apiKey, pid, partnerSecret, database, startApi, payCharge, stop }
}

/** Where no bank listens: who only takes orders calls none. */
const NOBODY = 'http://127.0.0.1:9'

function randomSecret(): string {
  return randomBytes(32).toString('base64url')
}
