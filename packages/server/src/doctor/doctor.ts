import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { limits, Refusal } from '@pixgate/spec'
import type { Bank, ConfiguredBank, ExaminationOptions } from '../banks/bank.ts'
import { type BankCertificate, daysLeftOf, renewalOf, urgencyOf } from '../banks/certificates.ts'
import { standingOf } from '../banks/standing.ts'
import { chosenConnector, isProduction, type Mode, serviceVariables } from '../config.ts'
import { clockProblem } from '../health/index.ts'
import { type Clock, createDatabaseClock, type DatabaseClock } from '../platform/clock.ts'
import { connectionProblem, errorCode } from '../platform/connection-problem.ts'
import { APPLICATION_ROLE, type Queries, statement } from '../platform/db/database.ts'
import { databaseStartupError } from '../platform/db/errors.ts'
import { loginFaults, workAsApplication } from '../platform/db/login.ts'
import { missingFromSchema, SCHEMA } from '../platform/db/migrate.ts'
import { checkDatabase } from '../platform/db/self-check.ts'
import { withSnapshot } from '../platform/db/snapshot.ts'
import { type SettingPlaces, settingsCount } from '../platform/environment-file.ts'
import { bad, type Finding, good, reportOf } from '../platform/finding.ts'
import {
  type AddressGate,
  NotConnected,
  openGate,
  publicAddressGate,
  tryConnection,
} from '../platform/http-client/agent.ts'
import { createIds, ownOrderId } from '../platform/ids.ts'
import { endedRuntime } from '../platform/runtime.ts'
import type { EncryptionKeys } from '../platform/sealing.ts'
import { dayOf, fileErrorReason } from '../platform/secrets.ts'
import { StartupError } from '../platform/startup-error.ts'
import { ConfigError, type Environment, readVariables } from '../platform/variables.ts'
import { MACHINES, schemaFault } from '../prepare-database.ts'
import { configured, readEnvironment } from '../process.ts'
import { endpointUrl } from '../webhooks/endpoint-url.ts'
import { listEndpoints, type WebhookEndpoint } from '../webhooks/endpoints.ts'
import { adviseOn, readSealed, Unreadable } from '../webhooks/index.ts'

/** What is examined. A finding stands for what cannot be looked at now. */
export interface Examined {
  readonly mode: Mode
  readonly database: string | Finding
  /** As whom the sandbox's start brings the schema up to date; `undefined`: with the same login. */
  readonly migrationUrl: string | undefined
  /** `undefined`: not known, as nobody made it yet. */
  readonly encryptionKeys: EncryptionKeys | Finding | undefined
  readonly bank: ConfiguredBank | Finding
  readonly webhookAllowPrivate: boolean
}

/** Reads the environment, told the places of what `.env` adds to it. @throws ConfigError */
export type Configure = (environment: Environment, places: SettingPlaces) => Examined | Promise<Examined>

/**
 * Examines everything that the service depends on, prints a line for each check and changes nothing.
 * @returns the exit status: 0 where all is well, 1 where anything is not
 * @source rules#doctor.1
 */
export async function runDoctor(configure: Configure): Promise<number> {
  const findings = await findingsOf(configure)
  process.stdout.write(`${reportOf(findings)}\n`)
  return findings.every(({ isOk }) => isOk) ? 0 : 1
}

async function findingsOf(configure: Configure): Promise<Finding[]> {
  try {
    const read = readEnvironment()
    const { fromFile } = read
    const examined = await configured(configure, read)
    const origin = fromFile === undefined ? '' : `, with ${settingsCount(fromFile)} from .env`
    return [
      good('configuration', `is complete, in ${examined.mode} mode${origin}`),
      ...examineAuthorities(read.environment),
      ...(await examine(examined)),
    ]
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map((fault) => bad('configuration', fault))
    return [unforeseen('configuration', error)]
  }
}

