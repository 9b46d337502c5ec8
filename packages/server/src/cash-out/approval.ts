import { limits, Refusal } from '@pixgate/spec'
import type { Audit } from '../engine/operation.ts'
import { sendableSince } from '../operations/attempts.ts'
import { isApprover, isSamePerson, type Person } from '../operators/index.ts'
import type { Approval, ApprovalInput } from './approval-input.ts'
import type { CashOut, CashOutFacts, CashOutInput } from './cash-out.ts'

/**
 * Payouts from an amount on wait until somebody who did not make the API key approves them: two people stand behind them,
 * or none of them leaves. Pure.
 * @source rules#cash-out.approval
 */

type Approved = Extract<ApprovalInput, { on: 'operator.approved' }>

/** Those who have approved it and are approvers still. @source rules#cash-out.approval.10 */
export function countedApprovers({ by }: Approval, people: readonly Person[]): string[] {
  return by.filter((id) => people.some((person) => person.id === id && isApprover(person)))
}

/** The approval that a payout of this amount needs, if any. @source rules#cash-out.approval.1, rules#cash-out.approval.2 */
export function approvalFor(
  { valueCents, keyMadeBy = null }: { readonly valueCents: bigint; readonly keyMadeBy?: string | null | undefined },
  approvalFromCents: bigint | null,
): Approval | undefined {
  if (approvalFromCents === null || valueCents < approvalFromCents) return undefined
  return { wanted: keyMadeBy === null ? 2 : 1, keyMadeBy, by: [] }
}

/** Whether it may not be sent before somebody approves it. */
export function isAwaitingApproval({ facts: { approval, approvedAt } }: Pick<CashOut, 'facts'>): boolean {
  return approval !== undefined && approvedAt === undefined
}

/** Until when a payout may be approved, and then sent, epoch milliseconds. */
export function approvalDeadline(cashOut: Pick<CashOut, 'createdAt' | 'facts'>): number {
  return sendableSince(cashOut) + limits.unclaimedReleaseMs
}

/** What an approval teaches. The last one begins the 24 hours in which it is to be sent. @source rules#cash-out.approval.4 */
export function approved(
  { facts: { approval } }: CashOut,
  { approver, people, code }: Approved,
  nowMs: number,
): CashOutFacts {
  if (approval === undefined) return {}
  const by = [...countedApprovers(approval, people), approver.actor]
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
 * @throws not_possible_in_state (409) it was claimed for sending, or has ended; or it waits for no approval · as
 *   {@link assertMayApprove}
 * @source rules#cash-out.approval.3, rules#cash-out.approval.11
 */
export function assertMaySay(cashOut: CashOut, input: ApprovalInput, nowMs: number): void {
  if (cashOut.status !== 'RESERVED' || cashOut.facts.isAccepted) {
    throw new Refusal('not_possible_in_state', { message: 'the payout was sent, or has ended' })
  }
  if (input.on === 'operator.approved') assertMayApprove(cashOut, input, nowMs)
}

/**
 * @throws not_possible_in_state (409) it waits for no approval, or for none any more · api_key_deactivated (409) ·
 *   insufficient_role (403) they are no approver any more · approver_not_independent (403) they made the API key, or approved
 *   it before
 */
function assertMayApprove(cashOut: CashOut, { approver, people, isKeyDeactivated }: Approved, nowMs: number): void {
  const { approval } = cashOut.facts
  if (!isAwaitingApproval(cashOut) || !approval) {
    throw new Refusal('not_possible_in_state', { message: 'the payout waits for no approval' })
  }
  if (nowMs >= approvalDeadline(cashOut)) {
    throw new Refusal('not_possible_in_state', {
      message: 'the payout is to be given back: nobody approved it in time',
    })
  }
  if (isKeyDeactivated) throw new Refusal('api_key_deactivated')
  const person = people.find(({ id }) => id === approver.actor)
  if (person === undefined || !isApprover(person)) throw new Refusal('insufficient_role')
  const others = [...(approval.keyMadeBy === null ? [] : [approval.keyMadeBy]), ...countedApprovers(approval, people)]
  if (others.some((id) => isSamePerson(person, id, people))) throw new Refusal('approver_not_independent')
}

/** What the audit trail is told of it. @source rules#cash-out.approval.6 */
export function auditOf({ id, valueCents }: CashOut, { on, approver, reason }: ApprovalInput): Audit {
  const action = on === 'operator.approved' ? 'cash_out.approved' : 'cash_out.refused'
  return { ...approver, action, subject: id, facts: { valueCents: Number(valueCents), reason } }
}
