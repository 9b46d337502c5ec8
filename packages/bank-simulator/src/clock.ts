/** The bank's own clock, epoch milliseconds. Everything else in the simulator is told the time. */
export function now(): number {
  return Date.now()
}
