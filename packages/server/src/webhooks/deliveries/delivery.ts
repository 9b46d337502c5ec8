import type { KeyObject } from 'node:crypto'
import { limits } from '@pixgate/spec'
import type { Dispatcher } from 'undici'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/db/database.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../../platform/heartbeat.ts'
import { type Answer, type Exchange, type PostRequest, post } from '../../platform/http-client/post.ts'
import type { Ids } from '../../platform/ids.ts'
import { type Batcher, createBatcher } from '../../platform/jobs/batcher.ts'
import type { Logger } from '../../platform/log.ts'
import type { Keyring, ReceiverSecrets } from '../../signing-keys/index.ts'
import type { Job } from '../fan-out.ts'
import { type Lanes, ROOM_OF_NEW, type Room } from '../lanes/lanes.ts'
import type { LaneAttempt } from '../lanes/state.ts'
import { type Signature, signatureOf, signedHeaders } from '../signed-headers.ts'
import { type Claim, claimDeliveries } from './claims/store.ts'
import { excerptOf } from './excerpt.ts'
import { type OpenSecrets, openingSecrets } from './opened-secrets.ts'
import { type EndedAttempt, recordAttempts } from './records/store.ts'
import { type DeliveryObserver, reportAttempt, reportLane } from './reporting.ts'
import { GONE, heldUntil, isSuccess, nextAttempt, outcomeOf } from './rules.ts'

/** What delivery works with. */
export interface DeliveryDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly logger: Logger
  readonly keyring: Keyring
  readonly secrets: Pick<ReceiverSecrets, 'open' | 'openedHeaders'>
  readonly dispatcher: Dispatcher
  readonly lanes: Lanes
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

/** Claimed and not recorded: an attempt waits for its record without holding up the next one, within this bound. */
const UNRECORDED_MAX = 1_024

/** Longer than any attempt: what a process that died had claimed is taken up by another after this. */
export const LEASE_MS = 30_000

/** How long the rest of an answer is read after its headers. */
const RESPONSE_TIMEOUT_MS = 1_000

/** Nobody waits for a record. */
const RECORDS = { batchMax: 256, queueMax: UNRECORDED_MAX, paceMs: 10 }

/**
 * Sends deliveries: claimed in one short statement, attempted with no transaction open, recorded in another statement
 * that changes only what is still claimed. The bytes are those of the notification on every attempt; each attempt is
 * signed anew, with the key that was current when it was claimed.
 * @source rules#webhooks.5, rules#webhooks.8, rules#webhooks.10, rules#webhook-secrets.1, rules#webhook-secrets.4, rules#signing-keys.5, rules#events.4, failure-modes#NO-1, failure-modes#NO-2, failure-modes#NO-7
 */
export function createDelivery(dependencies: DeliveryDependencies): Delivery {
  return new SendingDelivery(dependencies)
}

class SendingDelivery implements Delivery {
  readonly #dependencies: DeliveryDependencies
  readonly #records: Batcher<EndedAttempt, void>
  readonly #heartbeat: Heartbeat
  readonly #openSecrets: OpenSecrets
  readonly #lanes: Lanes
  /** What is claimed and not recorded: those under way, and those that wait for their record. */
  readonly #unrecorded = new Set<Promise<void>>()
  /** Whether something that is due may wait for an attempt to end. */
  #isBehind = false
  #hasEnded = false

