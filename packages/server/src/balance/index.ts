import { centsToReais, type endpoints } from '@pixgate/spec'
import { type Database, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'

interface BalanceRow {
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

/** @source rules#balance.1 */
export function createBalanceHandlers(database: Database): Handlers<Pick<typeof endpoints, 'getBalance'>> {
  return {
    getBalance: async () => {
      const [row] = await database.rows(selectBalance, [])
      if (!row) throw new Error('account rows are missing')
      const brl = { code: 'BRL', name: 'Brazilian Real', symbol: 'R$', icon: null } as const
      const body = [
        {
          id: row.id,
          amount: centsToReais(row.available_cents),
          ...brl,
          reservedCents: Number(row.reserved_cents),
          // Stored as a negative balance; shown as a positive debt.
          receivableCents: Number(-row.receivable_cents),
        },
      ]
      return { status: 200, body }
    },
  }
}
