/** What must hold, and that it does not. */

/** The invariants, each in a sentence. */
export const INVARIANTS = {
  I1: 'every journal sums to zero, and so do all accounts together',
  I2: 'available and reserved are never negative, and receivable is never positive',
  I3: 'what is reserved is exactly what orders under way, and doubts, have set aside',
  I4: 'once all is quiet, what our books say of the bank is what the bank’s own book says, but for differences that are cases',
  I5: 'each journal is posted at most once per operation and reference',
  I6: 'an operation ends once, and leaves its end only where the machines say so',
  I7: 'each state is told at most once, exactly where it is committed, and no failure is told after a confirmation',
  I8: 'refunds under way and confirmed are together at most what was paid',
  I9: 'an order is carried out at most once under our id, and nothing is released while its money may have left',
  I10: 'what a client was answered is there ever after, and what the bank was answered is in the inbox',
  I11: 'there is one operation for an external id',
  I12: 'once all is quiet, nothing is open but what the bank still has under way, and doubts that have a case, which is a true contradiction',
  I13: 'a balance is the sum of its entries',
  I14: 'entries are only ever added, without a gap in their versions',
  I15: 'what a client sees of an operation goes back only where the machines say so',
  I16: 'a payout whose outcome is awaited has no open case, but the one that the bank has had it for too long; no case waits for the outcome of a payout or refund that has ended and is in no doubt',
} as const

/** The name of an invariant. */
export type InvariantName = keyof typeof INVARIANTS

/** An invariant does not hold. */
export class Violation extends Error {
  override readonly name = 'Violation'
  readonly invariant: InvariantName

  constructor(invariant: InvariantName, what: string) {
    super(`${invariant}: ${what} — but ${INVARIANTS[invariant]}`)
    this.invariant = invariant
  }
}

/** @throws Violation where something does not hold */
export function assertHolds(holds: boolean, invariant: InvariantName, what: () => string): void {
  if (!holds) throw new Violation(invariant, what())
}
