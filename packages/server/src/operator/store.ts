import { type Database, instantParameter, statement } from '../platform/db/database.ts'

/** All SQL of the operator module. */
export interface OperatorStore {
  readSwitch(): Promise<CashOutSwitch>
  /** Adds to the audit trail that an adjustment was ordered. */
  auditAdjustment(order: OrderedAdjustment, id: string, nowMs: number, operator: Operator): Promise<void>
}

/** The switch as it stands; what is `null` was never told. */
export interface CashOutSwitch {
  readonly enabled: boolean
  readonly reason: string | null
  /** When it was set the last time, epoch milliseconds. */
  readonly changedAt: number | null
  /** One more each time it is set. */
  readonly version: bigint
}

/** What is to be booked, and why. */
export interface OrderedAdjustment {
  readonly id: string
  /** Signed. */
  readonly valueCents: bigint
  readonly reason: string
}

/** Who asks, and from where. */
export interface Operator {
  readonly actor: string
  readonly address: string
}

const selectSwitch = statement<[], CashOutSwitch>(
  'operator.switch',
  `SELECT (value ->> 'enabled')::boolean AS enabled, value ->> 'reason' AS reason,
          (value ->> 'changedAt')::timestamptz AS "changedAt", version
     FROM control WHERE name = 'cash_out_switch'`,
)

const insertAudit = statement<
  [id: string, at: string, actor: string, subject: string, address: string, valueCents: bigint, reason: string]
>(
  'operator.audit_adjustment',
  `INSERT INTO audit (id, at, actor, action, subject, address, facts)
   VALUES ($1, $2, $3, 'adjustment.ordered', $4, $5, jsonb_build_object('valueCents', $6::bigint, 'reason', $7::text))`,
)

/** Makes the store of a database. */
export function createOperatorStore(database: Database): OperatorStore {
  return {
    readSwitch: async () => {
      const [row] = await database.rows(selectSwitch, [])
      if (!row) throw new Error('the switch is missing')
      return row
    },
    auditAdjustment: async (order, id, nowMs, { actor, address }) => {
      const { valueCents, reason } = order
      await database.rows(insertAudit, [id, instantParameter(nowMs), actor, order.id, address, valueCents, reason])
    },
  }
}
