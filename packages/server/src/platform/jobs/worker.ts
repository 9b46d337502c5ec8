import { setTimeout as delay } from 'node:timers/promises'
import { Refusal } from '@pixgate/spec'
import type { Logger } from '../log.ts'

/** A loop that does what is due: at once when woken, and by polling as the backstop. */
export interface Worker {
  /** Something may be due. */
  wake(): void
  /** Takes nothing new; resolves when the step under way has ended. */
  stop(): Promise<void>
}

/** How a worker is made. */
export interface WorkerOptions {
  readonly name: string
  /**
   * Does one step.
   * @returns whether more may be due right away
   */
  readonly processNext: () => Promise<boolean>
  readonly idleMs: number
  readonly logger: Logger
}

/** Starts a worker. A step that throws is logged and tried again after the idle wait: the work itself is in the database. */
export function startWorker(options: WorkerOptions): Worker {
  let stopping = false
  let awake = true
  let sleeping = new AbortController()

  async function step(): Promise<boolean> {
    try {
      return await options.processNext()
    } catch (error) {
      // Our own overload passes; anything else is somebody's to look at.
      const level = error instanceof Refusal && error.code === 'overloaded' ? 'warn' : 'error'
      options.logger[level]({ worker: options.name, error: String(error) }, 'a worker step failed; it is tried again')
      return false
    }
  }

  async function sleep(): Promise<void> {
    sleeping = new AbortController()
    if (!awake) await delay(options.idleMs, undefined, { signal: sleeping.signal, ref: false }).catch(() => undefined)
  }

  async function loop(): Promise<void> {
    while (!stopping) {
      awake = false
      const more = await step()
      if (!more && !stopping) await sleep()
    }
  }

  const finished = loop()
  return {
    wake: () => {
      awake = true
      sleeping.abort()
    },
    stop: () => {
      stopping = true
      sleeping.abort()
      return finished
    },
  }
}
