const BURST = 200
const PER_SECOND = 100

export type EventQueryBudget = ReturnType<typeof createEventQueryBudget>

/**
 * Caps the status queries triggered by bank events in this process, so that many events cannot flood the bank: one
 * budget, shared by charges, payouts and refunds. Scheduled queries do not count.
 * @source rules#partner.7
 */
export function createEventQueryBudget() {
  let left = BURST
  let countedAt: number | undefined
  return {
    /**
     * Takes up to `wanted` queries; the rest must wait.
     * @param now epoch milliseconds, always of one clock
     * @returns the number taken
     */
    take: (wanted: number, now: number): number => {
      // A clock that goes back changes nothing.
      left = Math.min(BURST, left + (Math.max(0, now - (countedAt ?? now)) * PER_SECOND) / 1_000)
      countedAt = now
      const taken = Math.min(wanted, Math.floor(left))
      left -= taken
      return taken
    },
  }
}
