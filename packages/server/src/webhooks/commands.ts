import { type EventType, eventTypes, limits, Refusal } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import { type Database, refusableTransaction } from '../platform/db/database.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import {
  cancelDeliveries,
  deleteSubscription,
  insertSubscription,
  listSubscriptions,
  lockRegistrations,
  type Subscription,
} from './store.ts'

/** What the commands work with. */
export interface SubscriptionDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

/**
 * Registers a receiver. Registrations run one after the other, so that their bound holds.
 * @param url as `receiverUrl` reads it
 * @throws Refusal duplicate_webhook (409) · too_many_webhooks (422) · overloaded (503) the request has lapsed
 * @source rules#webhooks.1, failure-modes#NO-12
 */
export function subscribe(
  { database, clock, ids }: SubscriptionDependencies,
  url: URL,
  events: readonly EventType[],
  live: LiveRequest,
): Promise<Subscription> {
  return refusableTransaction(database, async (queries) => {
    await lockRegistrations(queries)
    refuseLapsed(live)
    const subscription: Subscription = {
      id: ids.uuid(),
      url: url.href,
      events: eventTypes.filter((type) => events.includes(type)),
      createdAt: clock.now(),
    }
    const existing = await listSubscriptions(queries)
    if (existing.some((other) => isSame(subscription, other))) throw new Refusal('duplicate_webhook')
    if (existing.length >= limits.webhookSubscriptionsMax) throw new Refusal('too_many_webhooks')
    await insertSubscription(queries, subscription)
    return subscription
  })
}

function isSame(one: Subscription, other: Subscription): boolean {
  return one.url === other.url && one.events.join() === other.events.join()
}

/**
 * Removes a receiver and cancels what it has not received; an attempt under way may still arrive.
 * @throws Refusal not_found (404) where it is unknown or already removed · overloaded (503) the request has lapsed
 * @source rules#webhooks.3, failure-modes#NO-8
 */
export async function unsubscribe(
  { database, clock }: Pick<SubscriptionDependencies, 'database' | 'clock'>,
  id: string,
  live: LiveRequest,
): Promise<void> {
  if (!isUuid(id)) throw new Refusal('not_found')
  await refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    const now = clock.now()
    if (!(await deleteSubscription(queries, id, now))) throw new Refusal('not_found')
    await cancelDeliveries(queries, id, now)
  })
}
