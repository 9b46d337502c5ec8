import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'
import type { Course } from './facts.ts'

/** What the settler needs. */
export interface SettlerOptions {
  /** By id; a settled one says another status. */
  readonly accepted: ReadonlyMap<string, { readonly answer: { readonly status: string }; readonly course: Course }>
  readonly orders: {
    confirm(id: string): void
    fail(id: string): void
  }
  readonly clock: Clock
  readonly chance: Chance
}

/** An instant payment takes this long, and up to twice as long. */
const SETTLEMENT_MS = 50

/** Carries out, or gives up, what was accepted: by itself, a moment later, also over a restart. */
export class Settler {
  readonly #options: SettlerOptions
  readonly #stopping = new AbortController()
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(options: SettlerOptions) {
    this.#options = options
  }

  /** Takes up what an earlier run accepted and did not settle. */
  resume(): void {
    for (const id of this.#options.accepted.keys()) this.settle(id)
  }

  /** Begins to settle; what is settled, under way or waits for a control is left alone. */
  settle(id: string): void {
    if (!this.#isDue(id) || this.#underWay.has(id)) return
    const settlement = this.#settle(id).finally(() => this.#underWay.delete(id))
    this.#underWay.set(id, settlement)
  }

  /** Settles in this moment what {@link settle} would settle in the next. */
  settleNow(id: string): void {
    if (this.#isDue(id)) this.#end(id)
  }

  /** Leaves what is under way to the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#underWay.values())
  }

  async #settle(id: string): Promise<void> {
    const { clock, chance } = this.#options
    await clock.sleep(SETTLEMENT_MS + chance.below(SETTLEMENT_MS + 1), this.#stopping.signal).catch(() => undefined)
    // A control may have been faster.
    if (this.#stopping.signal.aborted || !this.#isDue(id)) return
    this.#end(id)
  }

  #end(id: string): void {
    const { accepted, orders } = this.#options
    if (accepted.get(id)?.course === 'fail') orders.fail(id)
    else orders.confirm(id)
  }

  #isDue(id: string): boolean {
    const { answer, course } = this.#options.accepted.get(id) ?? {}
    return answer?.status === 'PROCESSING' && course !== 'manual'
  }
}
