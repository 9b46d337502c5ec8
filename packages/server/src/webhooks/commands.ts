import { type EventType, eventTypes, limits, Refusal } from '@pixgate/spec'
import type { Operator } from '../audit/operator.ts'
import { insertAudit } from '../audit/store.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, refusableTransaction } from '../platform/db/database.ts'
import { type Ids, isUuid } from '../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import type { ReceiverSecrets } from '../signing-keys/index.ts'
import { pauseLane, resumeLane, type SubscriptionWithLane, selectLane } from './lanes/store.ts'
import {
  cancelDeliveries,
  deleteSubscription,
  insertSubscription,
  listSubscriptions,
  lockRegistrations,
  lockSubscription,
  type Subscription,
} from './store.ts'

/** What the commands work with. */
export interface SubscriptionDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly secrets: ReceiverSecrets
}

/** A receiver that was registered just now, with its secret, which nobody reads a second time. */
export interface Registered extends Subscription {
  readonly secret: string
}

/**
 * Registers a receiver, and tells the audit trail of it: its host, as the path may be a secret. Registrations run one after the other, so that their bound holds.
 * @param url as `receiverUrl` reads it
 * @throws Refusal duplicate_webhook (409) · too_many_webhooks (422) · overloaded (503) the request has lapsed
 * @source rules#webhooks.1, rules#webhook-secrets.1, rules#audit.6, failure-modes#NO-12
 */
export function subscribe(
  { database, clock, ids, secrets }: SubscriptionDependencies,
  url: URL,
  events: readonly EventType[],
  operator: Operator,
  live: LiveRequest,
): Promise<Registered> {
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
    const { id: subject, createdAt: at } = subscription
    const { text: secret } = await secrets.make(queries, subject, at, 0)
    const facts = { host: url.host, events: subscription.events }
    await insertAudit(queries, { ...operator, id: ids.uuid(), at, action: 'webhook.created', subject, facts })
    return { ...subscription, secret }
  })
}

function isSame(one: Subscription, other: Subscription): boolean {
  return one.url === other.url && one.events.join() === other.events.join()
}

/**
 * Removes a receiver and cancels what it has not received; an attempt under way may still arrive.
 * @throws Refusal not_found (404) where it is unknown or already removed · overloaded (503) the request has lapsed
 * @source rules#webhooks.3, rules#webhook-secrets.3, failure-modes#NO-8
 */
export async function unsubscribe(
  { database, clock, ids, secrets }: SubscriptionDependencies,
  id: string,
  operator: Operator,
  live: LiveRequest,
): Promise<void> {
  if (!isUuid(id)) throw new Refusal('not_found')
  await refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    const now = clock.now()
    if (!(await deleteSubscription(queries, id, now))) throw new Refusal('not_found')
    const row = { ...operator, id: ids.uuid(), at: now }
    await insertAudit(queries, { ...row, action: 'webhook.deleted', subject: id, facts: {} })
    await secrets.end(queries, id, now)
    await cancelDeliveries(queries, id, now)
  })
}

/**
 * Pauses a receiver, or resumes one, and tells the audit trail of it where that changes something.
 * @throws Refusal not_found (404) where it is unknown or removed · overloaded (503) the request has lapsed
 * @source rules#webhooks.14, rules#webhooks.15
 */
export async function setPaused(
  { database, clock, ids }: SubscriptionDependencies,
  id: string,
  isPaused: boolean,
  operator: Operator,
  live: LiveRequest,
): Promise<SubscriptionWithLane> {
  if (!isUuid(id)) throw new Refusal('not_found')
  return refusableTransaction(database, async (queries) => {
    refuseLapsed(live)
    const now = clock.now()
    if ((await selectLane(queries, id, now)) === undefined) throw new Refusal('not_found')
    const isChanged = await (isPaused ? pauseLane : resumeLane)(queries, id, now)
    const action = isPaused ? 'webhook.paused' : 'webhook.resumed'
    if (isChanged) await insertAudit(queries, { ...operator, id: ids.uuid(), at: now, action, subject: id, facts: {} })
    const subscription = await selectLane(queries, id, now)
    if (subscription === undefined) throw new Refusal('not_found')
    return subscription
  })
}

/** A secret of a receiver that was made just now. Instants are epoch milliseconds. */
export interface RotatedSecret {
  /** `whsec_…`; nobody reads it a second time. */
  readonly secret: string
  readonly createdAt: number
  /** Until then those before it sign too; `null`: there was none. */
  readonly previousExpiresAt: number | null
}

/**
 * Makes another secret of a receiver, or the first, and tells the audit trail of it. Rotations of one receiver run one after the
 * other.
 * @param overlapSeconds for which those before it sign beside it
 * @throws Refusal not_found (404) where it is unknown or removed · too_many_webhook_secrets (409) · overloaded (503) the request
 *   has lapsed
 * @source rules#webhook-secrets.2, rules#webhook-secrets.3
 */
export async function rotateSecret(
  { database, clock, ids, secrets }: SubscriptionDependencies,
  id: string,
  overlapSeconds: number,
  operator: Operator,
  live: LiveRequest,
): Promise<RotatedSecret> {
  if (!isUuid(id)) throw new Refusal('not_found')
  return refusableTransaction(database, async (queries) => {
    if (!(await lockSubscription(queries, id))) throw new Refusal('not_found')
    refuseLapsed(live)
    const at = clock.now()
    const made = await secrets.make(queries, id, at, overlapSeconds)
    const [, ...before] = await secrets.list(queries, id, at)
    const facts = { secret: made.id, overlapSeconds }
    await insertAudit(queries, {
      ...operator,
      id: ids.uuid(),
      at,
      action: 'webhook.secret_rotated',
      subject: id,
      facts,
    })
    const ends = before.map(({ expiresAt }) => expiresAt ?? at)
    return { secret: made.text, createdAt: at, previousExpiresAt: ends.length === 0 ? null : Math.max(...ends) }
  })
}
