import type { EntryOperation } from '@pixgate/spec'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'

/** All SQL of the ledger as the merchant reads it; only the engine writes entries. */
export interface LedgerStore {
  /** The public id of the available account. */
  accountId(): Promise<string>
  get(version: bigint): Promise<LedgerRow | undefined>
  /** Entries older than `before`, newest first. */
  list(filter: LedgerFilter): Promise<LedgerRow[]>
}

/** Which entries to list. `null`: any. */
export interface LedgerFilter {
  /** Exclusive. */
  readonly before: bigint | null
  readonly type: 'CREDIT' | 'DEBIT' | null
  readonly operation: EntryOperation | null
  readonly referenceId: string | null
  /** Epoch milliseconds, inclusive. */
  readonly from: number | null
  /** Epoch milliseconds, exclusive. */
  readonly to: number | null
  readonly limit: number
}

/** An entry of the available account. */
export interface LedgerRow {
  readonly version: bigint
  readonly amount_cents: bigint
  readonly balance_after_cents: bigint
  readonly operation: EntryOperation
  readonly reference_id: string
  readonly at: number
  readonly currency: 'BRL'
  readonly external_id: string | null
  readonly transaction_id: string | null
  readonly end_to_end_id: string | null
  readonly description: string | null
}

const selectAccount = statement<[], { public_id: string }>(
  'ledger.account',
  `SELECT public_id FROM account WHERE code = 'available'`,
)

const selectEntry = statement<[version: string], LedgerRow>(
  'ledger.get',
  'SELECT * FROM ledger_entry WHERE version = $1',
)

const selectEntries = statement<
  [
    before: string | null,
    type: string | null,
    operation: string | null,
    referenceId: string | null,
    from: string | null,
    to: string | null,
    limit: number,
  ],
  LedgerRow
>(
  'ledger.list',
  `SELECT * FROM ledger_entry
    WHERE ($1::bigint IS NULL OR version < $1)
      AND ($2::text IS NULL OR (amount_cents > 0) = ($2 = 'CREDIT'))
      AND ($3::text IS NULL OR operation = $3)
      AND ($4::uuid IS NULL OR reference_id = $4)
      AND ($5::timestamptz IS NULL OR at >= $5)
      AND ($6::timestamptz IS NULL OR at < $6)
    ORDER BY version DESC LIMIT $7`,
)

/** Makes the store of a database. */
export function createLedgerStore(database: Database): LedgerStore {
  return {
    accountId: async () => {
      const [account] = await database.rows(selectAccount, [])
      if (!account) throw new Error('the available account is missing')
      return account.public_id
    },
    get: async (version) => (await database.rows(selectEntry, [String(version)]))[0],
    list: ({ before, type, operation, referenceId, from, to, limit }) =>
      database.rows(selectEntries, [
        before === null ? null : String(before),
        type,
        operation,
        referenceId,
        from === null ? null : instantParameter(from),
        to === null ? null : instantParameter(to),
        limit,
      ]),
  }
}
