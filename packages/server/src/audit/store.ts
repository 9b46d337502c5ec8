import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { Operator } from './operator.ts'

/** All SQL that adds to the audit trail outside the engine's statement. */

/** Who did what to what, when and from where. */
export interface AuditRow extends Operator {
  readonly id: string
  /** Epoch milliseconds. */
  readonly at: number
  /** `api_key.generated`, `adjustment.ordered` … */
  readonly action: string
  readonly subject: string
  readonly facts: Readonly<Record<string, unknown>>
}

const insertAuditStatement = statement<
  [id: string, at: string, actor: string, action: string, subject: string, address: string, facts: string]
>(
  'audit.insert',
  'INSERT INTO audit (id, at, actor, action, subject, address, facts) VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb)',
)

/** Adds a row to the audit trail; in a transaction, with what it tells of or not at all. */
export async function insertAudit(queries: Queries, row: AuditRow): Promise<void> {
  const { id, at, actor, action, subject, address, facts } = row
  const text = JSON.stringify(facts)
  await queries.rows(insertAuditStatement, [id, instantParameter(at), actor, action, subject, address, text])
}
