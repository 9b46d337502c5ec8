import { limits } from '@pixgate/spec'
import { bookedReturn, type CashIn, fateOf, type ReportedReturn, uncreditedPayment } from '../cash-in/index.ts'
import { own } from '../platform/own.ts'

/** Whether a return that only an event tells waits for the bank's own word. Pure. */

/**
 * Nothing is taken from the merchant on the word of an event; what may be a refund of ours is awaited meanwhile, and what is
 * in suspense is no merchant's. Of each charge only so many are kept.
 * @source rules#cash-in.returns.9
 */
export function isToBeVerified(cashIn: CashIn, told: ReportedReturn): boolean {
  if (!told.isUnverified || bookedReturn(cashIn, told.returnId) !== undefined) return false
  const awaited = own(cashIn.facts.awaitedReturns, told.returnId)
  if (awaited && !awaited.isUnverified) return false
  if (!awaited && knownCount(cashIn) >= limits.reportedReturnsMax) return true
  if (told.isUnnamed || told.isBookedElsewhere) return false
  return uncreditedPayment(cashIn, told) === undefined && fateOf(cashIn, told) === 'counted'
}

function knownCount({ facts: { returns, suspendedReturns, awaitedReturns } }: CashIn): number {
  return [returns, suspendedReturns, awaitedReturns].reduce((sum, known) => sum + Object.keys(known ?? {}).length, 0)
}
