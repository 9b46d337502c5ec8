/**
 * Bounds the status queries that the bank's events cause in this process: many events must not make us flood the bank.
 * Scheduled queries are not counted.
 * @source rules#partner.7
 */
export interface EventQueryBudget {
  /**
   * Takes up to `wanted` queries; the others wait.
   * @param now epoch milliseconds, always of one clock
   * @returns the number taken
   */
  take(wanted: number, now: number): number
}

const BURST = 200
const PER_SECOND = 100

/** Makes the budget of a process: one, for charges, payouts and refunds together. */
export function createEventQueryBudget(): EventQueryBudget {
  let left = BURST
  let countedAt: number | undefined
  return {
    take: (wanted, now) => {
      // A clock that goes back gives and takes nothing.
      left = Math.min(BURST, left + (Math.max(0, now - (countedAt ?? now)) * PER_SECOND) / 1_000)
      countedAt = now
      const taken = Math.min(wanted, Math.floor(left))
      left -= taken
      return taken
    },
  }
}
