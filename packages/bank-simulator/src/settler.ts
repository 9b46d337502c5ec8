import type { Chance } from './chance.ts'
import type { Clock } from './clock.ts'

/** Dependencies of {@link Settler}. */
export interface SettlerOptions {
  /** Known operations by id. */
  readonly known: ReadonlyMap<string, unknown>
  readonly operations: {
    /** Whether an operation is to be settled by the bank itself. */
    isDue(id: string): boolean
    settle(id: string): void
  }
  readonly clock: Clock
  readonly chance: Chance
}

/** Minimum duration of a settlement; the maximum is twice as long. */
const SETTLEMENT_MS = 50

/** Settles operations automatically after a short delay, even across restarts. */
export class Settler {
  readonly #options: SettlerOptions
  readonly #stopping = new AbortController()
  readonly #inProgress = new Map<string, Promise<void>>()

  constructor(options: SettlerOptions) {
    this.#options = options
  }

  /** Resumes the operations that an earlier run accepted and did not settle. */
  resume(): void {
    for (const id of this.#options.known.keys()) this.settle(id)
  }

  /** Starts to settle an operation, unless it is settled, in progress or waiting for a control. */
  settle(id: string): void {
    if (!this.#options.operations.isDue(id) || this.#inProgress.has(id)) return
    const settlement = this.#settle(id).finally(() => this.#inProgress.delete(id))
    this.#inProgress.set(id, settlement)
  }

  /** Settles an operation synchronously, without the delay of {@link settle}. */
  settleNow(id: string): void {
    const { operations } = this.#options
    if (operations.isDue(id)) operations.settle(id)
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
    if (!this.#stopping.signal.aborted) this.settleNow(id)
  }
}