/** Examines Node.js by the database's time, the encryption key, the database, the clock, the bank and the webhook endpoints, in this order. */
async function examine(examined: Examined): Promise<Finding[]> {
  const { database, encryptionKeys, bank, webhookAllowPrivate } = examined
  const clock = createDatabaseClock()
  const [keys, ofKeys] =
    encryptionKeys && 'check' in encryptionKeys ? [undefined, [encryptionKeys]] : [encryptionKeys, []]
  const { findings, endpoints } =
    typeof database === 'string'
      ? await examineDatabase({
          url: database,
          clock,
          encryptionKeys: keys,
          migratedBy: migratedBy(examined),
        }).catch((error: unknown) => withoutEndpoints(unforeseen('database', error)))
      : withoutEndpoints(database)
  const [ofBank, ofEndpoints] = await Promise.all([
    'check' in bank ? [bank] : examineBank(bank, clock).catch((error: unknown) => [unforeseen('bank', error)]),
    examineEndpoints(endpoints, webhookAllowPrivate).catch((error: unknown) => [unforeseen('webhook endpoint', error)]),
  ])
  return [...examineRuntime(clock.now()), ...ofKeys, ...findings, ...ofBank, ...ofEndpoints]
}

function migratedBy({ mode, migrationUrl }: Examined): MigratedBy {
  if (mode === 'production') return 'migrate'
  return migrationUrl === undefined ? 'start' : 'start as another user'
}

function withoutEndpoints(finding: Finding): DatabaseExamination {
  return { findings: [finding], endpoints: [] }
}

/** A check that failed says so and hides no other. */
function unforeseen(check: string, error: unknown): Finding {
  return bad(check, `cannot be examined: ${error instanceof Error ? error.message : error}`)
}

/**
 * Whether this Node.js gets fixes still; nothing is said where it does.
 * @source rules#production.8
 */
export function examineRuntime(nowMs: number, version?: string): Finding[] {
  const ended = endedRuntime(nowMs, version)
  if (ended === undefined) return []
  return [bad('Node.js', `${ended.version} gets no security fixes since ${ended.lastDay}: install a newer major`)]
}

/**
 * Whether the authorities are there that are trusted besides Node.js's own, where the environment names any: Node.js itself
 * only warns, and then trusts nobody's certificate of theirs.
 * @source rules#doctor.6
 */
function examineAuthorities({ NODE_EXTRA_CA_CERTS: path }: Environment): Finding[] {
  if (!path) return []
  try {
    readFileSync(path)
    return [good('TLS', 'trusts the authorities in NODE_EXTRA_CA_CERTS, too')]
  } catch (error) {
    const reason = `${fileErrorReason(error)}; Node.js goes on without them`
    return [bad('TLS', `NODE_EXTRA_CA_CERTS names ${path}, which cannot be read: ${reason}`)]
  }
}

/**
 * Rights that a start needs and this user lacks, a sentence for each.
 * @param pending the names of what the start would apply
 * @source rules#doctor.2
 */
export function permissionFaults(may: Permissions, pending: readonly string[]): string[] {
  const mayNot = (what: string) => `DATABASE_URL: the user "${may.user}" may not ${what}`
  const faults: string[] = []
  if (!may.mayCreateTables) faults.push(mayNot('create tables in the schema public: it must own the database'))
  if (!may.mayWriteTables) faults.push(mayNot('write to the tables that are there: they must belong to it'))
  else if (!may.ownsTables && pending.length > 0) {
    faults.push(mayNot('change the tables that are there: they must belong to it'))
  }
  const ofRole = roleFault(may, pending)
  return ofRole === undefined ? faults : [...faults, ofRole]
}

/** The schema makes the role and grants it. */
function roleFault(may: Permissions, pending: readonly string[]): string | undefined {
  const grant = `GRANT ${APPLICATION_ROLE} TO "${may.user}"`
  const mayNot = `DATABASE_URL: the user "${may.user}" may not`
  if (may.isRoleThere) {
    const isGranted = may.maySetRole || (may.mayGrantRole && pending.includes(SCHEMA))
    return isGranted ? undefined : `${mayNot} work as ${APPLICATION_ROLE}: ${grant}`
  }
  if (!pending.includes(SCHEMA)) {
    return `the role ${APPLICATION_ROLE} is missing: CREATE ROLE ${APPLICATION_ROLE} NOLOGIN; ${grant}`
  }
  if (may.mayCreateRoles) return undefined
  return `${mayNot} create the role ${APPLICATION_ROLE}, as which the service works: ALTER ROLE "${may.user}" CREATEROLE`
}

