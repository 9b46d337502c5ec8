import { limits, type RefundInOrigin } from '@pixgate/spec'
import { type Held, inSuspenseCents, underWayCents } from '../cases/unexplained.ts'
import { type CashIn, isCashIn, returningCents, suspendedCents } from '../cash-in/index.ts'
import type { Document, MovementId, Operation, Ordered } from '../engine/operation.ts'
import type { SendFacts } from '../operations/attempts.ts'
import type { OrderInput, Result } from '../operations/orders.ts'
import type { OperatorRefusal } from '../operations/requests.ts'
import { own } from '../platform/own.ts'

/** A refund as the engine keeps it, and everything that can happen to it. */

/** What was asked for and the bank is told: never changes, so that every attempt is the same. */
export interface RefundInDetail extends Document {
  /** `null`: it returns a payment to the bare Pix key. */
  readonly cashInId: string | null
  readonly reason: string | null
  readonly origin: RefundInOrigin
  /** Of origin `OPERATOR`: the operation that has the payment in suspense. */
  readonly from?: string
}

/** What became known since. Instants are epoch milliseconds. */
export interface RefundInFacts extends SendFacts {
  /** Money that left, and was booked: return id → centavos. */
  readonly returns?: Readonly<Record<string, number>>
  /** Returns that the bank tells of it and another operation has: return id → centavos. */
  readonly elsewhere?: Readonly<Record<string, number>>
  /** The one of them that was told without an id. */
  readonly unnamedReturnId?: string
  /** The return that confirmed it. */
  readonly returnId?: string
  readonly confirmedAt?: number
  readonly failureCode?: string
  readonly failureReason?: string | null
  /** What operators took from suspense, by return id, centavos. */
  readonly decidedReturns?: Readonly<Record<string, number>>
  /** What was set aside again after money had left nevertheless, centavos. */
  readonly heldAgainCents?: number
}

/** A refund as the engine keeps it; its `endToEndId` is the payment's that goes back. */
export type RefundIn = Operation<'refund_in', RefundInDetail, RefundInFacts> & Ordered

/** Money that went back. */
export interface Return {
  readonly returnId: string
  readonly valueCents: bigint
  /** The partner's word, epoch milliseconds. */
  readonly occurredAt: number
}

/** Money that the bank took back without being asked (MED). */
export interface BankReturn extends Return, ReturnNames {
  /** The partner's reference of this return, or of the payment; `null` where the statement tells it. */
  readonly transactionId: string | null
  /** `false`: only an event tells it. */
  readonly isVerified?: boolean
}

/** What can happen to a refund after its creation. `isVerified`: the bank said it when asked, not only in an event. */
export type RefundInInput = OrderInput | ReturnConfirmed | OperatorRefusal | { readonly on: 'send.postponed' }

/** Money went back. */
export interface ReturnConfirmed extends ReturnNames {
  readonly on: 'partner.confirmed'
  readonly returned: Return
  /** `null` where the statement tells it. */
  readonly transactionId: string | null
  readonly isVerified: boolean
}

/** What an event says of a return besides. */
export interface ReturnNames {
  /** Of the payment that went back; absent or `null` where none is named. */
  readonly endToEndId?: string | null
  /** The bank told no return id: the one here was made of what it told. */
  readonly isUnnamed?: boolean
}

/** What became of a refund by an input. */
export interface RefundInOutcome {
  readonly result: Result
  /** The refund as it is now. */
  readonly refund: RefundIn
}

/** The same with what has the payment, as it is now. */
export interface Standing<Kind extends Holder = Holder> extends RefundInOutcome {
  readonly holder: Kind
}

/** What has the payment that goes back: a charge, or the adjustment that holds a payment to the bare Pix key. */
export type Holder = CashIn | Held

/** The id of what has the payment that a refund gives back. */
export function holderIdOf({ detail }: Pick<RefundIn, 'detail'>): string {
  return detail.cashInId ?? detail.from ?? ''
}

/** Whether it returns money in suspense to its payer: nothing of the merchant's is set aside for it. */
export function isToPayer({ detail }: Pick<RefundIn, 'detail'>): boolean {
  return detail.origin === 'OPERATOR'
}

/** The payment in suspense that it returns, by its end-to-end id; no field where it is of the credited one. */
export function paymentOf({ detail, endToEndId }: Pick<RefundIn, 'detail' | 'endToEndId'>): {
  readonly payment?: string
} {
  return isToPayer({ detail }) && endToEndId !== null ? { payment: endToEndId } : {}
}

/** What its journals take from the merchant, and what from suspense, centavos. */
export function fundsOf(refund: Pick<RefundIn, 'detail' | 'valueCents'>): { readonly r: bigint; readonly s: bigint } {
  return isToPayer(refund) ? { r: 0n, s: refund.valueCents } : { r: refund.valueCents, s: 0n }
}

/** Whether an operation is a refund. */
export function isRefundIn(operation: Operation | undefined): operation is RefundIn {
  return operation?.kind === 'refund_in'
}

/** The movement that a return is. */
export function movementOf({ returnId }: Pick<Return, 'returnId'>): MovementId {
  return { direction: 'out', id: returnId }
}

/** All that was booked as having left, centavos. */
export function leftCents({ returns }: RefundInFacts): bigint {
  return Object.values(returns ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

/**
 * Whether an event tells a return, of this refund by its other references, by the end-to-end id of another payment.
 * @source rules#refund-in.doubt.7
 */
export function isOfAnotherPayment(refund: RefundIn, input: RefundInInput): boolean {
  if (input.on !== 'partner.confirmed' || input.endToEndId == null) return false
  return input.endToEndId !== refund.endToEndId && own(refund.facts.returns, input.returned.returnId) === undefined
}

/** Whether the bank's time lies too far in the future to be believed. */
export function isImplausible({ occurredAt }: Return, nowMs: number): boolean {
  return occurredAt > nowMs + limits.occurredAtFutureMs
}

/** What of a refund is in suspense and set aside now. Pure. @source rules#cases.7 */

/** Of money that left by this return id, centavos: nothing where it confirmed the refund. */
export function suspendedDeparture({ facts }: RefundIn, reference: string): bigint {
  if (reference === facts.returnId) return 0n
  return BigInt((own(facts.returns, reference) ?? 0) - (own(facts.decidedReturns, reference) ?? 0))
}

/** Whether any money that left for it is in suspense. */
export function hasSuspended(refund: RefundIn): boolean {
  return Object.keys(refund.facts.returns ?? {}).some((id) => suspendedDeparture(refund, id) > 0n)
}

/** What is set aside of it now, centavos: of what ended only what was held again. */
export function heldCents(refund: RefundIn): bigint {
  return refund.status === 'PENDING' ? fundsOf(refund).r : BigInt(refund.facts.heldAgainCents ?? 0)
}

/** The rule that opens a case of money that left after its release. */
export const LEFT_AFTER_RELEASE = 'refund-in.ended.6'

/** What was held again for the money of a case, centavos. */
export function heldAgainCents({ facts }: RefundIn, rule: string): bigint {
  return rule === LEFT_AFTER_RELEASE ? BigInt(facts.heldAgainCents ?? 0) : 0n
}

/** What of a payment is in suspense, and what of that refunds under way return to its payer, centavos. */
export function inSuspenseOf(holder: Holder, payment: string): { readonly left: bigint; readonly returning: bigint } {
  return isCashIn(holder)
    ? { left: suspendedCents(holder, payment), returning: returningCents(holder, payment) }
    : { left: inSuspenseCents(holder), returning: underWayCents(holder) }
}
