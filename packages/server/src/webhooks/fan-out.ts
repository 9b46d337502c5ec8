import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import {
  claimNotifications,
  type FreshNotification,
  type NewDelivery,
  recordFanOut,
  type Subscription,
  shareSubscriptions,
} from './store.ts'

/** A job that a worker, or a test, steps. */
export interface Job {
  /** @returns whether more may be due right away */
  processNext(): Promise<boolean>
}

/** What fan-out works with. */
export interface FanOutDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  /** Called after deliveries were added. */
  readonly onDeliveries: () => void
}

const FAN_OUT_MAX = 500

/**
 * Makes a delivery of every notification for every receiver that was there before it. Running it twice, or in several
 * processes at once, changes nothing.
 * @source rules#webhooks.9, failure-modes#NO-9, failure-modes#NO-11
 */
export function createFanOut({ database, clock, ids, onDeliveries }: FanOutDependencies): Job {
  return {
    processNext: async () => {
      const taken = await database.transaction(async (queries) => {
        const notifications = await claimNotifications(queries, FAN_OUT_MAX)
        if (notifications.length === 0) return 0
        const subscriptions = await shareSubscriptions(queries)
        const now = clock.now()
        const deliveries = notifications.flatMap((notification) => deliveriesOf(notification, subscriptions, now, ids))
        await recordFanOut(
          queries,
          notifications.map(({ id }) => id),
          deliveries,
          now,
        )
        return notifications.length
      })
      if (taken > 0) onDeliveries()
      return taken === FAN_OUT_MAX
    },
  }
}

/** Due since the notification was made, so that the older one is sent first. */
function deliveriesOf(
  { id, eventType, createdAt }: FreshNotification,
  subscriptions: readonly Subscription[],
  now: number,
  ids: Ids,
): NewDelivery[] {
  return subscriptions
    .filter((subscription) => subscription.createdAt <= createdAt && subscription.events.includes(eventType))
    .map((subscription) => ({
      id: ids.uuid(),
      notificationId: id,
      subscriptionId: subscription.id,
      dueAt: Math.min(createdAt, now),
    }))
}
