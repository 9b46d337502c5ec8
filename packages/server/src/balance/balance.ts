import { centsToReais, type endpoints } from '@pixgate/spec'
import { type Database, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'

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

async function readBalance(database: Database): Promise<BalanceRow> {
  const [row] = await database.rows(selectBalance, [])
  if (!row) throw new Error('account rows are missing')
  return row
}

export type BalanceHandlers = Handlers<Pick<typeof endpoints, 'getBalance'>>

/** @source rules#balance.1 */
export function createBalanceHandlers(database: Database): BalanceHandlers {
  return {
    getBalance: async () => {
      const { id, available_cents, reserved_cents, receivable_cents } = await readBalance(database)
      const brl = { code: 'BRL', name: 'Brazilian Real', symbol: 'R$', icon: null } as const
      const body = [
        {
          id,
          amount: centsToReais(available_cents),
          ...brl,
          reservedCents: Number(reserved_cents),
          // Stored as a negative balance; shown as a positive debt.
          receivableCents: Number(-receivable_cents),
        },
      ]
      return { status: 200, body }
    },
  }
}
