import { DatabaseUnavailable, databaseError } from '../platform/db/errors.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../platform/runtime.ts'
import type { Backlog, HealthStore } from './store.ts'

/** What of the backlog could be read: where one part cannot, the others can all the same. */
export type BacklogReading = Partial<Backlog>

/** What the backlog is read from, and what goes wrong is told to. */
export interface BacklogReaderOptions {
  readonly store: HealthStore
  readonly logger: Logger
  readonly heartbeat?: Heartbeat
}

/**
 * Makes the reading of what waits. It throws nothing: a part that the database refuses is left out, with a line that says
 * which and why. Of a database that is away its pool has said so, and nothing more is asked of it.
 * @source rules#logs.3, rules#metrics.7
 */
export function createBacklogReader(options: BacklogReaderOptions): () => Promise<BacklogReading> {
  const { store, logger, heartbeat = createHeartbeat() } = options

  function report(figure: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    heartbeat.report(`${figure} ${reason}`, (more) =>
      logger.error({ figure, reason }, `a figure of the metrics could not be read, and is left out${andMore(more)}`),
    )
  }
  return async () => {
    const reading: { -readonly [Part in keyof Backlog]?: Backlog[Part] } = {}
    for (const part of Object.keys(store) as (keyof Backlog)[]) {
      try {
        reading[part] = await store[part]()
      } catch (error) {
        if (isAway(error)) break
        report(part, error)
      }
    }
    return reading
  }
}

/** Whether there was no answer at all. A statement that took too long was answered. */
function isAway(error: unknown): boolean {
  return error instanceof DatabaseUnavailable && databaseError(error.cause) === undefined
}
