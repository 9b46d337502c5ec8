import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * Stops processes for a time. A shell beside us lets each go on, so that none stays stopped where we are killed.
 */
export class Stopping {
  readonly #underWay = new Map<number, Promise<unknown>>()

  /** Stops a process, and lets it go on after a time; one that is stopped already is left to that. */
  stop(pid: number, forMs: number): void {
    if (this.#underWay.has(pid)) return
    const script = 'kill -STOP "$0" && sleep "$1"; kill -CONT "$0"'
    const shell = spawn('/bin/sh', ['-c', script, String(pid), (forMs / 1_000).toFixed(3)], { stdio: 'ignore' })
    this.#underWay.set(
      pid,
      once(shell, 'close').then(() => this.#underWay.delete(pid)),
    )
  }

  /** Whether any is stopped now. */
  get isAnyStopped(): boolean {
    return this.#underWay.size > 0
  }

  /** Lets everything go on that is stopped now. The shells say so once more, in their time. */
  goOn(): void {
    for (const pid of this.#underWay.keys()) goOn(pid)
  }

  /** Resolves when nothing is stopped any more. */
  async over(): Promise<void> {
    await Promise.all(this.#underWay.values())
  }
}

function goOn(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // It has gone meanwhile.
  }
}
