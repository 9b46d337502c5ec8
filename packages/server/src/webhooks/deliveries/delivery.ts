import type { KeyObject } from 'node:crypto'
import { limits } from '@pixgate/spec'
import type { Dispatcher } from 'undici'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/db/database.ts'
import type { Heartbeat } from '../../platform/heartbeat.ts'
import { type Answer, type Exchange, type PostRequest, post } from '../../platform/http-client/post.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Logger } from '../../platform/log.ts'
import type { Keyring, ReceiverSecrets, Signer } from '../../signing-keys/index.ts'
import { type Lanes, ROOM_OF_NEW, type Room } from '../lanes/lanes.ts'
import type { LaneAttempt } from '../lanes/state.ts'
import { type Signature, signedHeaders } from '../signed-headers.ts'
import { type Claim, type ClaimBounds, type Claimed, claimDeliveries } from './claims/store.ts'
import { excerptOf } from './excerpt.ts'
import { type OpenSecrets, openingSecrets } from './opened-secrets.ts'
import { type EndedAttempt, recordAttempts } from './records/store.ts'
import { type DeliveryObserver, reportAttempt, reportLane } from './reporting.ts'
import { GONE, heldUntil, isSuccess, isTimeout, nextAttempt, outcomeOf } from './rules.ts'
import { createSending, LEASE_MS, type Receivers, type Sending } from './sending.ts'

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

/** Claimed and not recorded, at most. */
const UNRECORDED_MAX = 1_024

/** How long the rest of an answer is read after its headers. */
const RESPONSE_TIMEOUT_MS = 1_000

/**
 * Makes the job that sends deliveries. The bytes are those of the notification on every attempt; what is recorded changes only what
 * is still claimed.
 * @source rules#webhooks.5, rules#webhooks.8, rules#webhooks.10, rules#webhook-secrets.1, rules#webhook-secrets.4, rules#events.4, failure-modes#NO-2
 */
export function createDelivery(dependencies: DeliveryDependencies): Sending<Claim> {
  const { database, clock, secrets, lanes, logger } = dependencies
  const openSecrets = openingSecrets(secrets, logger)
  return createSending<Claim, EndedAttempt>({
    ...dependencies,
    unrecordedMax: UNRECORDED_MAX,
    claim: async (signer, max) => {
      const bounds = boundsOf(dependencies, signer, max)
      if (bounds.maxFirsts + bounds.maxRetries === 0) return undefined
      const claimed = await claimDeliveries(database, bounds)
      return { ...claimed, behind: behindIn(bounds, claimed.claims) }
    },
    attempt: (claim, signature) => {
      lanes.started(claim, clock.now())
      return attempt(dependencies, claim, signature, openSecrets).finally(() => lanes.freed(claim))
    },
    record: async (ended) => {
      for (const lane of await recordAttempts(database, ended)) reportLane(logger, lane)
    },
    report: (claim, ended) => reportAttempt(dependencies, claim, ended),
  })
}

/** Starts deliveries as they are made, where their lanes have room. */
export type StartNew = <Made extends Claimed>(make: (bounds: ClaimBounds) => Promise<Made>) => Promise<Made>

/** @returns lets deliveries be made that are claimed in the same statement, and starts these */
export function startingNew(dependencies: DeliveryDependencies, delivery: Sending<Claim>): StartNew {
  return (make) => delivery.starting((signer, max) => make(boundsOf(dependencies, signer, max)))
}

/** What may be claimed now. @param unrecordedMax how many more may be claimed before others are recorded */
function boundsOf(
  { clock, ids, secrets, lanes }: DeliveryDependencies,
  signer: Signer,
  unrecordedMax: number,
): ClaimBounds {
  // Half for each kind, as both may be claimed at once.
  const unrecorded = Math.max(0, Math.floor(unrecordedMax / 2))
  const { firsts, retries } = lanes.free()
  const now = clock.now()
  return {
    claimId: ids.uuid(),
    signingKeyId: signer.keyId,
    openedHeaders: secrets.openedHeaders,
    now,
    leaseEndsAt: now + LEASE_MS,
    room: lanes.room(),
    maxFirsts: Math.min(firsts, unrecorded),
    maxRetries: Math.min(retries, unrecorded),
  }
}

async function attempt(
  { clock, random, dispatcher, lanes }: DeliveryDependencies,
  claim: Claim,
  signature: Signature,
  openSecrets: OpenSecrets,
): Promise<EndedAttempt> {
  const startedAt = clock.now()
  const exchange = await post(dispatcher, requestOf(claim, signature, openSecrets(claim.secrets), startedAt))
  const { answer } = exchange
  const ended = endedAttempt(claim, exchange, startedAt, clock.now(), random())
  const move = lanes.ended(claim, laneAttempt(claim, answer, ended.endedAt), isTimeout(answer))
  return move === undefined ? ended : { ...ended, move: { ...move, version: claim.lane.version } }
}

/**
 * Where more may be due than could be started: in lanes that were full before, or are since. A look for each attempt that ends
 * would be most of what the claims of a busy process cost, and what is sent to those that are well would wait for looks that are for
 * those that hang.
 */
function behindIn({ room, maxFirsts, maxRetries }: ClaimBounds, claims: readonly Claim[]): Receivers {
  if (claims.length >= Math.min(maxFirsts, maxRetries)) return 'all'
  const fullBefore = room.filter(({ free, freeForRetries }) => Math.min(free, freeForRetries) === 0)
  const rooms = new Map(room.map((one) => [one.subscriptionId, one]))
  const started = Map.groupBy(claims, ({ subscriptionId }) => subscriptionId)
  const fullSince = [...started].filter(([id, ofLane]) =>
    isFull(rooms.get(id) ?? { ...ROOM_OF_NEW, version: 0 }, ofLane),
  )
  return new Set([...fullBefore.map(({ subscriptionId }) => subscriptionId), ...fullSince.map(([id]) => id)])
}

function isFull({ free, freeForRetries, version }: Omit<Room, 'subscriptionId'>, started: readonly Claim[]): boolean {
  const retries = started.filter(({ attempt }) => attempt > 1).length
  if (started.length >= free || (retries > 0 && retries >= freeForRetries)) return true
  // One alone was started.
  return started.some(({ isProbe, lane }) => isProbe || lane.version > version)
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
