import { Refusal } from '@pixgate/spec'
import { startTimer } from '../clock.ts'
import { isOfUnavailability } from '../db/errors.ts'
import type { Logger } from '../log.ts'
import { andMore, createLogThrottle, type LogThrottle } from '../runtime.ts'

/** A loop for due work: runs at once when woken, and polls as the backstop. */
export interface Worker {
  wake(): void
  /** Starts nothing new; resolves when the current step has ended. */
  stop(): Promise<void>
}

export interface WorkerOptions {
  readonly name: string
  /** @returns whether more may be due right away */
  readonly processNext: () => Promise<boolean>
  readonly idleMs: number
  readonly logger: Logger
  /** Called after each failed step; must not throw. */
  readonly onFailure?: () => void
  readonly throttle?: LogThrottle
}

export type StartWorker = (options: Pick<WorkerOptions, 'name' | 'processNext' | 'idleMs'>) => Worker

/** Logs failures that are retried: each reason at once the first time, then now and then. @source rules#logs.3 */
export function createFailureReport({
  name,
  logger,
  onFailure,
  throttle = createLogThrottle(),
}: Pick<WorkerOptions, 'name' | 'logger' | 'onFailure' | 'throttle'>): (error: unknown) => void {
  return (error) => {
    onFailure?.()
    // The pool logs an unavailable database once for all workers.
    if (isOfUnavailability(error)) return
    // Overload passes; other errors need attention.
    const level = error instanceof Refusal && error.code === 'overloaded' ? 'warn' : 'error'
    const reason = String(error)
    throttle.report(reason, (more) =>
      logger[level]({ worker: name, reason }, `a worker step failed; it is tried again${andMore(more)}`),
    )
  }
}

/**
 * Starts a worker. A failed step is logged and retried after the idle wait: the work itself is in the database.
 * @source rules#logs.3
 */
export function startWorker(options: WorkerOptions): Worker {
  const report = createFailureReport(options)
  let stopping = false
  let awake = true
  let endSleep: () => void = () => undefined

  async function step(): Promise<boolean> {
    try {
      return await options.processNext()
    } catch (error) {
      report(error)
      return false
    }
  }

  /** Avoids abort signals: workers are woken hundreds of times a second, and one would cost more than many a step. */
  async function sleep(): Promise<void> {
    if (awake) return
    await new Promise<void>((resolve) => {
      const stopTimer = startTimer(options.idleMs, resolve)
      endSleep = () => {
        stopTimer()
        resolve()
      }
    })
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
      endSleep()
    },
    stop: () => {
      stopping = true
      endSleep()
      return finished
    },
  }
}
