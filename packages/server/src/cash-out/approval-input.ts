import type { Operator } from '../audit/operator.ts'
import type { Document } from '../engine/operation.ts'
import type { OperatorRefusal } from '../operations/refusal.ts'
import type { Person } from '../operators/index.ts'

/** What operators say to a payout that was not sent, and what is kept of it. @source rules#cash-out.approval */

/** Who has yet to approve a payout, and who has. */
export interface Approval extends Document {
  /** How many operators it takes. */
  readonly wanted: number
  /** The operator who made the API key; `null`: the administrative token did, or nobody knows. */
  readonly keyMadeBy: string | null
  /** The operators who have, in their order. */
  readonly by: readonly string[]
}

/** What an operator says to a payout that was not sent. */
export type ApprovalInput =
  | {
      readonly on: 'operator.approved'
      readonly approver: Operator
      readonly reason: string
      /** All operators there ever were, as they are now: whoever is not among them counts for nothing. */
      readonly people: readonly Person[]
      /** How often keys and operators had been deactivated before these were read. */
      readonly holdersVersion: bigint
      /** The API key that asked for the payout was deactivated since. */
      readonly isKeyDeactivated: boolean
      /** Of a QR code, which is decoded again: `null` where it cannot be paid any more. */
      readonly code?: { readonly valueCents: bigint; readonly pixKey: string; readonly decodeId: string } | null
    }
  | OperatorRefusal