type Endpoint = Pick<WebhookEndpoint, 'id' | 'url'>

/**
 * Connects to every webhook endpoint as a delivery would, and hangs up: nothing is sent. The path of its address is not shown, as it
 * may be a secret.
 * @source rules#doctor.5
 */
export async function examineEndpoints(
  endpoints: readonly Endpoint[],
  allowPrivate: boolean,
  gate: AddressGate = allowPrivate ? openGate() : publicAddressGate(),
): Promise<readonly Finding[]> {
  return Promise.all(endpoints.map((endpoint) => examineEndpoint(endpoint, allowPrivate, gate)))
}

async function examineEndpoint({ id, url }: Endpoint, allowPrivate: boolean, gate: AddressGate): Promise<Finding> {
  const check = 'webhook endpoint'
  const { origin } = new URL(url)
  try {
    await tryConnection(gate, endpointUrl(url, allowPrivate), limits.webhookConnectTimeoutMs)
    return good(check, `${origin} takes connections`)
  } catch (error) {
    return bad(check, `${origin} ${problemOf(error)}: repair it, or remove it with DELETE /webhook/${id}`)
  }
}

function problemOf(error: unknown): string {
  if (error instanceof Refusal) return 'is not an address that production delivers to'
  if (!(error instanceof NotConnected)) throw error
  if (error.reason === 'address_not_allowed') return `is not delivered to, as ${error.message}`
  if (error.reason === 'dns') return connectionProblem(errorCode(error.cause) ?? 'ENOTFOUND')
  return connectionProblem(error.reason === 'timeout' ? 'timeout' : errorCode(error.cause))
}

/** A bank's `Date` is in whole seconds, and takes a while to arrive. */
const BANK_SKEW_MAX_MS = 5_000

const MINUTE_MS = 60_000

/**
 * Asks the bank one question that changes nothing there, with our credentials; or goes the whole way to it step by step.
 * @param clock of ours
 * @param options what is done at the bank besides, where it can be; nothing by default
 * @source rules#doctor.3, rules#doctor.4, rules#doctor.7
 */
export async function examineBank(
  configured: ConfiguredBank,
  clock: Clock,
  options: ExaminationOptions = { registers: false },
): Promise<readonly Finding[]> {
  const bank = configured.open(clock)
  try {
    if (bank.examine) return withClock(bank, clock, await bank.examine(options))
    const answer = await ask(bank, clock)
    if (answer === undefined) return [good('bank', 'is not asked: it answers no question that changes nothing')]
    const { problem } = standingOf(answer, configured.settings, configured.host)
    const answered = problem === undefined ? good('bank', 'answers, and takes our credentials') : bad('bank', problem)
    return withClock(bank, clock, [answered])
  } finally {
    await bank.close()
  }
}

/** What the answers told besides. */
function withClock(bank: Bank, clock: Clock, findings: readonly Finding[]): readonly Finding[] {
  const now = clock.now()
  const ofCertificates = bank.certificates?.().map((certificate) => examineCertificate(certificate, now)) ?? []
  return [...findings, ...ofCertificates, ...examineClock(bank.latestDate?.(), now)]
}

const OWNERS = { bank: "the bank's", client: 'ours', authority: "the last authority's" } as const

/** @source rules#doctor.7 */
function examineCertificate(certificate: BankCertificate, now: number): Finding {
  const { of, endsAt } = certificate
  const until = `${OWNERS[of]} is good until ${dayOf(endsAt)}`
  const urgency = urgencyOf(certificate, now)
  if (urgency === 'none') return good('certificate', until)
  const says = `${until}, for ${daysLeftOf(certificate, now)} days: ${renewalOf(certificate, now)}`
  return urgency === 'notice' ? good('certificate', says) : bad('certificate', says)
}

/** The statement of the last minute, or a charge that does not exist. */
async function ask(bank: Bank, clock: Clock): Promise<{ readonly kind: string } | undefined> {
  const now = clock.now()
  if (bank.capabilities.has('statement')) return bank.readStatement({ from: now - MINUTE_MS, to: now, cursor: null })
  if (!bank.capabilities.has('query-charge')) return undefined
  return bank.getCharge(ownOrderId(createIds(clock).uuid()), { valueCents: 1n, expiresAt: now })
}

