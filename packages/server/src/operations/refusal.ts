import type { Operator } from '../audit/operator.ts'

/** An operator refuses an order, payout or refund, that nobody tried to send. @source rules#cash-out.approval.11 */
export interface OperatorRefusal {
  readonly on: 'operator.refused'
  readonly approver: Operator
  readonly reason: string
}
