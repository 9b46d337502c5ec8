import { min } from '@pixgate/spec'
import { own } from '../platform/own.ts'
import { type CashOut, type CashOutFacts, reversedCents } from './cash-out.ts'

/** What of a payout is in suspense and set aside now. Pure. @source rules#desk.7 */

/** Of money that left by this end-to-end id, centavos: nothing where it confirmed the payout. */
export function suspendedDeparture({ endToEndId, facts }: CashOut, reference: string): bigint {
  if (reference === endToEndId) return 0n
  return leftOver(facts.movements, facts.decidedMovements, reference)
}

/** Of money that came back by this return id, centavos. */
export function suspendedArrival({ facts }: CashOut, reference: string): bigint {
  return leftOver(facts.suspendedReturns, facts.decidedReturns, reference)
}

/** Whether any money that left for it is in suspense. */
export function hasSuspended(cashOut: CashOut): boolean {
  return Object.keys(cashOut.facts.movements ?? {}).some((id) => suspendedDeparture(cashOut, id) > 0n)
}

/** What is set aside of it now, centavos. */
export function heldCents({ endToEndId, valueCents, feeCents, facts }: CashOut): bigint {
  if (endToEndId !== null || facts.isReleased) return 0n
  return facts.heldAgainCents === undefined ? valueCents + feeCents : BigInt(facts.heldAgainCents)
}

/** The rule that opens a case of money that left after its release. */
export const LEFT_AFTER_RELEASE = 'cash-out.ended.2'

/** What was held again for the money of a case, centavos: it is free where that came back or is a loss. */
export function heldAgainCents(cashOut: CashOut, rule: string): bigint {
  return rule === LEFT_AFTER_RELEASE ? heldCents(cashOut) : 0n
}

/** What confirming by money in suspense takes of it and of the fee now: what is free and held pays. */
export function takenNow(cashOut: CashOut, leftCents: bigint, availableCents: bigint) {
  const there = availableCents + heldCents(cashOut)
  const d = min(there, leftCents)
  return { d, g: min(there - d, cashOut.feeCents) }
}

/**
 * Whether crediting this would make more come back than left as the payout, which is another amount than its value where an
 * operator confirmed it so.
 * @source rules#cash-out.reversal.2
 */
export function exceedsPayout({ endToEndId, valueCents, facts }: CashOut, cents: bigint): boolean {
  const leftCents = own(facts.movements, endToEndId ?? '')
  return reversedCents(facts) + cents > (leftCents === undefined ? valueCents : BigInt(leftCents))
}

/** Whether what comes back of it may pay back another payment of it, which was written off. @source rules#cash-out.reversal.2 */
export function hasLoss({ facts: { lossCents = 0 } }: CashOut): boolean {
  return lossCents > 0
}

function leftOver(booked: CashOutFacts['movements'], decided: CashOutFacts['movements'], reference: string): bigint {
  return BigInt((own(booked, reference) ?? 0) - (own(decided, reference) ?? 0))
}
