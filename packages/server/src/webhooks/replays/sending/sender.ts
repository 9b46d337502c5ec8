import type { Dispatcher } from 'undici'
import type { Clock } from '../../../platform/clock.ts'
import type { Database } from '../../../platform/db/database.ts'
import type { Heartbeat } from '../../../platform/heartbeat.ts'
import { type Exchange, post } from '../../../platform/http-client/post.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Logger } from '../../../platform/log.ts'
import type { Keyring, ReceiverSecrets } from '../../../signing-keys/index.ts'
import { requestOf } from '../../deliveries/delivery.ts'
import { excerptOf } from '../../deliveries/excerpt.ts'
import { type OpenSecrets, openingSecrets } from '../../deliveries/opened-secrets.ts'
import { heldUntil, isSuccess, isTimeout, outcomeOf } from '../../deliveries/rules.ts'
import { createSending, LEASE_MS, type Sending, type SentClaim } from '../../deliveries/sending.ts'
import type { Lanes, ReplayPlace } from '../../lanes/lanes.ts'
import type { Signature } from '../../signed-headers.ts'
import { nextReplay } from '../rules.ts'
import { claimReplays, type EndedReplay, type ReplayClaim, recordReplays } from './store.ts'

/** What the sender of replays works with. */
export interface ReplaySenderDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly logger: Logger
  readonly keyring: Keyring
  readonly secrets: Pick<ReceiverSecrets, 'open' | 'openedHeaders' | 'sealedOf'>
  readonly dispatcher: Dispatcher
  /** Those in which live deliveries are sent, too. */
  readonly lanes: Lanes
  /** Called when another attempt may start. */
  readonly onAttemptEnded: () => void
  readonly heartbeat?: Heartbeat
}

/** Claimed and not recorded, at most. */
const UNRECORDED_MAX = 256

/**
 * Makes the job that sends what was ordered to be sent again: in its share of the lane, when nothing is due there by itself. What
 * comes of it is kept in the history, and tells how much the receiver can bear, but not whether it is well.
 * @source rules#webhooks.23, rules#webhooks.25, rules#webhook-secrets.4, rules#events.4
 */
export function createReplaySender(dependencies: ReplaySenderDependencies): Sending<ReplayClaim & SentClaim> {
  const { database, clock, secrets, lanes, logger } = dependencies
  const openSecrets = openingSecrets(secrets, logger)
  return createSending<ReplayClaim & SentClaim, EndedReplay>({
    ...dependencies,
    unrecordedMax: UNRECORDED_MAX,
    claim: async (signer, unrecorded) => {
      const max = Math.min(lanes.free().replays, unrecorded)
      return max <= 0 ? undefined : claim(dependencies, signer.keyId, max)
    },
    attempt: (claimed, signature) => {
      const place = lanes.replayStarted(claimed.subscriptionId, claimed.laneVersion, clock.now())
      return attempt(dependencies, claimed, signature, openSecrets, place).finally(place.free)
    },
    record: (ended) => recordReplays(database, ended),
    report: (_, ended) => {
      if (ended.state === 'FAILED') reportGivenUp(logger, ended)
    },
  })
}

/** What a replay is signed with is read after it was claimed: what ended before that signs nothing. */
async function claim({ database, clock, ids, secrets, lanes }: ReplaySenderDependencies, keyId: string, max: number) {
  const now = clock.now()
  const { claims, signingKeyId } = await claimReplays(database, {
    ...{ claimId: ids.uuid(), signingKeyId: keyId, now, leaseEndsAt: now + LEASE_MS },
    ...{ room: lanes.room(), max, openedHeaders: secrets.openedHeaders },
  })
  const receivers = [...new Set(claims.map(({ subscriptionId }) => subscriptionId))]
  const sealed = receivers.length > 0 ? await secrets.sealedOf(database, receivers, now) : []
  const secretsOf = (of: string) => sealed.filter(({ subscriptionId }) => subscriptionId === of)
  return { claims: claims.map((one) => ({ ...one, secrets: secretsOf(one.subscriptionId) })), signingKeyId }
}

async function attempt(
  { clock, random, dispatcher }: ReplaySenderDependencies,
  claimed: ReplayClaim & SentClaim,
  signature: Signature,
  openSecrets: OpenSecrets,
  place: ReplayPlace,
): Promise<EndedReplay> {
  const startedAt = clock.now()
  const request = requestOf(claimed, signature, openSecrets(claimed.secrets), startedAt)
  const headers = { ...request.headers, 'webhook-replay': claimed.replayId }
  const exchange = await post(dispatcher, { ...request, headers })
  const { answer } = exchange
  place.answered(isSuccess(answer) ? 'success' : isTimeout(answer) ? 'timeout' : 'other')
  return endedReplay(claimed, exchange, startedAt, clock.now(), random())
}

/** Of the receiver's address only the host is named: its path may be a secret. @source rules#logs.1, rules#logs.3 */
function reportGivenUp(logger: Logger, { claim, outcome, statusCode }: EndedReplay): void {
  const { subscriptionId: webhookId, url, id: delivery, replayId: replay } = claim
  const reason = statusCode === null ? outcome : `HTTP ${statusCode}`
  const line = { webhookId, host: URL.parse(url)?.host, delivery, replay, reason }
  logger.warn(line, 'a delivery was sent again in vain: there will be no further attempt')
}

function endedReplay(
  claim: ReplayClaim,
  { answer, times, beginning }: Exchange,
  startedAt: number,
  endedAt: number,
  random: number,
): EndedReplay {
  const next = nextReplay(answer, claim.replayAttempt, endedAt, random)
  return {
    claim,
    outcome: outcomeOf(answer),
    code: 'failure' in answer ? (answer.code ?? null) : null,
    statusCode: 'statusCode' in answer ? answer.statusCode : null,
    excerpt: excerptOf(beginning, claim.body),
    ...{ times, startedAt, endedAt },
    state: next.state === 'PENDING' ? 'WAITING' : next.state,
    dueAt: next.state === 'PENDING' ? next.nextAttemptAt : null,
    heldUntil: heldUntil(answer, endedAt),
  }
}
