import type { Document } from '../engine/operation.ts'
import { own } from '../platform/own.ts'
import type { CashIn } from './cash-in.ts'
import { returningCents, suspendedCents } from './returns.ts'

/** What of a cash-in is in suspense now, by the reference of its case. Pure. @source rules#desk.7 */

/** A payment that a charge receives from another one. */
export interface Received {
  readonly endToEndId: string
  readonly cents: bigint
  /** The charge at the bank by which it was paid. */
  readonly from: string
  /** What its case was opened with. */
  readonly facts: Document
}

/** What may be decided of a payment that arrived, centavos: nothing of it that is credited, or being returned. */
export function suspendedArrival(cashIn: CashIn, reference: string): bigint {
  const left = suspendedCents(cashIn, reference) - returningCents(cashIn, reference)
  return left > 0n ? left : 0n
}

/** Of a return, centavos. */
export function suspendedDeparture({ facts }: CashIn, reference: string): bigint {
  const known = own(facts.returns, reference)
  return known?.state === 'in_suspense' ? BigInt(known.cents) : 0n
}