function examineClock(bankAt: number | undefined, now: number): Finding[] {
  if (bankAt === undefined) return []
  const seconds = Math.round((bankAt - now) / 1_000)
  if (Math.abs(bankAt - now) <= BANK_SKEW_MAX_MS) return [good('clock', "the bank's agrees with ours")]
  const where = seconds > 0 ? 'ahead of' : 'behind'
  return [bad('clock', `the bank's is ${Math.abs(seconds)} s ${where} ours: let ours be set by NTP, or ask the bank`)]
}

/**
 * The program `bank-check`: goes the way to the configured bank step by step, a line for each, with the reason where it fails.
 * It needs no database, and nothing of the service but what the bank is reached with. In the bank's sandbox it makes a charge
 * and withdraws it; `--register` tells the bank where to call.
 * @returns the exit status: 0 where all is well, 1 where anything is not, 2 where it could not look
 * @source rules#api-pix.13
 */
export async function checkBank(parameters: readonly string[], usage: string): Promise<number> {
  try {
    const { register } = parseArgs({ args: [...parameters], options: { register: { type: 'boolean' } } }).values
    const clock = createDatabaseClock()
    const newId = () => ownOrderId(createIds(clock).uuid())
    const findings = await examineBank(configuredBank(readEnvironment().environment), clock, {
      registers: register ?? false,
      newId,
    })
    process.stdout.write(`${reportOf(findings)}\n`)
    return findings.every(({ isOk }) => isOk) ? 0 : 1
  } catch (error) {
    console.error(`bank-check: ${(error as Error).message}\nUsage: ${usage} [--register]`)
    return 2
  }
}

/** Of the variables of the bank alone. @throws ConfigError */
function configuredBank(environment: Environment) {
  const { variables, faults, configure } = chosenConnector(environment)
  const { PIXGATE_BANK } = serviceVariables
  return configure(
    readVariables({ ...variables, PIXGATE_BANK }, environment, {
      isProduction: isProduction(environment),
      otherFaults: faults(environment),
    }),
  )
}

/** What was found at the database. */
export interface DatabaseExamination {
  readonly findings: readonly Finding[]
  /** The registered webhook endpoints; none where its schema is not of this version. */
  readonly endpoints: readonly Pick<WebhookEndpoint, 'id' | 'url'>[]
}

/** Who brings the schema up to date: the start with its own login, the start with another, or nobody but `migrate`. */
export type MigratedBy = 'start' | 'start as another user' | 'migrate'

/** What is looked at. */
export interface ExaminedDatabase {
  readonly url: string
  /** Is told the database's time. */
  readonly clock: DatabaseClock
  /** Have to open what is sealed there; `undefined` where they are not known. */
  readonly encryptionKeys: EncryptionKeys | undefined
  readonly migratedBy: MigratedBy
}

/**
 * Looks whether the service could work there, and changes nothing.
 * @source rules#doctor.2, rules#doctor.4
 */
export async function examineDatabase(examined: ExaminedDatabase): Promise<DatabaseExamination> {
  const { url } = examined
  try {
    const faults = await checkDatabase(url)
    return await withSnapshot({ url, name: 'pixgate doctor' }, (queries) => examineContents(queries, examined, faults))
  } catch (error) {
    const problem = databaseStartupError(error, url)
    if (problem instanceof StartupError) return { findings: [bad('database', problem.message)], endpoints: [] }
    throw error
  }
}

async function examineContents(
  queries: Queries,
  { clock, encryptionKeys, migratedBy }: ExaminedDatabase,
  settings: readonly string[],
): Promise<DatabaseExamination> {
  const { version, now, isReadOnly } = await readAbout(queries)
  clock.observe(now)
  const ofLogin = migratedBy === 'migrate' ? await loginFaults(queries) : []
  if (migratedBy === 'migrate' && (await readPermissions(queries)).maySetRole) await workAsApplication(queries)
  const missing = await missingFromSchema(queries, MACHINES)
  if (migratedBy === 'start') ofLogin.push(...permissionFaults(await readPermissions(queries), missing))
  const isCurrent = missing.length === 0
  const faults = [...settings, ...(isReadOnly ? [READ_ONLY] : []), ...ofLogin]
  const findings = [
    ...(faults.length > 0
      ? faults.map((fault) => bad('database', fault))
      : [good('database', `PostgreSQL ${version} answers, and keeps what it commits`)]),
    examineSchema(missing, migratedBy),
    ...(isCurrent && encryptionKeys !== undefined ? await examineKeys(queries, encryptionKeys) : []),
    examineDatabaseClock(clock),
  ]
  return { findings, endpoints: isCurrent ? await listEndpoints(queries) : [] }
}

