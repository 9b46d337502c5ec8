import type { Operation, State } from '../engine/operation.ts'
import { createOperationStore } from '../engine/operation-store.ts'
import { OPERATION_COLUMNS, type OperationRow, operationsOf } from '../engine/rows.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'

const selectSwitch = statement<[], { enabled: boolean }>(
  'order.switch',
  `SELECT (value ->> 'enabled')::boolean AS enabled FROM control WHERE name = 'cash_out_switch'`,
)

/**
 * @param kind also the name of the view of its operations
 * @param is tests the kind
 */
export function createOrderStore<Order extends Operation>(
  database: Database,
  kind: Order['kind'],
  is: (operation: Operation) => operation is Order,
) {
  const selectDue = statement<[now: string, limit: number, isSending: boolean], OperationRow>(
    `${kind}.due`,
    `SELECT ${OPERATION_COLUMNS} FROM ${kind}
      WHERE due_at <= $1 AND ($3 OR next_step IS DISTINCT FROM 'send' OR changes_at <= $1)
      ORDER BY due_at LIMIT $2`,
  )

  return {
    ...createOperationStore(database, kind, is),
    /**
     * Due orders, oldest first.
     * @param isSending also returns orders that only wait to be sent; releasable ones are always returned
     * @source failure-modes#CO-24, failure-modes#P8
     */
    due: async (nowMs: number, limit: number, isSending: boolean): Promise<Order[]> =>
      operationsOf(await database.rows(selectDue, [instantParameter(nowMs), limit, isSending]), is),
    /** Payouts and refunds are enabled, as committed now. */
    isEnabled: async (): Promise<boolean> => (await database.rows(selectSwitch, []))[0]?.enabled ?? false,
  }
}

/**
 * Payouts and refunds are accepted and sent. The command must read the control.
 * @source rules#operator.switch.2, failure-modes#CO-24
 */
export function isEnabled(state: State): boolean {
  return state.control('cash_out_switch').enabled === true
}
