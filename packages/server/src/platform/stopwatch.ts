/**
 * A clock for what must not happen late: milliseconds, from any origin. It goes on while the process is stopped, by the
 * monotonic clock, and while its machine is suspended, when that one stands still and the wall clock goes on. A wall clock
 * that is set forward only makes things late.
 * @source failure-modes#P10
 */
export function sleeplessClock(monotonic = () => performance.now(), wall = () => Date.now()): () => number {
  let [monotonicAt, wallAt] = [monotonic(), wall()]
  let at = 0
  return () => {
    const [monotonicNow, wallNow] = [monotonic(), wall()]
    at += Math.max(monotonicNow - monotonicAt, wallNow - wallAt)
    monotonicAt = monotonicNow
    wallAt = wallNow
    return at
  }
}
