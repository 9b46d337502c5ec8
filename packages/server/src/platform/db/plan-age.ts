/** A connection makes its plans anew after so many statements, then each time that it has sent twice as many … */
const FIRST = 64

/** … and after so many at the latest. */
const AT_LATEST = 1_024

/**
 * How old the plans of a connection are, counted in statements. A prepared statement keeps its plan, and one that was made
 * while a table was small reads it whole: kept for 7,000 cash-ins, it made a batch of 64 moves take 13.6 ms instead of 4.5.
 * The planner knows how large a table is at the time, analysed or not; so all that is wrong with such a plan is its age.
 * @source rules#database.8
 */
export class PlanAge {
  #sent = 0
  #renewAt = FIRST

  /** Counts a statement that was sent. */
  count(): void {
    this.#sent += 1
  }

  /** Whether all plans are to be made anew; they then count as new. */
  isOver(): boolean {
    if (this.#sent < this.#renewAt) return false
    this.#renewAt = this.#sent + Math.min(this.#sent, AT_LATEST)
    return true
  }
}
