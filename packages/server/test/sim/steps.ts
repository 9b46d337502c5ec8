/**
 * The places between two steps. Everything that a process does halts at each of them, and goes on when the driver lets it:
 * in any order, later, or never, as where the process has died.
 */

/** What a process was about to do. */
export interface Halt {
  readonly process: string
  readonly before: string
  /** Lets it go on. */
  readonly go: () => void
}

/** All who have halted. */
export class Steps {
  readonly #halts: Halt[] = []
  readonly #isHalting: () => boolean

  /** @param isHalting asked each time: at a place where nobody halts, nothing comes between two steps */
  constructor(isHalting: () => boolean) {
    this.#isHalting = isHalting
  }

  /** Halts a process before what it is about to do. @param isSure whatever chance says */
  before(process: string, before: string, isSure = false): Promise<void> {
    if (!isSure && !this.#isHalting()) return Promise.resolve()
    return new Promise((go) => this.#halts.push({ process, before, go }))
  }

  /** Who has halted, longest first. */
  get halts(): readonly Halt[] {
    return this.#halts
  }

  /** Lets one go on. */
  let(halt: Halt): void {
    const at = this.#halts.indexOf(halt)
    if (at >= 0) this.#halts.splice(at, 1)
    halt.go()
  }

  /** A process has died: what it was about to do is never done. */
  drop(process: string): number {
    const left = this.#halts.filter((halt) => halt.process !== process)
    const dropped = this.#halts.length - left.length
    this.#halts.splice(0, this.#halts.length, ...left)
    return dropped
  }
}

/**
 * Here nothing comes from outside in a turn of the event loop: what waits for the turn's end need not, so that the loop need not
 * turn.
 */
globalThis.setImmediate = ((run: () => void) => run()) as unknown as typeof setImmediate

/**
 * Resolves when all that can go on without a step has come to rest: a tick comes when no promise has anything left to do.
 * Nothing here waits for anything but promises, so the event loop itself need not turn.
 */
export function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}