  constructor(dependencies: DeliveryDependencies) {
    this.#dependencies = dependencies
    this.#openSecrets = openingSecrets(dependencies.secrets, dependencies.logger)
    this.#lanes = dependencies.lanes
    this.#heartbeat = dependencies.heartbeat ?? createHeartbeat()
    this.#records = createBatcher<EndedAttempt, void>(async (ended) => {
      const moved = await recordAttempts(dependencies.database, ended)
      for (const lane of moved) reportLane(dependencies.logger, lane)
      return ended.map(() => ({ result: undefined }))
    }, RECORDS)
  }

  async processNext(): Promise<boolean> {
    const { database, clock, ids, keyring, secrets } = this.#dependencies
    // Half for each kind, as both may be claimed at once.
    const unrecorded = Math.floor((UNRECORDED_MAX - this.#unrecorded.size) / 2)
    const { firsts, retries } = this.#lanes.free()
    if (unrecorded <= 0 || firsts + retries === 0) return false
    const now = clock.now()
    const signer = keyring.signer()
    const room = this.#lanes.room()
    this.#hasEnded = false
    const { claims, signingKeyId } = await claimDeliveries(database, {
      claimId: ids.uuid(),
      signingKeyId: signer.keyId,
      openedHeaders: secrets.openedHeaders,
      now,
      leaseEndsAt: now + LEASE_MS,
      room,
      maxFirsts: Math.min(firsts, unrecorded),
      maxRetries: Math.min(retries, unrecorded),
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
    this.#isBehind = claims.length >= Math.min(firsts, retries, unrecorded) || mayHaveMore(room, claims)
    // What ended meanwhile woke nobody.
    return this.#isBehind && this.#hasEnded
  }

  #start(claim: Claim, signature: Promise<Signature>): void {
    this.#lanes.started(claim, this.#dependencies.clock.now())
    const attempt = this.#send(claim, signature).finally(() => {
      this.#lanes.freed(claim)
      this.#hasEnded = true
      if (this.#isBehind) this.#dependencies.onAttemptEnded()
    })
    const recorded = attempt
      .then(async (ended) => {
        await this.#records.submit(ended)
        reportAttempt(this.#dependencies, claim, ended)
      })
      .catch((error) => this.#reportUnrecorded(claim, String(error)))
      .then(() => {
        const wasFull = this.#unrecorded.size >= UNRECORDED_MAX - 1
        this.#unrecorded.delete(recorded)
        if (wasFull) this.#dependencies.onAttemptEnded()
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
    const exchange = await post(
      dispatcher,
      requestOf(claim, await signature, this.#openSecrets(claim.secrets), startedAt),
    )
    const { answer } = exchange
    const ended = endedAttempt(claim, exchange, startedAt, clock.now(), random())
    const move = this.#lanes.ended(claim, laneAttempt(claim, answer, ended.endedAt), isTimeout(answer))
    return move === undefined ? ended : { ...ended, move: { ...move, version: claim.lane.version } }
  }

  async settled(): Promise<void> {
    await Promise.all(this.#unrecorded)
  }
}

/**
 * Whether lanes may have more that is due than could be started: those that were full before, or are since. A look for each attempt
 * that ends would be most of what the claims of a busy process cost.
 */
function mayHaveMore(room: readonly Room[], claims: readonly Claim[]): boolean {
  if (room.some(({ free, freeForRetries }) => Math.min(free, freeForRetries) === 0)) return true
  const rooms = new Map(room.map((one) => [one.subscriptionId, one]))
  const taken = Map.groupBy(claims, ({ subscriptionId }) => subscriptionId)
  return [...taken].some(([subscriptionId, started]) => {
    const { free, freeForRetries, version } = rooms.get(subscriptionId) ?? { ...ROOM_OF_NEW, version: 0 }
    const retries = started.filter(({ attempt }) => attempt > 1).length
    const isFull = started.length >= free || (retries > 0 && retries >= freeForRetries)
    return isFull || started.some(({ isProbe, lane }) => isProbe || lane.version > version)
  })
}

function laneAttempt({ isProbe }: Claim, answer: Answer, endedAt: number): LaneAttempt {
  const isAnswered = 'statusCode' in answer
  return {
    outcome: isSuccess(answer) ? 'success' : isAnswered ? 'refused' : 'unanswered',
    isGone: isAnswered && answer.statusCode === GONE,
    isAddressNotAllowed: !isAnswered && answer.failure === 'address_not_allowed',
    isProbe,
    endedAt,
  }
}

function isTimeout(answer: Answer): boolean {
  return 'failure' in answer && answer.failure === 'timeout'
}

/** What is sent, and to whom. */
type Sent = Pick<Claim, 'url' | 'notificationId' | 'body'>

/**
 * The request that carries a notification to a receiver, signed.
 * @param secrets what the receiver shares, opened
 * @source rules#webhooks.5, rules#webhooks.8, rules#webhook-secrets.1
 */
export function requestOf(
  { url, notificationId: id, body }: Sent,
  signature: Signature,
  secrets: readonly KeyObject[],
  nowMs: number,
): PostRequest {
  return {
    url,
    headers: { ...signedHeaders({ id, body, signature, secrets }, nowMs), 'user-agent': 'Pixgate' },
    body,
    timeoutMs: limits.webhookTimeoutMs,
    responseMaxBytes: limits.webhookResponseMaxBytes,
    responseTimeoutMs: RESPONSE_TIMEOUT_MS,
  }
}

function endedAttempt(
  claim: Claim,
  { answer, times, beginning }: Exchange,
  startedAt: number,
  endedAt: number,
  random: number,
): EndedAttempt {
  const next = nextAttempt(answer, claim.attempt, endedAt, random)
  return {
    deliveryId: claim.id,
    claimId: claim.claimId,
    subscriptionId: claim.subscriptionId,
    attempt: claim.attempt,
    outcome: outcomeOf(answer),
    code: 'failure' in answer ? answer.code : undefined,
    statusCode: 'statusCode' in answer ? answer.statusCode : null,
    excerpt: excerptOf(beginning, claim.body),
    times,
    startedAt,
    endedAt,
    state: next.state,
    nextAttemptAt: next.state === 'PENDING' ? next.nextAttemptAt : null,
    heldUntil: heldUntil(answer, endedAt),
    move: null,
  }
}
