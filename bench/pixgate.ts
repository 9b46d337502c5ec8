import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '@pixgate/spec'
import pg from 'pg'
import { probePort } from '../packages/server/src/platform/ports.ts'
import type { After } from './benchmark.ts'
import { jsonHeaders, openClient, type Send } from './http-client.ts'
import { type BenchPostgres, openPostgres, temporaryDirectory } from './postgres.ts'
import { ROOT, startServer } from './server-process.ts'

/** A process of the service with an API key. */
export interface Process {
  readonly url: string
  readonly send: Send
  readonly apiKey: string
  readonly pid: number
}

/** The service with the simulated bank, as `npm start` runs it. */
export interface Pixgate extends Process {
  readonly databaseUrl: string
  readonly postgres: BenchPostgres
  readonly adminToken: string
  /** Signs the bank's events. */
  readonly partnerSecret: string
  /** The service's database, to prepare data and read results. */
  readonly database: pg.Pool
  /** Starts another process on the same database with the role `api`. */
  startApi(): Promise<Process>
  /** Pays a charge at the bank, which sends its event. */
  payCharge(id: string): Promise<unknown>
  /** Ends the service and the bank; processes of `startApi` continue. */
  stop(): Promise<void>
}

export interface PixgateOptions {
  /** Checkout that is run; by default this one. */
  readonly root?: string
  /** Further settings of the service. */
  readonly settings?: Readonly<Record<string, string>>
  /** Further settings of PostgreSQL. */
  readonly postgres?: Readonly<Record<string, string>>
  /** Log file; by default `/dev/null`. */
  readonly log?: string
}

/** Name of the database. */
export const DATABASE = 'pixgate_bench'

const BANK_TOKEN = 'token-of-the-benchmarks'

/** Starts a service on an empty database. */
export async function startPixgate(after: After, options: PixgateOptions = {}): Promise<Pixgate> {
  const { root = ROOT } = options
  const command = commandOf(root)
  const postgres = await openPostgres(after, options.postgres, root)
  const databaseUrl = await postgres.createDatabase(DATABASE)
  const [adminToken, partnerSecret] = [randomSecret(), randomSecret()]
  const bankPort = await probePort(0)
  const environment = {
    DATABASE_URL: databaseUrl,
    PIXGATE_DATA_DIR: await temporaryDirectory(after),
    PIXGATE_ADMIN_TOKEN: adminToken,
    PIXGATE_PARTNER_SECRET: partnerSecret,
    PIXGATE_RATE_LIMIT_PER_MINUTE: '0',
    // The bank does not know charges that a benchmark stores in the database, so their payments cannot be queried.
    PIXGATE_VERIFY_CREDITS_FROM_CENTS: String(limits.valueMaxCents),
    PIXGATE_SIMULATOR_PORT: String(bankPort),
    PIXGATE_PARTNER_TOKEN: BANK_TOKEN,
    ...options.settings,
  }
  const { url, pid, stop } = await startServer(after, command, environment, options)
  const send = openClient(after, url)
  const database = new pg.Pool({ connectionString: databaseUrl })
  after(() => database.end())
  const headers = { authorization: `Bearer ${adminToken}` }
  const { apiKey } = JSON.parse(await send({ method: 'POST', path: '/api-key/generate', headers }))
  const startApi = async () => {
    const settings = { ...environment, PIXGATE_PARTNER_URL: NO_BANK }
    const api = await startServer(after, [...command, 'api'], settings, options)
    return { url: api.url, send: openClient(after, api.url), apiKey, pid: api.pid }
  }
  const bank = openClient(after, `http://127.0.0.1:${bankPort}`)
  /** The bank has a charge under its order id; in older checkouts under its own id. */
  const payCharge = async (id: string) => {
    const { rows } = await database.query(ORDER_ID, [id])
    const path = `/control/charges/${rows[0]?.order_id ?? id}/pay`
    return bank({ method: 'POST', path, headers: jsonHeaders(BANK_TOKEN), body: '{}' })
  }
  return {
    url,
    databaseUrl,
    postgres,
    send,
    apiKey,
    pid,
    adminToken,
    partnerSecret,
    database,
    startApi,
    payCharge,
    stop,
  }
}

const ORDER_ID = `SELECT to_jsonb(operation) ->> 'order_id' AS order_id FROM operation WHERE id = $1`

/** The command of `npm start`, without npm and its shell. */
function commandOf(root: string): readonly string[] {
  const [, command, ...args] = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts.start.split(' ')
  return [command, ...args]
}

/** A port on which nothing listens: a process with the role `api` calls no bank. */
const NO_BANK = 'http://127.0.0.1:9'

function randomSecret(): string {
  return randomBytes(32).toString('base64url')
}
