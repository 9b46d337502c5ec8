import { parseArgs } from 'node:util'
import { type AuditVerification, anchorKeys, positionOf, positionText, verifyAudit } from './audit/chain.ts'
import { withSnapshot } from './platform/db/snapshot.ts'
import type { DatabaseProgram } from './programs.ts'

/**
 * The program `verify-audit`: verifies the audit trail. `--head 17:9f86…` compares a head recorded elsewhere and can be
 * repeated; `--json` prints JSON.
 * @returns the exit status: 0 for an unchanged trail, 1 for an altered one, 2 if it could not run
 * @source rules#audit.4
 */
export const verifyAuditTrail: DatabaseProgram = async (parameters, usage, open) => {
  const { heads, json } = readParameters(parameters, usage)
  const { url, keys } = await open()
  const verification = await withSnapshot({ url, name: 'pixgate verify-audit' }, (queries) =>
    verifyAudit(queries, { keys: keys === undefined ? [] : anchorKeys(keys), heads }),
  )
  console.log(json ? reportJson(verification) : reportText(verification, heads.length))
  return verification.faults.length === 0 ? 0 : 1
}

/** @throws Error with the usage */
function readParameters(args: readonly string[], usage: string) {
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
      ? [`${contradicting} of them contradict this trail: verify it with their key; otherwise they are forged`]
      : []),
    ...(forged > 0
      ? [`${forged} heads have false signatures: they were forged with write access to the database`]
      : []),
    ...faults.map(({ seq, what }) => `✘ ${seq === null ? 'a row:' : `row ${seq}`} ${what}`),
  ]
  return lines.join('\n')
}

function reportJson({ verified, faults, ...anchors }: AuditVerification): string {
  const rows = faults.map(({ seq, what }) => ({ row: seq === null ? null : Number(seq), what }))
  return JSON.stringify({ head: positionText(verified), rows: Number(verified.seq), ...anchors, faults: rows })
}
