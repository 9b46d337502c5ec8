/** What is to happen when its time has come, in the bank and on the way from it: in the order of time, then of planning. */
export class Agenda {
  readonly #plans: { readonly at: number; readonly order: number; readonly what: () => void }[] = []
  #planned = 0

  /** Plans something. */
  at(at: number, what: () => void): void {
    this.#planned += 1
    this.#plans.push({ at, order: this.#planned, what })
  }

  /** When the next thing is to happen; `null`: nothing is. */
  get nextAt(): number | null {
    return this.#plans.length === 0 ? null : Math.min(...this.#plans.map(({ at }) => at))
  }

  /** Does what is due. */
  run(nowMs: number): boolean {
    const due = this.#plans.filter(({ at }) => at <= nowMs).sort((a, b) => a.at - b.at || a.order - b.order)
    for (const plan of due) {
      this.#plans.splice(this.#plans.indexOf(plan), 1)
      plan.what()
    }
    return due.length > 0
  }
}
