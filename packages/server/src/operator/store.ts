import type { Operator } from '../audit/operator.ts'
import { insertAudit } from '../audit/store.ts'
import { createReader } from '../engine/reader.ts'
import { type Database, statement } from '../platform/db/database.ts'
import type { Adjustment } from './rules.ts'

/** All SQL of the operator module. */
export interface OperatorStore {
  readSwitch(): Promise<CashOutSwitch>
  /** The adjustment that an `Idempotency-Key` made since a time. */
  adjustmentByKey(key: string, sinceMs: number): Promise<Adjustment | undefined>
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

const selectSwitch = statement<[], CashOutSwitch>(
  'operator.switch',
  `SELECT (value ->> 'enabled')::boolean AS enabled, value ->> 'reason' AS reason,
          (value ->> 'changedAt')::timestamptz AS "changedAt", version
     FROM control WHERE name = 'cash_out_switch'`,
)

/** Makes the store of a database. */
export function createOperatorStore(database: Database): OperatorStore {
  return {
    readSwitch: async () => {
      const [row] = await database.rows(selectSwitch, [])
      if (!row) throw new Error('the switch is missing')
      return row
    },
    adjustmentByKey: async (key, sinceMs) =>
      (await createReader(database).byIdempotencyKeys([key], sinceMs)).find(
        (operation): operation is Adjustment => operation.kind === 'adjustment',
      ),
    auditAdjustment: ({ id: subject, valueCents, reason }, id, nowMs, operator) => {
      const facts = { valueCents: Number(valueCents), reason }
      return insertAudit(database, { ...operator, id, at: nowMs, action: 'adjustment.ordered', subject, facts })
    },
  }
}
