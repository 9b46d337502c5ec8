/** A connection makes its plans anew after so many statements, then each time that it has sent twice as many … */
const FIRST = 64

/** … and after so many at the latest. */
const AT_LATEST = 1_024

/** The same in milliseconds since it began. */
const FIRST_MS = 1_000
const AT_LATEST_MS = 60_000

/**
 * How old the plans of a connection are, counted in statements and in time: others fill the tables too. A prepared statement keeps its
 * plan, and one that was made while a table was small reads it whole: kept for 7,000 cash-ins, it made a batch of 64 moves take 13.6 ms
 * instead of 4.5, and a statement that is sent now and then two seconds instead of 40 ms.
 * The planner knows how large a table is at the time, analysed or not; so all that is wrong with such a plan is its age.
 * @source rules#database.8
 */
export class PlanAge {
  readonly #begunAt: number
  #sent = 0
  #renewAt = FIRST
  #renewAtMs: number
  #renewed = 0

  /** @param nowMs here and below by one monotonic clock */
  constructor(nowMs: number) {
    this.#begunAt = nowMs
    this.#renewAtMs = nowMs + FIRST_MS
  }

  /** Counts a statement that was sent. */
  count(): void {
    this.#sent += 1
  }

  /** Whether all plans are to be made anew; they then count as new. */
  isOver(nowMs: number): boolean {
    if (this.#sent === this.#renewed || (this.#sent < this.#renewAt && nowMs < this.#renewAtMs)) return false
    this.#renewed = this.#sent
    this.#renewAt = this.#sent + Math.min(Math.max(this.#sent, FIRST), AT_LATEST)
    this.#renewAtMs = nowMs + Math.min(Math.max(nowMs - this.#begunAt, FIRST_MS), AT_LATEST_MS)
    return true
  }
}
