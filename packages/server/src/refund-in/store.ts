import { decidedPaymentOf, isCashIn } from '../cash-in/index.ts'
import { createOperationStore } from '../engine/operation-store.ts'
import { createOrderStore, type OrderStore } from '../operations/store.ts'
import { type Database, statement } from '../platform/db/database.ts'
import { type BankReturn, isRefundIn, type RefundIn } from './refund-in.ts'

/** All SQL of refunds. */
export interface RefundInStore extends OrderStore<RefundIn> {
  /** The ids of the refunds of a cash-in that are under way. */
  open(cashInId: string): Promise<string[]>
  /**
   * The ids of the refunds of a cash-in that a return of this amount may be: those that are under way, and the hundred
   * latest of those that failed although they may have arrived, and whose reference at the bank nobody knows.
   * @source rules#cash-in.returns.1, rules#cash-in.returns.8
   */
  explaining(cashInId: string, valueCents: bigint): Promise<string[]>
  /**
   * The ids of the other charges that may have the payment which a return is of, as an operator decided so.
   * @source rules#cash-in.refunds.9
   */
  holders(cashInId: string, returned: Pick<BankReturn, 'returnId' | 'endToEndId'>): Promise<string[]>
}

const selectOpen = statement<[cashInId: string], { id: string }>(
  'refund_in.open',
  `SELECT id FROM refund_in WHERE detail ->> 'cashInId' = $1 AND status = 'PENDING' ORDER BY id`,
)

const selectExplaining = statement<[cashInId: string, valueCents: bigint], { id: string }>(
  'refund_in.explaining',
  `SELECT id FROM refund_in WHERE detail ->> 'cashInId' = $1 AND status = 'PENDING'
   UNION ALL
   (SELECT id FROM refund_in
     WHERE detail ->> 'cashInId' = $1 AND value_cents = $2 AND status = 'FAILED' AND transaction_id IS NULL
       AND coalesce((facts ->> 'attempts')::int, 0) > coalesce((facts ->> 'unsentAttempts')::int, 0)
     ORDER BY created_at DESC LIMIT 100)`,
)

/** Makes the store of a database. */
export function createRefundInStore(database: Database): RefundInStore {
  const charges = createOperationStore(database, 'cash_in', isCashIn)
  return {
    ...createOrderStore(database, 'refund_in', isRefundIn),
    explaining: async (cashInId, valueCents) =>
      (await database.rows(selectExplaining, [cashInId, valueCents])).map(({ id }) => id),
    holders: async (cashInId, returned) => {
      const cashIn = await charges.get(cashInId)
      const endToEndId = cashIn && decidedPaymentOf(cashIn, returned)
      if (endToEndId === undefined) return []
      const [matches = []] = await charges.match([{ transactionId: null, externalId: null, endToEndId }])
      return [...new Set(matches.map(({ id }) => id))].filter((id) => id !== cashInId)
    },
    open: async (cashInId) => (await database.rows(selectOpen, [cashInId])).map(({ id }) => id),
  }
}
