import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'
import type { Course } from './facts.ts'

/** Dependencies of {@link Settler}. */
export interface SettlerOptions {
  /** Accepted orders by id. Settled orders have another status than `PROCESSING`. */
  readonly accepted: ReadonlyMap<string, { readonly answer: { readonly status: string }; readonly course: Course }>
  readonly orders: {
    confirm(id: string): void
    fail(id: string): void
  }
  readonly clock: Clock
  readonly chance: Chance
}

/** Minimum duration of a settlement; the maximum is twice as long. */
const SETTLEMENT_MS = 50

/** Confirms or fails accepted orders automatically after a short delay, even across restarts. */
export class Settler {
  readonly #options: SettlerOptions
  readonly #stopping = new AbortController()
  readonly #inProgress = new Map<string, Promise<void>>()

  constructor(options: SettlerOptions) {
    this.#options = options
  }

  /** Resumes the orders that an earlier run accepted and did not settle. */
  resume(): void {
    for (const id of this.#options.accepted.keys()) this.settle(id)
  }

  /** Starts to settle an order, unless it is settled, in progress or waiting for a control. */
  settle(id: string): void {
    if (!this.#isDue(id) || this.#inProgress.has(id)) return
    const settlement = this.#settle(id).finally(() => this.#inProgress.delete(id))
    this.#inProgress.set(id, settlement)
  }

  /** Settles an order synchronously, without the delay of {@link settle}. */
  settleNow(id: string): void {
    if (this.#isDue(id)) this.#confirmOrFail(id)
  }

  /** Aborts settlements in progress; the next start resumes them. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#inProgress.values())
  }

  async #settle(id: string): Promise<void> {
    const { clock, chance } = this.#options
    await clock.sleep(SETTLEMENT_MS + chance.below(SETTLEMENT_MS + 1), this.#stopping.signal).catch(() => undefined)
    // A control may have settled it in the meantime.
    if (this.#stopping.signal.aborted || !this.#isDue(id)) return
    this.#confirmOrFail(id)
  }

  #confirmOrFail(id: string): void {
    const { accepted, orders } = this.#options
    if (accepted.get(id)?.course === 'fail') orders.fail(id)
    else orders.confirm(id)
  }

  #isDue(id: string): boolean {
    const { answer, course } = this.#options.accepted.get(id) ?? {}
    return answer?.status === 'PROCESSING' && course !== 'manual'
  }
}
