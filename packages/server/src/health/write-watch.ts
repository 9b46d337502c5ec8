import type { Clock } from '../platform/clock.ts'
import { databaseProblem, isRefusedWrite } from '../platform/db/errors.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../platform/runtime.ts'

/** Whether the database takes what is written: it may be read all the same where it does not. */
export interface WriteWatch {
  /** A write was answered. @param refusal what the database threw; `undefined` where it was committed */
  onWrite(refusal: unknown): void
  /** Why nothing is written; `undefined` where nothing speaks against it. */
  problem(): string | undefined
}

/** What it is made with. */
export interface WriteWatchOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly heartbeat?: Heartbeat
}

/**
 * How long a refused write counts at most. A process that is not ready gets no requests, and without them it would never
 * write again and never find out.
 */
const COUNTS_FOR_MS = 60_000

/** Makes the watch. @source rules#health.7 */
export function createWriteWatch({ clock, logger, heartbeat = createHeartbeat() }: WriteWatchOptions): WriteWatch {
  let refused: { readonly at: number; readonly problem: string } | undefined
  return {
    onWrite: (refusal) => {
      if (isRefusedWrite(refusal)) refused = { at: clock.now(), problem: databaseProblem(refusal) }
      if (refusal !== undefined || refused === undefined) return
      refused = undefined
      heartbeat.report('back', (more) => {
        if (refused === undefined) logger.info(`the database takes writes again${andMore(more)}`)
      })
    },
    problem: () => (refused && clock.now() - refused.at < COUNTS_FOR_MS ? refused.problem : undefined),
  }
}
