/** What is planned for an instant. */
interface Plan {
  readonly at: number
  readonly what: () => void
}

/** What is to happen when its time has come, in the bank and on the way from it: in the order of time, then of planning. */
export class Agenda {
  /** The last one comes first: latest at the front. */
  readonly #plans: Plan[] = []

  /** Plans something. */
  at(dueAt: number, what: () => void): void {
    let [low, high] = [0, this.#plans.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#plans[middle] as Plan).at > dueAt) low = middle + 1
      else high = middle
    }
    this.#plans.splice(low, 0, { at: dueAt, what })
  }

  /** When the next thing is to happen; `null`: nothing is. */
  get nextAt(): number | null {
    return this.#plans.at(-1)?.at ?? null
  }

  /** Does what is due. What that plans for now is done as well. */
  run(nowMs: number): void {
    while ((this.nextAt ?? Number.POSITIVE_INFINITY) <= nowMs) this.#plans.pop()?.what()
  }
}
