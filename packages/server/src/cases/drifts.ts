import type { Engine } from '../engine/engine.ts'
import type { Case } from '../engine/operation.ts'
import { sha256 } from '../platform/crypto.ts'
import { type Database, statement } from '../platform/db/database.ts'

/** Faults that the verification of the books found, as cases. */
export interface DriftCases {
  /**
   * Opens a case for each fault that none tells of, and closes those of faults that are gone. A fault that an operator decided of
   * opens none again.
   * @source rules#cases.60
   */
  report(verification: Verified): Promise<void>
}

/** What a verification found. */
export interface Verified {
  readonly drifts: readonly {
    readonly name: string
    readonly meaning: string
    /** How many faults there are, of which the examples are some. */
    readonly count: number
    readonly examples: readonly string[]
  }[]
}

/** What it needs. */
export interface DriftOptions {
  readonly engine: Pick<Engine, 'execute'>
  readonly database: Database
}

/** Makes it. */
export function createDriftCases({ engine, database }: DriftOptions): DriftCases {
  return {
    report: async (verification) => {
      const found = verification.drifts.flatMap(casesOf)
      const known = await database.rows(selectDrifts, [])
      if (found.length + known.length === 0) return
      const standing = new Set(
        known.filter(({ isOpen, isDecided }) => isOpen || isDecided).map(({ reference }) => reference),
      )
      const cases = found.filter(({ reference }) => !standing.has(reference))
      // Of a check with more faults than are told, those that are not told may be there still.
      const untold = verification.drifts.filter(({ count, examples }) => count > examples.length)
      const isThere = (reference: string) =>
        found.some((one) => one.reference === reference) || untold.some(({ name }) => reference.startsWith(`${name} `))
      const closes = known.filter(({ isOpen, reference }) => isOpen && !isThere(reference)).map(({ id }) => id)
      if (cases.length + closes.length === 0) return
      await engine.execute({ reads: [], decide: () => ({ cases, closes, outcome: undefined }) })
    },
  }
}

function casesOf({ name, meaning, examples }: Verified['drifts'][number]): Case[] {
  return examples.map((what) => ({
    operationId: null,
    kind: 'ledger_drift',
    reference: `${name} ${sha256(what).toString('hex').slice(0, 32)}`,
    facts: { rule: 'cases.60', check: name, meaning, what },
  }))
}

/** Cases of drifts that are there: those that an operator closed are decided of. */
const selectDrifts = statement<[], { id: string; reference: string; isOpen: boolean; isDecided: boolean }>(
  'cases.drifts',
  `SELECT c.id, c.reference, c.closed_at IS NULL AS "isOpen",
          EXISTS (SELECT FROM audit a WHERE a.action IN ('case.decided', 'case.approved') AND a.subject = c.id::text) AS "isDecided"
     FROM "case" c WHERE c.operation_id IS NULL AND c.kind = 'ledger_drift'`,
)
