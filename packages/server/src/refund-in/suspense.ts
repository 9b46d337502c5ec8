import { inSuspenseCents, underWayCents } from '../cases/unexplained.ts'
import { isCashIn, returningCents, suspendedCents } from '../cash-in/index.ts'
import { own } from '../platform/own.ts'
import { fundsOf, type Holder, type RefundIn } from './refund-in.ts'

/** What of a refund is in suspense and set aside now. Pure. @source rules#desk.7 */

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
