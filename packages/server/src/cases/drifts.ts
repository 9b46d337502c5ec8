import type { Engine } from '../engine/engine.ts'
import type { Case } from '../engine/operation.ts'
import { sha256 } from '../platform/crypto.ts'
import { type Database, statement } from '../platform/db/database.ts'

export interface Verified {
  readonly drifts: readonly {
    readonly name: string
    readonly meaning: string
    /** Number of faults; the examples are a subset. */
    readonly count: number
    readonly examples: readonly string[]
  }[]
}

/**
 * Opens cases for new faults and closes those of vanished ones. A decided fault opens no new case.
 * @source rules#cases.60
 */
export async function reportDrifts(
  { engine, database }: { readonly engine: Pick<Engine, 'execute'>; readonly database: Database },
  { drifts }: Verified,
): Promise<void> {
  const found = drifts.flatMap(casesOf)
  const known = await database.rows(selectDrifts, [])
  if (found.length + known.length === 0) return
  const standing = new Set(
    known.filter(({ isOpen, isDecided }) => isOpen || isDecided).map(({ reference }) => reference),
  )
  const cases = found.filter(({ reference }) => !standing.has(reference))
  // Faults of a check beyond its examples are unknown and may persist.
  const truncated = drifts.filter(({ count, examples }) => count > examples.length)
  const persists = (reference: string) =>
    found.some((one) => one.reference === reference) || truncated.some(({ name }) => reference.startsWith(`${name} `))
  const closes = known.filter(({ isOpen, reference }) => isOpen && !persists(reference)).map(({ id }) => id)
  if (cases.length + closes.length === 0) return
  await engine.execute({ reads: [], decide: () => ({ cases, closes, outcome: undefined }) })
}

function casesOf({ name, meaning, examples }: Verified['drifts'][number]): Case[] {
  return examples.map((what) => ({
    operationId: null,
    kind: 'ledger_drift',
    reference: `${name} ${sha256(what).toString('hex').slice(0, 32)}`,
    facts: { rule: 'cases.60', check: name, meaning, what },
  }))
}

/** A case that an operator closed is decided. */
const selectDrifts = statement<[], { id: string; reference: string; isOpen: boolean; isDecided: boolean }>(
  'cases.drifts',
  `SELECT c.id, c.reference, c.closed_at IS NULL AS "isOpen",
          EXISTS (SELECT FROM audit a WHERE a.action IN ('case.decided', 'case.approved') AND a.subject = c.id::text) AS "isDecided"
     FROM "case" c WHERE c.operation_id IS NULL AND c.kind = 'ledger_drift'`,
)
