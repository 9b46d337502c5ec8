import { Refusal } from '@pixgate/spec'
import { startTimer } from '../clock.ts'
import { isOfUnavailability } from '../db/errors.ts'
import type { Logger } from '../log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../runtime.ts'

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
  /** Called each time that a step has failed; throws nothing. */
  readonly onFailure?: () => void
  readonly heartbeat?: Heartbeat
}

/** Starts a worker of that name. */
export type StartWorker = (options: Pick<WorkerOptions, 'name' | 'processNext' | 'idleMs'>) => Worker

/** Reports what failed and is tried again: of each reason the first time at once, then now and then. @source rules#logs.3 */
export function createFailureReport({
  name,
  logger,
  onFailure,
  heartbeat = createHeartbeat(),
}: Pick<WorkerOptions, 'name' | 'logger' | 'onFailure' | 'heartbeat'>): (error: unknown) => void {
  return (error) => {
    onFailure?.()
    // Of a database that is away its pool has a line, for all workers.
    if (isOfUnavailability(error)) return
    // Our own overload passes; anything else is somebody's to look at.
    const level = error instanceof Refusal && error.code === 'overloaded' ? 'warn' : 'error'
    const reason = String(error)
    heartbeat.report(reason, (more) =>
      logger[level]({ worker: name, reason }, `a worker step failed; it is tried again${andMore(more)}`),
    )
  }
}

/**
 * Starts a worker. A step that throws is reported and tried again after the idle wait: the work itself is in the database.
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

  /** Workers are woken hundreds of times a second: an aborted signal would cost more than many a step. */
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
