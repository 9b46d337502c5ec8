import type { Operation, Plan } from '../engine/operation.ts'
import { OPERATION_COLUMNS, type OperationRow, operationsOf } from '../engine/operation-row.ts'
import { createOperationStore, type OperationStore } from '../engine/operation-store.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'

/** Reading orders: operations that the bank is told to carry out. */
export interface OrderStore<Order extends Operation> extends OperationStore<Order> {
  /**
   * Orders on which work is due, oldest first. What a process of the version before moved is planned first.
   * @param isSending whether those that only wait to be sent are wanted too; those that are to be given back are in any case
   * @source failure-modes#CO-24, failure-modes#P8, failure-modes#DB-43
   */
  due(nowMs: number, limit: number, isSending: boolean): Promise<Order[]>
  /** Whether payouts and refunds are enabled, as committed now. */
  isEnabled(): Promise<boolean>
}

const selectSwitch = statement<[], { enabled: boolean }>(
  'order.switch',
  `SELECT (value ->> 'enabled')::boolean AS enabled FROM control WHERE name = 'cash_out_switch'`,
)

/** Notes a plan, unless the order has moved since. */
const notePlans = statement<
  [ids: readonly string[], versions: readonly number[], steps: readonly string[], changesAt: readonly (number | null)[]]
>(
  'order.note_plans',
  `UPDATE operation o SET next_step = p.step, changes_at = p.changes_at
     FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::timestamptz[]) AS p (id, version, step, changes_at)
    WHERE o.id = p.id AND o.version = p.version`,
)

/**
 * Makes the store of a kind of order.
 * @param kind also the name of the view of its operations
 * @param is tells that kind
 * @param planOf computes what is to be done next
 */
export function createOrderStore<Order extends Operation>(
  database: Database,
  kind: Order['kind'],
  is: (operation: Operation) => operation is Order,
  planOf: (order: Order, nowMs: number) => Plan,
): OrderStore<Order> {
  const selectDue = statement<[now: string, limit: number, isSending: boolean], OperationRow>(
    `${kind}.due`,
    `SELECT ${OPERATION_COLUMNS} FROM ${kind}
      WHERE due_at <= $1 AND ($3 OR next_step IS DISTINCT FROM 'send' OR changes_at <= $1)
      ORDER BY due_at LIMIT $2`,
  )

  async function planned(orders: readonly Order[], nowMs: number): Promise<Order[]> {
    const plans = orders.filter(({ plan }) => !plan).map((order) => ({ ...order, plan: planOf(order, nowMs) }))
    if (plans.length === 0) return [...orders]
    await database.rows(notePlans, [
      plans.map(({ id }) => id),
      plans.map(({ version }) => version),
      plans.map(({ plan }) => plan.step),
      plans.map(({ plan }) => plan.changesAt),
    ])
    const byId = new Map(plans.map((order) => [order.id, order]))
    return orders.map((order) => byId.get(order.id) ?? order)
  }

  return {
    ...createOperationStore(database, kind, is),
    due: async (nowMs, limit, isSending) => {
      const rows = await database.rows(selectDue, [instantParameter(nowMs), limit, isSending])
      const orders = await planned(operationsOf(rows, is), nowMs)
      return isSending
        ? orders
        : orders.filter(({ plan }) => plan?.step !== 'send' || (plan.changesAt ?? nowMs + 1) <= nowMs)
    },
    isEnabled: async () => (await database.rows(selectSwitch, []))[0]?.enabled ?? false,
  }
}
