import type { ConfiguredBank } from '../banks/bank.ts'
import type { Mode } from '../config.ts'
import { createDatabaseClock } from '../platform/clock.ts'
import { type SettingPlaces, settingsCount } from '../platform/environment-file.ts'
import { bad, type Finding, good, reportOf } from '../platform/finding.ts'
import type { EncryptionKeys } from '../platform/sealing.ts'
import { ConfigError, type Environment } from '../platform/variables.ts'
import { configured, readEnvironment } from '../process.ts'
import { examineAuthorities } from './authorities.ts'
import { examineBank } from './bank.ts'
import { type DatabaseExamination, examineDatabase, type MigratedBy } from './database.ts'
import { examineEndpoints } from './endpoints.ts'
import { examineRuntime } from './runtime.ts'

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
