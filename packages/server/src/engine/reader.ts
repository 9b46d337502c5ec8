import type { AccountCode } from '@pixgate/spec'
import { type Database, statement } from '../platform/db/database.ts'
import type { Account } from './draft.ts'
import type { Operation, OperationKind } from './operation.ts'
import { accountCode, OPERATION_COLUMNS, type OperationRow } from './statement.ts'

/** The engine's plain reads: what it decides on before the statement compares it. */
export interface Reader {
  operations(ids: readonly string[]): Promise<Operation[]>
  byExternalIds(wanted: readonly { readonly kind: OperationKind; readonly externalId: string }[]): Promise<Operation[]>
  accounts(): Promise<{ now: number; accounts: Map<AccountCode, Account> }>
  /** Whether a batch was committed. */
  isCommitted(batchId: string): Promise<boolean>
}

const selectOperations = statement<[ids: readonly string[]], OperationRow>(
  'engine.operations',
  `SELECT ${OPERATION_COLUMNS} FROM operation WHERE id = ANY ($1::uuid[])`,
)

const selectByExternalIds = statement<[kinds: readonly string[], externalIds: readonly string[]], OperationRow>(
  'engine.by_external_ids',
  `SELECT ${OPERATION_COLUMNS} FROM operation
    WHERE (kind, external_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
)

const selectAccounts = statement<[], { id: number; version: bigint; balance_cents: bigint; now: number }>(
  'engine.accounts',
  'SELECT id, version, balance_cents, clock_timestamp() AS now FROM account',
)

const selectBatch = statement<[batchId: string], { found: number }>(
  'engine.batch',
  'SELECT 1 AS found FROM move WHERE batch_id = $1 LIMIT 1',
)

/** Makes a reader of a database. */
export function createReader(database: Database): Reader {
  return {
    operations: async (ids) => (await database.rows(selectOperations, [ids])).map(operationOf),
    byExternalIds: async (wanted) => {
      const kinds = wanted.map(({ kind }) => kind)
      const externalIds = wanted.map(({ externalId }) => externalId)
      return (await database.rows(selectByExternalIds, [kinds, externalIds])).map(operationOf)
    },
    accounts: async () => {
      const rows = await database.rows(selectAccounts, [])
      const accounts = new Map(
        rows.map(({ id, version, balance_cents }) => [accountCode(id), { version, balanceCents: balance_cents }]),
      )
      return { now: rows[0]?.now ?? 0, accounts }
    },
    isCommitted: async (batchId) => (await database.rows(selectBatch, [batchId])).length > 0,
  }
}

/** Maps a row to what the engine works with. */
export function operationOf(row: OperationRow): Operation {
  return {
    id: row.id,
    kind: row.kind,
    externalId: row.external_id,
    status: row.status,
    version: row.version,
    valueCents: row.value_cents,
    feeCents: row.fee_cents,
    correlationId: row.correlation_id,
    bodyHash: row.body_hash,
    expiresAt: row.expires_at,
    dueAt: row.due_at,
    transactionId: row.transaction_id,
    endToEndId: row.end_to_end_id,
    detail: row.detail,
    facts: row.facts,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
