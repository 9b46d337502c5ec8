import type { PaymentPageState } from '@pixgate/spec'
import {
  type CashIn,
  isCancelRequested,
  isOver,
  isWanted,
  paidCents,
  pixCodeOf,
  refundedCents,
} from '../cash-in/index.ts'

/** States that may still change by themselves. */
const LIVE: ReadonlySet<PaymentPageState> = new Set(['preparing', 'waiting', 'expired', 'cancelled', 'in_review'])

export function isLive(state: PaymentPageState): boolean {
  return LIVE.has(state)
}

/** State of a charge for its payer. A code is shown only while it can be paid. @source rules#payment-page.5 */
export function pageStateOf(cashIn: CashIn, nowMs: number): PaymentPageState {
  const { status, facts } = cashIn
  if (status === 'PAID') return refundedCents(cashIn) < paidCents(cashIn) ? 'paid' : 'returned'
  if (status === 'FAILED') return isCancelRequested(cashIn) && facts.payments === undefined ? 'cancelled' : 'closed'
  if (status === 'EXPIRED') return 'expired'
  if (!isWanted(cashIn)) return 'in_review'
  if (isOver(cashIn, nowMs)) return 'expired'
  if (isCancelRequested(cashIn)) return 'cancelled'
  return pixCodeOf(cashIn) === null ? 'preparing' : 'waiting'
}
