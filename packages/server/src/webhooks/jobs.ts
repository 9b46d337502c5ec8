import { type FieldError, limits, Refusal } from '@pixgate/spec'
import type { Dispatcher } from 'undici'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../platform/heartbeat.ts'
import { type AddressGate, NoAnswerOfDns } from '../platform/http-client/address-gate.ts'
import { NotConnected } from '../platform/http-client/not-connected.ts'
import { type Answer, type PostRequest, post } from '../platform/http-client/post.ts'
import type { Ids } from '../platform/ids.ts'
import { type Batcher, createBatcher } from '../platform/jobs/batcher.ts'
import type { Logger } from '../platform/log.ts'
import type { Keyring, Signer } from '../signing-keys/index.ts'
import { urlNotAllowed } from './receiver-url.ts'
import { type DeliveryObserver, reportAttempt } from './reporting.ts'
import { nextAttempt } from './rules.ts'
import {
  type Claim,
  claimDeliveries,
  claimNotifications,
  type EndedAttempt,
  type FreshNotification,
  type NewDelivery,
  recordAttempts,
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

/** What delivery works with. */
export interface DeliveryDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly logger: Logger
  readonly keyring: Keyring
  readonly dispatcher: Dispatcher
  /** Called when another attempt may start. */
  readonly onAttemptEnded: () => void
  readonly observer?: DeliveryObserver
  readonly heartbeat?: Heartbeat
}

/** The job that sends. */
export interface Delivery extends Job {
  /** Starts what is due and may start now; does not wait for it to end. */
  processNext(): Promise<boolean>
  /** Resolves when no attempt is under way and all are recorded. */
  settled(): Promise<void>
}

/** A receiver that hangs holds this many attempts at most, and the others the rest. */
const IN_FLIGHT_PER_SUBSCRIPTION = 32
const IN_FLIGHT_MAX = 256

/** Claimed and not recorded: an attempt waits for its record without holding up the next one, within this bound. */
const UNRECORDED_MAX = 512

/** Longer than any attempt: what a process that died had claimed is taken up by another after this. */
const LEASE_MS = 30_000

/** How long the rest of an answer is read after its headers. */
const RESPONSE_TIMEOUT_MS = 1_000

const RECORD_BATCH_MAX = 256

/**
 * Sends deliveries: claimed in one short statement, attempted with no transaction open, recorded in another statement
 * that changes only what is still claimed. The bytes are those of the notification on every attempt; each attempt is
 * signed anew, with the key that was current when it was claimed.
 * @source rules#webhooks.5, rules#webhooks.8, rules#webhooks.10, rules#signing-keys.5, rules#events.4, failure-modes#NO-1, failure-modes#NO-2, failure-modes#NO-7
 */
export function createDelivery(dependencies: DeliveryDependencies): Delivery {
  return new SendingDelivery(dependencies)
}

class SendingDelivery implements Delivery {
  readonly #dependencies: DeliveryDependencies
  readonly #records: Batcher<EndedAttempt, void>
  readonly #heartbeat: Heartbeat
  /** The attempts under way, each with its subscription. */
  readonly #underWay = new Map<Promise<EndedAttempt>, string>()
  /** What is claimed and not recorded: those under way, and those that wait for their record. */
  readonly #unrecorded = new Set<Promise<void>>()

