/**
 * How many status queries the bank's events may cause, in this process: whoever sends many events must not make us flood
 * the bank. Queries that a schedule causes are not counted.
 * @source rules#partner.7
 */
export interface EventQueryBudget {
  /**
   * Takes as many queries of those `wanted` as may be asked now; the others wait.
   * @param now epoch milliseconds, of one clock
   * @returns how many; 0 where none may
   */
  take(wanted: number, now: number): number
}

/** What may be asked at once after a rest, and each second from then on. */
const BURST = 200
const PER_SECOND = 100

/** Makes the budget of a process: one, for charges, payouts and refunds together. */
export function createEventQueryBudget(): EventQueryBudget {
  let left = BURST
  let countedAt: number | undefined
  return {
    take: (wanted, now) => {
      // A clock that steps back gives nothing, and takes nothing.
      left = Math.min(BURST, left + (Math.max(0, now - (countedAt ?? now)) * PER_SECOND) / 1_000)
      countedAt = now
      const taken = Math.min(wanted, Math.floor(left))
      left -= taken
      return taken
    },
  }
}
