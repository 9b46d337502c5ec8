import { type EventType, type LaneReason, type LaneState, laneReasons } from '@pixgate/spec'
import type { SigningSecret } from '../signing-keys/index.ts'
import type { RotatedSecret } from './commands.ts'
import type { SubscriptionWithLane } from './lanes/store.ts'
import type { ListedSubscription } from './store.ts'

/** A registered receiver as the API shows it. */
export interface WebhookView {
  readonly webhook_id: string
  readonly url: string
  readonly events: EventType[]
  readonly active: boolean
  readonly createdAt: string
}

/** Writes a live subscription. */
export function webhookView({ id, url, events, createdAt, isPaused }: ListedSubscription): WebhookView {
  return { webhook_id: id, url, events: [...events], active: !isPaused, createdAt: new Date(createdAt).toISOString() }
}

/** The same with how it is, and what signs for it. @source rules#webhooks.15, rules#webhooks.19, rules#webhook-secrets.2 */
export interface WebhookDetailView extends WebhookView {
  readonly delivery: {
    readonly state: LaneState
    readonly reason: LaneReason | null
    readonly explanation: string | null
    readonly since: string
    readonly failures: number
    readonly failingSince: string | null
    readonly nextProbeAt: string | null
    readonly heldUntil: string | null
    readonly pending: number
    readonly oldestPendingAt: string | null
    readonly nextAttemptAt: string | null
    readonly replaying: number
    readonly recent: {
      readonly attempts: number
      readonly succeeded: number
      readonly successRate: number | null
      readonly p50Ms: number | null
      readonly p95Ms: number | null
    }
  }
  readonly secrets: { readonly createdAt: string; readonly expiresAt: string | null }[]
}

/** Writes a live subscription with its lane and when its secrets were made, but none of them. */
export function webhookDetailView(
  subscription: SubscriptionWithLane,
  secrets: readonly SigningSecret[],
): WebhookDetailView {
  const { state, reason, failures, pending, replaying } = subscription
  return {
    ...webhookView({ ...subscription, isPaused: state === 'paused' }),
    delivery: {
      state,
      reason,
      explanation: reason === null ? null : laneReasons[reason],
      since: new Date(subscription.since).toISOString(),
      failures,
      failingSince: instantOrNull(subscription.failingSince),
      nextProbeAt: instantOrNull(subscription.probeAt),
      heldUntil: instantOrNull(subscription.heldUntil),
      pending,
      oldestPendingAt: instantOrNull(subscription.oldestPendingAt),
      nextAttemptAt: instantOrNull(subscription.nextAttemptAt),
      replaying,
      recent: recentView(subscription),
    },
    secrets: secrets.map(({ createdAt, expiresAt }) => ({
      createdAt: new Date(createdAt).toISOString(),
      expiresAt: instantOrNull(expiresAt),
    })),
  }
}

/** Writes a secret, this once. @source rules#webhook-secrets.2 */
export function rotatedSecretView(webhookId: string, { secret, createdAt, previousExpiresAt }: RotatedSecret) {
  return {
    webhook_id: webhookId.toLowerCase(),
    secret,
    createdAt: new Date(createdAt).toISOString(),
    previousExpiresAt: instantOrNull(previousExpiresAt),
  }
}

/** @source rules#webhooks.19 */
function recentView({ recentAttempts: attempts, recentSuccesses: succeeded, p50Ms, p95Ms }: SubscriptionWithLane) {
  const successRate = attempts === 0 ? null : Math.round((succeeded / attempts) * 10_000) / 10_000
  return { attempts, succeeded, successRate, p50Ms, p95Ms }
}

function instantOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : new Date(epochMs).toISOString()
}
