import { runClose } from './close.ts'
import { isProduction, serviceVariables } from './config.ts'
import { exportSubject } from './export-subject.ts'
import type { EncryptionKeys } from './platform/sealing.ts'
import { type Environment, readVariables } from './platform/variables.ts'
import { rewrapKeys } from './rewrap-keys.ts'
import { verifyAuditTrail } from './verify-audit.ts'
import { verifyLedger } from './verify-ledger.ts'

/** A database on which a program works. */
export interface OpenDatabase {
  readonly url: string
  /** `undefined`: not configured. */
  readonly keys: EncryptionKeys | undefined
  /** `PIXGATE_OFX_ACCOUNT`, where it is set. */
  readonly ofxAccount?: string | undefined
  readonly stop: () => Promise<void>
}

/**
 * A program on the database. Reads its parameters first.
 * @param usage its command, for a message about wrong parameters
 * @returns its exit status. @throws Error when it could not run: exit status 2
 */
export type DatabaseProgram = (
  parameters: readonly string[],
  usage: string,
  open: () => Promise<OpenDatabase>,
) => Promise<number>

const programs: Readonly<Record<string, DatabaseProgram>> = {
  close: runClose,
  'export-subject': exportSubject,
  'rewrap-keys': rewrapKeys,
  'verify-audit': verifyAuditTrail,
  'verify-ledger': verifyLedger,
}

/**
 * Runs a program.
 * @param start the command without the program's name: `pixgate` or `npm run`
 * @returns its exit status
 */
export async function runOnDatabase(
  [word = '', ...parameters]: readonly string[],
  start: string,
  find: () => Promise<OpenDatabase>,
): Promise<number> {
  let stop = async () => {}
  try {
    const program = programs[word]
    if (program === undefined) throw new Error(`unknown program; it is one of ${Object.keys(programs).join(', ')}`)
    return await program(parameters, `${start} ${word}${start === 'pixgate' ? '' : ' --'}`, async () => {
      const database = await find()
      stop = database.stop
      return database
    })
  } catch (error) {
    console.error(`${word}: ${(error as Error).message}`)
    return 2
  } finally {
    await stop()
  }
}

/** The database in `DATABASE_URL`, with the encryption keys if they are set. @throws ConfigError */
export async function configuredDatabase(environment: Environment): Promise<OpenDatabase> {
  const { DATABASE_URL, PIXGATE_OFX_ACCOUNT, PIXGATE_ENCRYPTION_KEY, PIXGATE_ENCRYPTION_KEY_PREVIOUS } =
    serviceVariables
  const { required: _, ...optional } = PIXGATE_ENCRYPTION_KEY
  const table = { DATABASE_URL, PIXGATE_OFX_ACCOUNT, PIXGATE_ENCRYPTION_KEY: optional, PIXGATE_ENCRYPTION_KEY_PREVIOUS }
  const values = readVariables(table, environment, { isProduction: isProduction(environment) })
  const { PIXGATE_ENCRYPTION_KEY: current, PIXGATE_ENCRYPTION_KEY_PREVIOUS: previous } = values
  const keys = current === undefined ? undefined : { current, previous }
  return { url: values.DATABASE_URL, keys, ofxAccount: values.PIXGATE_OFX_ACCOUNT, stop: async () => undefined }
}
