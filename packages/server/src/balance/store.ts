import { type Database, statement } from '../platform/db/database.ts'

/** The accounts that a balance is told from. */
export interface BalanceRow {
  readonly id: string
  readonly available_cents: bigint
  readonly reserved_cents: bigint
  readonly receivable_cents: bigint
}

const selectBalance = statement<[], BalanceRow>(
  'balance.get',
  `SELECT a.public_id AS id, a.balance_cents AS available_cents, r.balance_cents AS reserved_cents,
          v.balance_cents AS receivable_cents
     FROM account a, account r, account v
    WHERE a.code = 'available' AND r.code = 'reserved' AND v.code = 'receivable'`,
)

/** Reads the balance: all accounts as of one instant. */
export async function readBalance(database: Database): Promise<BalanceRow> {
  const [row] = await database.rows(selectBalance, [])
  if (!row) throw new Error('the accounts are missing')
  return row
}