function examineSchema(missing: readonly string[], migratedBy: MigratedBy): Finding {
  if (missing.length === 0) return good('schema', 'is up to date')
  if (migratedBy === 'migrate') return bad('schema', schemaFault(missing))
  return good('schema', `the next start applies ${missing.join(', ')}`)
}

const READ_ONLY = 'the database can only be read: it is a standby, or default_transaction_read_only is on'

/** @source rules#doctor.2, rules#encryption.4 */
async function examineKeys(queries: Queries, keys: EncryptionKeys): Promise<Finding[]> {
  const check = 'encryption key'
  try {
    return (await adviseOn(readSealed, queries, keys)).map((advice) => good(check, advice))
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return [bad(check, error.message)]
  }
}

function examineDatabaseClock(clock: DatabaseClock): Finding {
  const problem = clockProblem(clock)
  if (problem === undefined) return good('clock', "this machine's agrees with the database's")
  return bad('clock', `${problem}: let both be set by NTP`)
}

/** All SQL of the doctor. */

/** What a database says of itself. */
export interface AboutDatabase {
  readonly version: string
  /** Its time, epoch milliseconds. */
  readonly now: number
  readonly isReadOnly: boolean
}

const selectAbout = statement<[], AboutDatabase>(
  'doctor.about',
  `SELECT current_setting('server_version') AS version,
          (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
          pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS "isReadOnly"`,
)

/** Asks it. */
export async function readAbout(queries: Queries): Promise<AboutDatabase> {
  const [about] = await queries.rows(selectAbout, [])
  if (about === undefined) throw new Error('the database says nothing of itself')
  return about
}

/** What our user may do there that a start does. */
export interface Permissions {
  readonly user: string
  readonly mayCreateTables: boolean
  /** Also where there are none yet. */
  readonly mayWriteTables: boolean
  /** Also where there are none yet. */
  readonly ownsTables: boolean
  readonly mayCreateRoles: boolean
  /** Whether there is the role that the service works as. */
  readonly isRoleThere: boolean
  readonly maySetRole: boolean
  readonly mayGrantRole: boolean
}

/** What PostgreSQL calls the right to work as another role; before version 16 it comes with membership. */
const TO_SET = `CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END`

/** Before version 16 who creates roles grants any. */
const GRANTS_ANY = `current_setting('server_version_num')::integer < 160000 AND rolcreaterole`

const selectPermissions = statement<[], Permissions>(
  'doctor.permissions',
  `SELECT rolname AS "user",
          coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreateTables",
          moves.oid IS NULL OR has_table_privilege(moves.oid, 'SELECT') AND has_table_privilege(moves.oid, 'INSERT')
            AS "mayWriteTables",
          moves.oid IS NULL OR pg_has_role(moves.relowner, 'USAGE') AS "ownsTables",
          rolsuper OR rolcreaterole AS "mayCreateRoles",
          app IS NOT NULL AS "isRoleThere",
          app IS NOT NULL AND pg_has_role(app, ${TO_SET}) AS "maySetRole",
          app IS NOT NULL AND (pg_has_role(app, 'MEMBER WITH ADMIN OPTION') OR ${GRANTS_ANY}) AS "mayGrantRole"
     FROM pg_roles
          CROSS JOIN to_regrole('${APPLICATION_ROLE}') AS app
          LEFT JOIN pg_class AS moves ON moves.oid = to_regclass('allowed_move')
    WHERE rolname = current_user`,
)

/** Asks it what we may do, ourselves or as whom our login works. @source rules#rotation.3 */
async function readPermissions(queries: Queries): Promise<Permissions> {
  const [permissions] = await queries.rows(selectPermissions, [])
  if (permissions === undefined) throw new Error('the database does not know who we are')
  return permissions
}
