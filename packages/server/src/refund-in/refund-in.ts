import { limits, type RefundInOrigin } from '@pixgate/spec'
import { type Held, inSuspenseCents, underWayCents } from '../cases/unexplained.ts'
import { type CashIn, isCashIn, returningCents, suspendedCents } from '../cash-in/index.ts'
import type { Document, MovementId, Operation, Ordered } from '../engine/operation.ts'
import type { SendFacts } from '../operations/attempts.ts'
import type { OrderInput, Result } from '../operations/orders.ts'
import type { OperatorRefusal } from '../operations/requests.ts'
import { own } from '../platform/own.ts'

/** The request. Immutable, so that every attempt sends the same bytes. */
export interface RefundInDetail extends Document {
  /** `null` for a payment to the bare Pix key. */
  readonly cashInId: string | null
  readonly reason: string | null
  readonly origin: RefundInOrigin
  /** For origin `OPERATOR`: the operation with the payment in suspense. */
  readonly from?: string
}

/** Instants are epoch milliseconds. */
export interface RefundInFacts extends SendFacts {
  /** Booked debits: return id → centavos. */
  readonly returns?: Readonly<Record<string, number>>
  /** Returns of this refund that are booked on another operation: return id → centavos. */
  readonly elsewhere?: Readonly<Record<string, number>>
  readonly unnamedReturnId?: string
  readonly returnId?: string
  readonly confirmedAt?: number
  readonly failureCode?: string
  readonly failureReason?: string | null
  /** Amounts that operators moved out of suspense: return id → centavos. */
  readonly decidedReturns?: Readonly<Record<string, number>>
  /** Reserved again after a debit that followed the failure, centavos. */
  readonly heldAgainCents?: number
}

/** `endToEndId` is that of the refunded payment. */
export type RefundIn = Operation<'refund_in', RefundInDetail, RefundInFacts> & Ordered

export interface Return {
  readonly returnId: string
  readonly valueCents: bigint
  /** By the bank's clock, epoch milliseconds. */
  readonly occurredAt: number
}

/** A return made by the bank itself (MED). */
export interface BankReturn extends Return, ReturnNames {
  /** The bank's reference of the return, or of the payment; `null` if reported by the statement. */
  readonly transactionId: string | null
  /** `false`: reported by an event only. */
  readonly isVerified?: boolean
}

/** `isVerified`: the bank reported it in an answer, not only in an event. */
export type RefundInInput = OrderInput | ReturnConfirmed | OperatorRefusal | { readonly on: 'send.postponed' }

export interface ReturnConfirmed extends ReturnNames {
  readonly on: 'partner.confirmed'
  readonly returned: Return
  /** `null` if reported by the statement. */
  readonly transactionId: string | null
  readonly isVerified: boolean
}

export interface ReturnNames {
  /** The returned payment; absent or `null` if none is named. */
  readonly endToEndId?: string | null
  /** The bank gave no return id: this one is derived from its report. */
  readonly isUnnamed?: boolean
}

export interface RefundInOutcome {
  readonly result: Result
  readonly refund: RefundIn
}

export interface Standing extends RefundInOutcome {
  readonly holder: Holder
}

/** The charge, or the adjustment that holds a payment to the bare Pix key. */
export type Holder = CashIn | Held

export function holderIdOf({ detail }: Pick<RefundIn, 'detail'>): string {
  return detail.cashInId ?? detail.from ?? ''
}

/** A refund of money in suspense reserves nothing of the merchant's. */
export function isToPayer({ detail }: Pick<RefundIn, 'detail'>): boolean {
  return detail.origin === 'OPERATOR'
}

/** End-to-end id of the payment in suspense; absent for a refund of the credited payment. */
export function paymentOf({ detail, endToEndId }: Pick<RefundIn, 'detail' | 'endToEndId'>): {
  readonly payment?: string
} {
  return isToPayer({ detail }) && endToEndId !== null ? { payment: endToEndId } : {}
}

/** Amounts of its journals, centavos: `r` from the merchant, `s` from suspense. */
export function fundsOf(refund: Pick<RefundIn, 'detail' | 'valueCents'>): { readonly r: bigint; readonly s: bigint } {
  return isToPayer(refund) ? { r: 0n, s: refund.valueCents } : { r: refund.valueCents, s: 0n }
}

export function isRefundIn(operation: Operation | undefined): operation is RefundIn {
  return operation?.kind === 'refund_in'
}

export function movementOf({ returnId }: Pick<Return, 'returnId'>): MovementId {
  return { direction: 'out', id: returnId }
}

export function leftCents({ returns }: RefundInFacts): bigint {
  return Object.values(returns ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

/** An event reports a return of this refund under another payment's end-to-end id. @source rules#refund-in.doubt.7 */
export function isOfAnotherPayment(refund: RefundIn, input: RefundInInput): boolean {
  if (input.on !== 'partner.confirmed' || input.endToEndId == null) return false
  return input.endToEndId !== refund.endToEndId && own(refund.facts.returns, input.returned.returnId) === undefined
}

export function isImplausible({ occurredAt }: Return, nowMs: number): boolean {
  return occurredAt > nowMs + limits.occurredAtFutureMs
}

/** Suspense and reservation of a refund. Pure. @source rules#cases.7 */

/** Suspense of a debit, centavos; zero for the one that confirmed the refund. */
export function suspendedDeparture({ facts }: RefundIn, reference: string): bigint {
  if (reference === facts.returnId) return 0n
  return BigInt((own(facts.returns, reference) ?? 0) - (own(facts.decidedReturns, reference) ?? 0))
}

export function hasSuspended(refund: RefundIn): boolean {
  return Object.keys(refund.facts.returns ?? {}).some((id) => suspendedDeparture(refund, id) > 0n)
}

/** Reserved now, centavos; after the end only what was held again. */
export function heldCents(refund: RefundIn): bigint {
  return refund.status === 'PENDING' ? fundsOf(refund).r : BigInt(refund.facts.heldAgainCents ?? 0)
}

/** Rule that opens the case of a debit after the release. */
export const LEFT_AFTER_RELEASE = 'refund-in.ended.6'

/** Reserved again for the case's debit, centavos. */
export function heldAgainCents({ facts }: RefundIn, rule: string): bigint {
  return rule === LEFT_AFTER_RELEASE ? BigInt(facts.heldAgainCents ?? 0) : 0n
}

/** Suspense of a payment (`left`), and the part that refunds in flight return (`returning`), centavos. */
export function inSuspenseOf(holder: Holder, payment: string): { readonly left: bigint; readonly returning: bigint } {
  return isCashIn(holder)
    ? { left: suspendedCents(holder, payment), returning: returningCents(holder, payment) }
    : { left: inSuspenseCents(holder), returning: underWayCents(holder) }
}
