import { createOrderStore, type OrderStore } from '../operations/store.ts'
import type { Database } from '../platform/db/database.ts'
import { type CashOut, isCashOut } from './cash-out.ts'
import { planOf } from './schedule.ts'

/** Reading cash-outs. */
export type CashOutStore = OrderStore<CashOut>

/** Makes the store of a database. */
export function createCashOutStore(database: Database): CashOutStore {
  return createOrderStore(database, 'cash_out', isCashOut, planOf)
}
