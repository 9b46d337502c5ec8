import type { Clock } from '../../../platform/clock.ts'
import type { Database } from '../../../platform/db/database.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Job } from '../../../platform/jobs/job.ts'
import type { StartNew } from '../delivery.ts'
import { fanOut } from './store.ts'

/** What fan-out works with. */
export interface FanOutDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly startNew: StartNew
  /** Called after deliveries were added that wait to be claimed. */
  readonly onDeliveries: () => void
}

const FAN_OUT_MAX = 500

/**
 * Makes a delivery of every notification for every receiver that was there before it, and starts those that can start. Running it
 * twice, or in several processes at once, changes nothing.
 * @source rules#webhooks.9, failure-modes#NO-9, failure-modes#NO-11
 */
export function createFanOut({ database, clock, ids, startNew, onDeliveries }: FanOutDependencies): Job {
  return {
    processNext: async () => {
      const { notifications, waiting } = await startNew((bounds) =>
        fanOut(database, bounds, clock.now, FAN_OUT_MAX, ids.uuid()),
      )
      if (waiting > 0) onDeliveries()
      return notifications === FAN_OUT_MAX
    },
  }
}
