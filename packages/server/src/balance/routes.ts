import { centsToReais, type endpoints } from '@pixgate/spec'
import type { Database } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { readBalance } from './store.ts'

/** The endpoint of the balance. */
export type BalanceHandlers = Handlers<Pick<typeof endpoints, 'getBalance'>>

/**
 * Makes the handler.
 * @source rules#balance.1
 */
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
          // Kept as a negative balance; told as what is owed.
          receivableCents: Number(-receivable_cents),
        },
      ]
      return { status: 200, body }
    },
  }
}
