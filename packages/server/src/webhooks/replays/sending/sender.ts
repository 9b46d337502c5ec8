import type { Dispatcher } from 'undici'
import type { Clock } from '../../../platform/clock.ts'
import type { Database } from '../../../platform/db/database.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../../../platform/heartbeat.ts'
import { type Exchange, post } from '../../../platform/http-client/post.ts'
import type { Ids } from '../../../platform/ids.ts'
import { type Batcher, createBatcher } from '../../../platform/jobs/batcher.ts'
import type { Logger } from '../../../platform/log.ts'
import type { Keyring, ReceiverSecrets, SealedSecret } from '../../../signing-keys/index.ts'
import { LEASE_MS, requestOf } from '../../deliveries/delivery.ts'
import { excerptOf } from '../../deliveries/excerpt.ts'
import { type OpenSecrets, openingSecrets } from '../../deliveries/opened-secrets.ts'
import { heldUntil, outcomeOf } from '../../deliveries/rules.ts'
import type { Job } from '../../fan-out.ts'
import type { Lanes } from '../../lanes/lanes.ts'
import { type Signature, signatureOf } from '../../signed-headers.ts'
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

/** The job that sends replays. */
export interface ReplaySender extends Job {
  /** Resolves when no attempt is under way and all are recorded. */
  settled(): Promise<void>
}

/** Claimed and not recorded, at most. */
const UNRECORDED_MAX = 256

const RECORD_BATCH_MAX = 256

/**
 * Sends what was ordered to be sent again: in the later attempts' half of its lane, when nothing is due there by itself. What
 * comes of it is kept in the history, and has no part in what its lane becomes.
 * @source rules#webhooks.23, rules#signing-keys.5, rules#events.4
 */
export function createReplaySender(dependencies: ReplaySenderDependencies): ReplaySender {
  return new SendingReplays(dependencies)
}

class SendingReplays implements ReplaySender {
  readonly #dependencies: ReplaySenderDependencies
  readonly #records: Batcher<EndedReplay, void>
  readonly #heartbeat: Heartbeat
  readonly #openSecrets: OpenSecrets
  readonly #unrecorded = new Set<Promise<void>>()

  constructor(dependencies: ReplaySenderDependencies) {
    this.#dependencies = dependencies
    this.#openSecrets = openingSecrets(dependencies.secrets, dependencies.logger)
    this.#heartbeat = dependencies.heartbeat ?? createHeartbeat()
    this.#records = createBatcher<EndedReplay, void>(
      async (ended) => {
        await recordReplays(dependencies.database, ended)
        return ended.map(() => ({ result: undefined }))
      },
      { batchMax: RECORD_BATCH_MAX, queueMax: UNRECORDED_MAX },
    )
  }

  async processNext(): Promise<boolean> {
    const { database, clock, ids, keyring, secrets, lanes } = this.#dependencies
    const max = Math.min(lanes.free().retries, UNRECORDED_MAX - this.#unrecorded.size)
    if (max <= 0) return false
    const now = clock.now()
    const signer = keyring.signer()
    const { claims, signingKeyId } = await claimReplays(database, {
      ...{ claimId: ids.uuid(), signingKeyId: signer.keyId, now, leaseEndsAt: now + LEASE_MS },
      ...{ room: lanes.room(), max, openedHeaders: secrets.openedHeaders },
    })
    if (signingKeyId !== signer.keyId) {
      await keyring.refresh()
      return true
    }
    const receivers = [...new Set(claims.map(({ subscriptionId }) => subscriptionId))]
    // After the claim: what ended before it signs nothing.
    const sealed = receivers.length > 0 ? await secrets.sealedOf(database, receivers, now) : []
    for (const claim of claims) {
      const own = sealed.filter(({ subscriptionId }) => subscriptionId === claim.subscriptionId)
      this.#start(claim, signatureOf(claim.body, signer), own)
    }
    return false
  }

  #start(claim: ReplayClaim, signature: Promise<Signature>, secrets: readonly SealedSecret[]): void {
    const { lanes, clock, logger, onAttemptEnded } = this.#dependencies
    const slot = lanes.occupy(claim.subscriptionId, claim.laneVersion, clock.now())
    const recorded = this.#send(claim, signature, secrets)
      .finally(() => slot.free())
      .then(async (ended) => {
        await this.#records.submit(ended)
        if (ended.state === 'FAILED') reportGivenUp(logger, ended)
      })
      .catch((error) => {
        const reason = String(error)
        const line = 'a replay was not recorded; it is made again when its lease ends'
        this.#heartbeat.report(reason, (more) => logger.warn({ delivery: claim.id, reason }, `${line}${andMore(more)}`))
      })
      .then(() => {
        this.#unrecorded.delete(recorded)
        onAttemptEnded()
      })
    this.#unrecorded.add(recorded)
  }

  async #send(
    claim: ReplayClaim,
    signature: Promise<Signature>,
    secrets: readonly SealedSecret[],
  ): Promise<EndedReplay> {
    const { clock, random, dispatcher } = this.#dependencies
    const startedAt = clock.now()
    const request = requestOf(claim, await signature, this.#openSecrets(secrets), startedAt)
    const headers = { ...request.headers, 'webhook-replay': claim.replayId }
    const exchange = await post(dispatcher, { ...request, headers })
    return endedReplay(claim, exchange, startedAt, clock.now(), random())
  }

  async settled(): Promise<void> {
    await Promise.all(this.#unrecorded)
  }
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
