import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { limits, Refusal } from '@pixgate/spec'
import type { Bank, ConfiguredBank, ExaminationOptions } from '../banks/bank.ts'
import { standingOf } from '../banks/calls.ts'
import { type BankCertificate, daysLeftOf, renewalOf, urgencyOf } from '../banks/certificates.ts'
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
import { NotConnected, tryConnection } from '../platform/http-client/agent.ts'
import type { AllowedNetwork } from '../platform/http-client/allowed-networks.ts'
import { createIds, ownOrderId } from '../platform/ids.ts'
import { endedRuntime } from '../platform/runtime.ts'
import type { EncryptionKeys } from '../platform/sealing.ts'
import { dayOf, fileErrorReason } from '../platform/secrets.ts'
import { StartupError } from '../platform/startup-error.ts'
import { ConfigError, type Environment, readVariables } from '../platform/variables.ts'
import { MACHINES, schemaFault } from '../prepare-database.ts'
import { configured, readEnvironment } from '../process.ts'
import { type Bounds, boundsOf, endpointUrl, type Reach } from '../webhooks/endpoint-url.ts'
import { listEndpoints, type WebhookEndpoint } from '../webhooks/endpoints.ts'
import { adviseOn } from '../webhooks/rewrap.ts'
import { Unreadable } from '../webhooks/sealed.ts'

/** Subjects of the examination. A finding replaces a subject that cannot be examined now. */
export interface Examined {
  readonly mode: Mode
  readonly database: string | Finding
  /** Login with which the sandbox's start migrates; `undefined`: the same login. */
  readonly migrationUrl: string | undefined
  /** `undefined`: not generated yet. */
  readonly encryptionKeys: EncryptionKeys | Finding | undefined
  readonly bank: ConfiguredBank | Finding
  readonly webhookAllowPrivate: boolean
  readonly webhookAllowedNetworks: readonly AllowedNetwork[]
}

/** Reads the environment; `places` locates the settings from `.env`. @throws ConfigError */
export type Configure = (environment: Environment, places: SettingPlaces) => Examined | Promise<Examined>

/**
 * Examines all dependencies of the service and prints a line for each check. Changes nothing.
 * @returns the exit status: 0 without faults, otherwise 1
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

/**
 * Examines, in this order: Node.js (by the database's time), encryption key, database, clock, bank and webhook
 * endpoints.
 */
