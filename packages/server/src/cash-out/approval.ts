import { limits, Refusal } from '@pixgate/spec'
import type { Operator } from '../audit/operator.ts'
import type { Audit, Document } from '../engine/operation.ts'
import type { CashOut, CashOutFacts, CashOutInput } from './cash-out.ts'
import type { CashOutRequest } from './create.ts'

/**
 * Payouts from an amount on wait until somebody who did not make the API key approves them: two people stand behind them,
 * or none of them leaves. Pure.
 * @source rules#cash-out.approval
 */

/** Who has yet to approve a payout, and who has. */
export interface Approval extends Document {
  /** How many operators it takes. */
  readonly wanted: number
  /** The operator who made the API key; `null`: the administrative token did, or nobody knows. */
  readonly keyMadeBy: string | null
  /** The operators who have, in their order. */
  readonly by: readonly string[]
}

/** What an operator says to a payout that waits. */
export type ApprovalInput =
  | {
      readonly on: 'operator.approved'
      readonly approver: Operator
      readonly reason: string
      /** Of a QR code, which is decoded again: `null` where it cannot be paid any more. */
      readonly code?: { readonly valueCents: bigint; readonly pixKey: string; readonly decodeId: string } | null
    }
  | { readonly on: 'operator.refused'; readonly approver: Operator; readonly reason: string }

/** The approval that a payout of this amount needs, if any. @source rules#cash-out.approval.1, rules#cash-out.approval.2 */
export function approvalFor(
  { valueCents, keyMadeBy = null }: CashOutRequest,
  approvalFromCents: bigint | null,
): Approval | undefined {
  if (approvalFromCents === null || valueCents < approvalFromCents) return undefined
  return { wanted: keyMadeBy === null ? 2 : 1, keyMadeBy, by: [] }
}

/** Whether it may not be sent before somebody approves it. */
export function isAwaitingApproval({ facts: { approval, approvedAt } }: Pick<CashOut, 'facts'>): boolean {
  return approval !== undefined && approvedAt === undefined
}

/** Until when a payout may be approved, epoch milliseconds. */
export function approvalDeadline({ createdAt }: Pick<CashOut, 'createdAt'>): number {
  return createdAt + limits.unclaimedReleaseMs
}

/** What an approval teaches. The last one begins the 24 hours in which it is to be sent. @source rules#cash-out.approval.4 */
export function approved(
  { facts: { approval } }: CashOut,
  { approver, code }: Extract<ApprovalInput, { on: 'operator.approved' }>,
  nowMs: number,
): CashOutFacts {
  if (approval === undefined) return {}
  const by = [...approval.by, approver.actor]
  if (by.length < approval.wanted) return { approval: { ...approval, by } }
  return { approval: { ...approval, by }, approvedAt: nowMs, ...(code ? { decodeId: code.decodeId } : {}) }
}

/** Whether a QR code asks for something else than when the payout was made. @source rules#cash-out.approval.9 */
export function asksForSomethingElse({ valueCents, detail }: CashOut, input: CashOutInput): boolean {
  if (input.on !== 'operator.approved' || input.code === undefined) return false
  return input.code?.valueCents !== valueCents || input.code.pixKey !== detail.recipient.pixKey
}

/**
 * Whether an operator may say it.
 * @throws not_possible_in_state (409) it waits for no approval · approver_not_independent (403) they made the API key, or
 *   approved it before
 * @source rules#cash-out.approval.2, rules#cash-out.approval.3
 */
export function assertMaySay(cashOut: CashOut, { on, approver: { actor } }: ApprovalInput, nowMs: number): void {
  const { approval } = cashOut.facts
  if (cashOut.status !== 'RESERVED' || !isAwaitingApproval(cashOut) || !approval) {
    throw new Refusal('not_possible_in_state', { message: 'the payout waits for no approval' })
  }
  if (on === 'operator.approved' && nowMs >= approvalDeadline(cashOut)) {
    throw new Refusal('not_possible_in_state', {
      message: 'the payout is to be given back: nobody approved it in time',
    })
  }
  if (on === 'operator.approved' && (actor === approval.keyMadeBy || approval.by.includes(actor))) {
    throw new Refusal('approver_not_independent')
  }
}

/** What the audit trail is told of it. @source rules#cash-out.approval.6 */
export function auditOf({ id, valueCents }: CashOut, { on, approver, reason }: ApprovalInput): Audit {
  const action = on === 'operator.approved' ? 'cash_out.approved' : 'cash_out.refused'
  return { ...approver, action, subject: id, facts: { valueCents: Number(valueCents), reason } }
}