  constructor(dependencies: DeliveryDependencies) {
    this.#dependencies = dependencies
    this.#heartbeat = dependencies.heartbeat ?? createHeartbeat()
    this.#records = createBatcher<EndedAttempt, void>(
      async (ended) => {
        await recordAttempts(dependencies.database, ended)
        return ended.map(() => ({ result: undefined }))
      },
      { batchMax: RECORD_BATCH_MAX, queueMax: UNRECORDED_MAX },
    )
  }

  async processNext(): Promise<boolean> {
    const { database, clock, ids, keyring } = this.#dependencies
    const free = Math.min(IN_FLIGHT_MAX - this.#underWay.size, UNRECORDED_MAX - this.#unrecorded.size)
    if (free === 0) return false
    const now = clock.now()
    const signer = keyring.signer()
    const { claims, signingKeyId } = await claimDeliveries(database, {
      claimId: ids.uuid(),
      signingKeyId: signer.keyId,
      now,
      leaseEndsAt: now + LEASE_MS,
      inFlight: countEach(this.#underWay.values()),
      maxPerSubscription: IN_FLIGHT_PER_SUBSCRIPTION,
      max: free,
    })
    if (signingKeyId !== signer.keyId) {
      await keyring.refresh()
      return true
    }
    const signatures = new Map<string, Promise<Signature>>()
    for (const claim of claims) {
      const signature = signatures.get(claim.notificationId) ?? signatureOf(claim.body, signer)
      signatures.set(claim.notificationId, signature)
      this.#start(claim, signature)
    }
    return false
  }

  #start(claim: Claim, signature: Promise<Signature>): void {
    const { onAttemptEnded } = this.#dependencies
    const attempt = this.#send(claim, signature).finally(() => {
      this.#underWay.delete(attempt)
      onAttemptEnded()
    })
    this.#underWay.set(attempt, claim.subscriptionId)
    const recorded = attempt
      .then(async (ended) => {
        await this.#records.submit(ended)
        reportAttempt(this.#dependencies, claim, ended)
      })
      .catch((error) => this.#reportUnrecorded(claim, String(error)))
      .then(() => {
        const wasFull = this.#unrecorded.size === UNRECORDED_MAX
        this.#unrecorded.delete(recorded)
        if (wasFull) onAttemptEnded()
      })
    this.#unrecorded.add(recorded)
  }

  #reportUnrecorded({ id }: Claim, reason: string): void {
    this.#heartbeat.report(reason, (more) =>
      this.#dependencies.logger.warn(
        { delivery: id, reason },
        `an attempt was not recorded; it is made again when its lease ends${andMore(more)}`,
      ),
    )
  }

  async #send(claim: Claim, signature: Promise<Signature>): Promise<EndedAttempt> {
    const { clock, random, dispatcher } = this.#dependencies
    const startedAt = clock.now()
    const answer = await post(dispatcher, requestOf(claim, await signature, startedAt))
    return endedAttempt(claim, answer, startedAt, clock.now(), random())
  }

  async settled(): Promise<void> {
    await Promise.all(this.#unrecorded)
  }
}

function countEach(values: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

/** A signature in Base64, and the key it was made with. */
interface Signature {
  readonly text: string
  readonly keyId: string
}

async function signatureOf(bytes: Uint8Array, { keyId, sign }: Signer): Promise<Signature> {
  return { text: await sign(bytes), keyId }
}

function requestOf(claim: Claim, signature: Signature, nowMs: number): PostRequest {
  return {
    url: claim.url,
    headers: {
      'content-type': 'application/json',
      'digital-signature': signature.text,
      'digital-signature-key-id': signature.keyId,
      'webhook-id': claim.notificationId,
      'webhook-timestamp': String(Math.floor(nowMs / 1_000)),
      'user-agent': 'Pixgate',
    },
    body: claim.body,
    timeoutMs: limits.webhookTimeoutMs,
    responseMaxBytes: limits.webhookResponseMaxBytes,
    responseTimeoutMs: RESPONSE_TIMEOUT_MS,
  }
}

function endedAttempt(claim: Claim, answer: Answer, startedAt: number, endedAt: number, random: number): EndedAttempt {
  const next = nextAttempt(answer, claim.attempt, endedAt, random)
  return {
    deliveryId: claim.id,
    claimId: claim.claimId,
    attempt: claim.attempt,
    outcome: outcomeOf(answer, next.state),
    code: 'failure' in answer ? answer.code : undefined,
    statusCode: 'statusCode' in answer ? answer.statusCode : null,
    startedAt,
    endedAt,
    state: next.state,
    nextAttemptAt: next.state === 'PENDING' ? next.nextAttemptAt : null,
  }
}

/** `delivered`, `refused` by the receiver's status, or why there was no answer. */
function outcomeOf(answer: Answer, state: EndedAttempt['state']): string {
  if ('failure' in answer) return answer.failure
  return state === 'DELIVERED' ? 'delivered' : 'refused'
}

/**
 * Resolves a receiver's name once, for early feedback; every connection looks again.
 * @throws Refusal webhook_url_not_allowed (422) where it has no address or one that is not public · overloaded (503) where
 *   no name server tells
 * @source rules#webhooks.1, rules#webhooks.11
 */
export async function assertResolves(gate: AddressGate, url: URL): Promise<void> {
  try {
    await gate.addressesOf(url.hostname)
  } catch (error) {
    if (!(error instanceof NotConnected)) throw error
    if (error.cause instanceof NoAnswerOfDns) throw new Refusal('overloaded', { fields: [NOT_RESOLVED_NOW] })
    throw urlNotAllowed(error.reason === 'address_not_allowed' ? 'private_address' : 'not_resolvable')
  }
}

const NOT_RESOLVED_NOW: FieldError = {
  field: 'url',
  code: 'not_resolved_now',
  message: 'the name in url cannot be looked up now: no name server answers',
}
