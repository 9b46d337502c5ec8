import { parseArgs } from 'node:util'
import {
  type AuditVerification,
  anchorKeys,
  type Position,
  positionOf,
  positionText,
  verifyAudit,
} from './audit/chain.ts'
import { isProduction, serviceVariables } from './config.ts'
import type { OpenDatabase } from './open-database.ts'
import { withSnapshot } from './platform/db/snapshot.ts'
import type { EncryptionKeys } from './platform/sealing.ts'
import { type Environment, readVariables } from './platform/variables.ts'

export interface OpenAuditDatabase extends OpenDatabase {
  /** `undefined`: anchors are not verified. */
  readonly encryptionKeys: EncryptionKeys | undefined
}

/**
 * The program `verify-audit`: verifies the audit trail. `--head 17:9f86…` compares a head recorded elsewhere and can be
 * repeated; `--json` prints JSON.
 * @param open opens the database
 * @returns the exit status: 0 for an unchanged trail, 1 for an altered one, 2 if it could not run
 * @source rules#audit.4
 */
export async function verifyAuditTrail(
  parameters: readonly string[],
  usage: string,
  open: () => Promise<OpenAuditDatabase>,
): Promise<number> {
  try {
    return await verifyDatabase(readParameters(parameters, usage), await open())
  } catch (error) {
    console.error(`verify-audit: ${(error as Error).message}`)
    return 2
  }
}

/** The database in `DATABASE_URL`, with `PIXGATE_ENCRYPTION_KEY` and its previous value if set. @throws ConfigError */
export async function configuredAuditDatabase(environment: Environment): Promise<OpenAuditDatabase> {
  const { DATABASE_URL, PIXGATE_ENCRYPTION_KEY, PIXGATE_ENCRYPTION_KEY_PREVIOUS } = serviceVariables
  const { required: _, ...optional } = PIXGATE_ENCRYPTION_KEY
  const table = { DATABASE_URL, PIXGATE_ENCRYPTION_KEY: optional, PIXGATE_ENCRYPTION_KEY_PREVIOUS }
  const values = readVariables(table, environment, { isProduction: isProduction(environment) })
  const { PIXGATE_ENCRYPTION_KEY: current, PIXGATE_ENCRYPTION_KEY_PREVIOUS: previous } = values
  const encryptionKeys = current === undefined ? undefined : { current, previous }
  return { url: values.DATABASE_URL, encryptionKeys, stop: async () => undefined }
}

interface Parameters {
  readonly heads: readonly Position[]
  readonly json: boolean
}

/** @throws Error with the usage */
function readParameters(args: readonly string[], usage: string): Parameters {
  const options = {
    head: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
  } as const
  const { head = [], json } = parseArgs({ args: [...args], options }).values
  const heads = head.map((text) => {
    const position = positionOf(text)
    if (position === undefined) throw new Error(`${text} is no head. Usage: ${usage} [--head SEQ:HASH] [--json]`)
    return position
  })
  return { heads, json }
}

async function verifyDatabase(
  { heads, json }: Parameters,
  { url, encryptionKeys, stop }: OpenAuditDatabase,
): Promise<number> {
  try {
    const keys = encryptionKeys === undefined ? [] : anchorKeys(encryptionKeys)
    const verification = await withSnapshot({ url, name: 'pixgate verify-audit' }, (queries) =>
      verifyAudit(queries, { keys, heads }),
    )
    console.log(json ? reportJson(verification) : reportText(verification, heads.length))
    return verification.faults.length === 0 ? 0 : 1
  } finally {
    await stop()
  }
}

function reportText(verification: AuditVerification, heads: number): string {
  const { verified, anchors, unproven, contradicting, forged, faults } = verification
  const lines = [
    `${verified.seq} rows are as they were written, ${anchors} signed heads${heads > 0 ? `, ${heads} given` : ''}`,
    `head ${positionText(verified)}`,
    ...(unproven > 0
      ? [
          `${unproven} heads were signed with another key than PIXGATE_ENCRYPTION_KEY, and than the one before it: they prove nothing`,
        ]
      : []),
    ...(contradicting > 0
      ? [`${contradicting} of them are none of this trail: verify it with their key, or somebody made them up`]
      : []),
    ...(forged > 0
      ? [`${forged} heads have false signatures: somebody who can write to the database made them up`]
      : []),
    ...faults.map(({ seq, what }) => `✘ ${seq === null ? 'a row:' : `row ${seq}`} ${what}`),
  ]
  return lines.join('\n')
}

function reportJson({ verified, faults, ...anchors }: AuditVerification): string {
  const told = faults.map(({ seq, what }) => ({ row: seq === null ? null : Number(seq), what }))
  return JSON.stringify({ head: positionText(verified), rows: Number(verified.seq), ...anchors, faults: told })
}
