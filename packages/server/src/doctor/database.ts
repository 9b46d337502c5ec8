import { clockProblem } from '../health/index.ts'
import type { DatabaseClock } from '../platform/clock.ts'
import type { Queries } from '../platform/db/database.ts'
import { databaseStartupError } from '../platform/db/errors.ts'
import { loginFaults, workAsApplication } from '../platform/db/login.ts'
import { missingFromSchema } from '../platform/db/migrate.ts'
import { checkDatabase } from '../platform/db/self-check.ts'
import { withSnapshot } from '../platform/db/snapshot.ts'
import { bad, type Finding, good } from '../platform/finding.ts'
import type { EncryptionKeys } from '../platform/sealing.ts'
import { StartupError } from '../platform/startup-error.ts'
import { MACHINES, schemaFault } from '../prepare-database.ts'
import { listEndpoints, type WebhookEndpoint } from '../webhooks/endpoints.ts'
import { adviseOn, readSealed, Unreadable } from '../webhooks/index.ts'
import { permissionFaults } from './permissions.ts'
import { readAbout, readPermissions } from './store.ts'

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