async function examine(examined: Examined): Promise<Finding[]> {
  const { database, encryptionKeys, bank, webhookAllowPrivate, webhookAllowedNetworks } = examined
  const bounds = boundsOf({ allowPrivate: webhookAllowPrivate, allowedNetworks: webhookAllowedNetworks })
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
    examineEndpoints(endpoints, bounds).catch((error: unknown) => [unforeseen('webhook endpoint', error)]),
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

/** A check that throws becomes a finding and does not stop the others. */
function unforeseen(check: string, error: unknown): Finding {
  return bad(check, `cannot be examined: ${error instanceof Error ? error.message : error}`)
}

/** Reports a Node.js that no longer gets fixes. @source rules#production.8 */
export function examineRuntime(nowMs: number, version?: string): Finding[] {
  const ended = endedRuntime(nowMs, version)
  if (ended === undefined) return []
  return [bad('Node.js', `${ended.version} gets no security fixes since ${ended.lastDay}: install a newer major`)]
}

/**
 * Checks that the file in `NODE_EXTRA_CA_CERTS` can be read. Node.js itself only warns, and then does not trust those
 * authorities.
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
 * Missing rights for a start, one sentence each.
 * @param pending names of the files that a start would apply
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

/** The schema creates the role and grants it. */
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

type Endpoint = Pick<WebhookEndpoint, 'id' | 'url' | 'reach'>

/**
 * Connects to every webhook endpoint as a delivery would, without sending anything. The path of the URL is not shown,
 * since it may be a secret.
 * @source rules#doctor.5, rules#webhooks.26
 */
export async function examineEndpoints(
  endpoints: readonly Endpoint[],
  bounds: Readonly<Record<Reach, Bounds>>,
): Promise<readonly Finding[]> {
  return Promise.all(endpoints.map((endpoint) => examineEndpoint(endpoint, bounds[endpoint.reach])))
}

async function examineEndpoint({ id, url, reach }: Endpoint, { urls, gate }: Bounds): Promise<Finding> {
  const check = 'webhook endpoint'
  const { origin } = new URL(url)
  try {
    await tryConnection(gate, endpointUrl(url, urls), limits.webhookConnectTimeoutMs)
    return good(check, `${origin} takes connections`)
  } catch (error) {
    return bad(check, `${origin} ${problemOf(error, reach)}: repair it, or remove it with DELETE /webhook/${id}`)
  }
}

function problemOf(error: unknown, reach: Reach): string {
  if (error instanceof Refusal) return 'is not an address that production delivers to'
  if (!(error instanceof NotConnected)) throw error
  if (error.reason === 'address_not_allowed') {
    const norAllowed = reach === 'inside' ? ', and not in PIXGATE_WEBHOOK_ALLOWED_NETWORKS with this port' : ''
    return `is not delivered to, as ${error.message}${norAllowed}`
  }
  if (error.reason === 'dns') return connectionProblem(errorCode(error.cause) ?? 'ENOTFOUND')
  return connectionProblem(error.reason === 'timeout' ? 'timeout' : errorCode(error.cause))
}

/** A bank's `Date` has whole seconds and takes time to arrive. */
const BANK_SKEW_MAX_MS = 5_000

const MINUTE_MS = 60_000

/**
 * Makes one authenticated call that changes nothing at the bank, or checks the connection step by step if the connector
 * supports it.
 * @param clock our clock
 * @param options further steps at the bank; none by default
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

/** Reads the statement of the last minute, or queries a charge that does not exist. */
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
 * The program `bank-check`: checks the connection to the configured bank step by step and prints a line for each, with
 * the reason of a failure. Needs no database and only the bank's settings. In the bank's sandbox it creates and cancels
 * a charge; `--register` registers the callback address.
 * @returns the exit status: 0 without faults, 1 with faults, 2 if it could not run
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

/** Reads only the bank's variables. @throws ConfigError */
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

export interface DatabaseExamination {
  readonly findings: readonly Finding[]
  /** The registered webhook endpoints; none if the schema is of another version. */
  readonly endpoints: readonly Endpoint[]
}

/** Migrations are applied by the start with its own login, by the start with another, or only by `migrate`. */
export type MigratedBy = 'start' | 'start as another user' | 'migrate'

export interface ExaminedDatabase {
  readonly url: string
  readonly clock: DatabaseClock
  /** Must open the sealed values; `undefined` if unknown. */
  readonly encryptionKeys: EncryptionKeys | undefined
  readonly migratedBy: MigratedBy
}

/** Checks whether the service could work with the database. Changes nothing. @source rules#doctor.2, rules#doctor.4 */
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
    return (await adviseOn(queries, keys)).map((advice) => good(check, advice))
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

export interface AboutDatabase {
  readonly version: string
  readonly now: number
  readonly isReadOnly: boolean
}

const selectAbout = statement<[], AboutDatabase>(
  'doctor.about',
  `SELECT current_setting('server_version') AS version,
          (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
          pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS "isReadOnly"`,
)

export async function readAbout(queries: Queries): Promise<AboutDatabase> {
  const [about] = await queries.rows(selectAbout, [])
  if (about === undefined) throw new Error('the database returned no version')
  return about
}

export interface Permissions {
  readonly user: string
  readonly mayCreateTables: boolean
  /** True if there are no tables yet. */
  readonly mayWriteTables: boolean
  /** True if there are no tables yet. */
  readonly ownsTables: boolean
  readonly mayCreateRoles: boolean
  readonly isRoleThere: boolean
  readonly maySetRole: boolean
  readonly mayGrantRole: boolean
}

/** Name of the right to assume another role; before version 16 membership implies it. */
const TO_SET = `CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END`

/** Before version 16, a user who may create roles may grant any. */
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

/** Reads the rights of the login, or of the role it works as. @source rules#rotation.3 */
async function readPermissions(queries: Queries): Promise<Permissions> {
  const [permissions] = await queries.rows(selectPermissions, [])
  if (permissions === undefined) throw new Error('the current role is missing in pg_roles')
  return permissions
}
