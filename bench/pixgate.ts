import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '@pixgate/spec'
import pg from 'pg'
import type { After } from './benchmark.ts'
import { openClient, type Send } from './http-client.ts'
import { type OpenBank, simulatedBank } from './open-bank.ts'
import { type BenchPostgres, openPostgres, temporaryDirectory } from './postgres.ts'
import { ROOT, startServer } from './server-process.ts'

/** A process of the service, and what a merchant needs to speak to it. */
export interface Process {
  readonly url: string
  readonly send: Send
  readonly apiKey: string
  readonly pid: number
}

/** The service with its simulated bank, as `npm start` runs it, and what a benchmark needs besides. */
export interface Pixgate extends Process {
  readonly databaseUrl: string
  readonly postgres: BenchPostgres
  /** Where the sandbox keeps what is not in the database: the book of its bank. */
  readonly dataDirectory: string
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

/** How a service is started. */
export interface PixgateOptions {
  /** The bank that it is connected to; by default the simulated one by our own protocol. */
  readonly bank?: OpenBank
  /** The checkout that is run, with its own schema; by default this one. */
  readonly root?: string
  /** What it is told besides. */
  readonly settings?: Readonly<Record<string, string>>
  /** What its PostgreSQL is told besides. */
  readonly postgres?: Readonly<Record<string, string>>
  /** The file that its log goes to; by default it goes nowhere. */
  readonly log?: string
  /** The port of its inspector; by default it has none. */
  readonly inspectorPort?: number
}

/** The database that a service works on. */
export const DATABASE = 'pixgate_bench'

/** Starts a service on an empty database. */
export async function startPixgate(after: After, options: PixgateOptions = {}): Promise<Pixgate> {
  const { root = ROOT } = options
  const command = commandOf(root, options.inspectorPort)
  const postgres = await openPostgres(after, options.postgres, root)
  const databaseUrl = await postgres.createDatabase(DATABASE)
  const [adminToken, partnerSecret] = [randomSecret(), randomSecret()]
  const dataDirectory = await temporaryDirectory(after)
  const bank = await (options.bank ?? simulatedBank)(after)
  const environment = {
    DATABASE_URL: databaseUrl,
    PIXGATE_DATA_DIR: dataDirectory,
    PIXGATE_ADMIN_TOKEN: adminToken,
    PIXGATE_PARTNER_SECRET: partnerSecret,
    PIXGATE_RATE_LIMIT_PER_MINUTE: '0',
    // The bank has none of the charges that a benchmark stores: asked about a payment of one, it knows nothing of it.
    PIXGATE_VERIFY_CREDITS_FROM_CENTS: String(limits.valueMaxCents),
    ...bank.settings,
    ...options.settings,
  }
  const { url, pid, stop } = await startServer(after, command, environment, options)
  await bank.register(url)
  const send = openClient(after, url)
  const database = new pg.Pool({ connectionString: databaseUrl })
  after(() => database.end())
  const headers = { authorization: `Bearer ${adminToken}` }
  const { apiKey } = JSON.parse(await send({ method: 'POST', path: '/api-key/generate', headers }))
  const startApi = async () => {
    const settings = { ...environment, PIXGATE_PARTNER_URL: NOBODY }
    const api = await startServer(after, [...command, 'api'], settings, options)
    return { url: api.url, send: openClient(after, api.url), apiKey, pid: api.pid }
  }
  /** The bank knows a charge by its order id; in older checkouts by its id. */
  const payCharge = async (id: string) => {
    const { rows } = await database.query(ORDER_ID, [id])
    return bank.payCharge(rows[0]?.order_id ?? id)
  }
  return {
    url,
    databaseUrl,
    postgres,
    dataDirectory,
    send,
    apiKey,
    pid,
    partnerSecret,
    database,
    startApi,
    payCharge,
    stop,
  }
}

const ORDER_ID = `SELECT to_jsonb(operation) ->> 'order_id' AS order_id FROM operation WHERE id = $1`

/** What `npm start` runs there, without npm and a shell in between. */
function commandOf(root: string, inspectorPort?: number): readonly string[] {
  const [, command, ...args] = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts.start.split(' ')
  const inspector = inspectorPort === undefined ? [] : [`--inspect=127.0.0.1:${inspectorPort}`]
  return [command, ...inspector, ...args]
}

/** Where no bank listens: who only takes orders calls none. */
const NOBODY = 'http://127.0.0.1:9'

function randomSecret(): string {
  return randomBytes(32).toString('base64url')
}
