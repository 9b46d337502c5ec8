import { andMore, createHeartbeat, type Heartbeat } from '../../platform/heartbeat.ts'
import { type Batcher, createBatcher } from '../../platform/jobs/batcher.ts'
import type { Job } from '../../platform/jobs/job.ts'
import type { Logger } from '../../platform/log.ts'
import type { Keyring, SealedSecret, Signer } from '../../signing-keys/index.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { type Signature, signatureOf } from '../signed-headers.ts'

/** Some receivers, or all of them. */
export type Receivers = ReadonlySet<string> | 'all'

/** What every claim has, of whatever kind. */
export interface SentClaim {
  readonly subscriptionId: string
  /** Of the delivery. */
  readonly id: string
  readonly notificationId: string
  readonly body: Buffer
  /** What it is signed with beside the signing key, the newest first. */
  readonly secrets: readonly SealedSecret[]
}

/** What was claimed. */
export interface Claimed<Claim> {
  readonly claims: readonly Claim[]
  /** Which signing key is current. Where that is not the signer's, nothing was claimed. */
  readonly signingKeyId: string
  /** At which receivers more may be due that can start when an attempt there ends; unless it is said, at all. */
  readonly behind?: Receivers
}

/** How attempts of one kind are claimed, made and recorded. */
export interface SendingOptions<Claim, Ended> {
  readonly keyring: Keyring
  readonly logger: Logger
  readonly heartbeat?: Heartbeat
  /** Claimed and not recorded: an attempt waits for its record without holding up the next one, within this bound. */
  readonly unrecordedMax: number
  readonly lanes: Pick<Lanes, 'exclusively'>
  /** Claims what may start now, so many at most; undefined where nothing may. */
  readonly claim: (signer: Signer, max: number) => Promise<Claimed<Claim> | undefined>
  /** Makes an attempt. It has its place until this resolves; from then on another may start. */
  readonly attempt: (claim: Claim, signature: Signature) => Promise<Ended>
  readonly record: (ended: readonly Ended[]) => Promise<void>
  /** Of an attempt that was recorded. */
  readonly report: (claim: Claim, ended: Ended) => void
  /** Called when another attempt may start. */
  readonly onAttemptEnded: () => void
}

/** A job that sends. */
export interface Sending<Claim> extends Job {
  /**
   * Starts what is due and may start now; does not wait for it to end.
   * @throws Error where something cannot be signed, once the others are started
   */
  processNext(): Promise<boolean>
  /**
   * Starts what is claimed in another way; does not wait for it to end.
   * @param claim as {@link SendingOptions.claim}
   * @throws Error as {@link Sending.processNext}
   */
  starting<Given extends Claimed<Claim> | undefined>(
    claim: (signer: Signer, max: number) => Promise<Given>,
  ): Promise<Given>
  /** Resolves when no attempt is under way and all are recorded. */
  settled(): Promise<void>
}

/** Longer than any attempt: what a process that died had claimed is claimed by another after this. */
export const LEASE_MS = 30_000

/** Nobody waits for a record, and each statement takes processor time from what somebody waits for. */
const RECORDS = { batchMax: 256, paceMs: 50 }

/**
 * Makes a job that claims attempts in one short statement, makes them with no transaction open, and records them in batches in
 * another one. Each is signed anew with the key that was current when it was claimed: a process that signs with another one opens that
 * first.
 * @source rules#signing-keys.5, failure-modes#NO-1, failure-modes#NO-7
 */
export function createSending<Claim extends SentClaim, Ended>(options: SendingOptions<Claim, Ended>): Sending<Claim> {
  return new ClaimedAttempts(options)
}

class ClaimedAttempts<Claim extends SentClaim, Ended> implements Sending<Claim> {
  readonly #options: SendingOptions<Claim, Ended>
  readonly #records: Batcher<Ended, void>
  readonly #heartbeat: Heartbeat
  /** What is claimed and not recorded: those under way, and those that wait for their record. */
  readonly #unrecorded = new Set<Promise<void>>()
  /** Where something that is due may wait for an attempt to end. */
  #behind: Receivers = 'all'
  /** Where one has ended since the last claim began. */
  #ended = new Set<string>()

  constructor(options: SendingOptions<Claim, Ended>) {
    this.#options = options
    this.#heartbeat = options.heartbeat ?? createHeartbeat()
    this.#records = createBatcher<Ended, void>(
      async (ended) => {
        await options.record(ended)
        return ended.map(() => ({ result: undefined }))
      },
      { ...RECORDS, queueMax: options.unrecordedMax },
    )
  }

  async processNext(): Promise<boolean> {
    const { keyId } = this.#options.keyring.signer()
    this.#ended = new Set()
    const claimed = await this.starting(this.#options.claim)
    this.#behind = claimed?.behind ?? 'all'
    if (claimed === undefined) return false
    // What ended meanwhile may have woken nobody.
    return claimed.signingKeyId !== keyId || [...this.#ended].some((receiver) => isAmong(receiver, this.#behind))
  }

  starting<Given extends Claimed<Claim> | undefined>(
    claim: (signer: Signer, max: number) => Promise<Given>,
  ): Promise<Given> {
    const { keyring, lanes, unrecordedMax } = this.#options
    return lanes.exclusively(async () => {
      const signer = keyring.signer()
      const claimed = await claim(signer, unrecordedMax - this.#unrecorded.size)
      if (claimed === undefined) return claimed
      if (claimed.signingKeyId !== signer.keyId) await keyring.refresh()
      const { signed, failure } = signAll(claimed.claims, signer)
      for (const [one, signature] of signed) this.#start(one, signature)
      if (failure !== undefined) throw failure
      return claimed
    })
  }

  #start(claim: Claim, signature: Signature): void {
    const { attempt, report, onAttemptEnded, unrecordedMax } = this.#options
    const recorded = attempt(claim, signature)
      .finally(() => {
        this.#ended.add(claim.subscriptionId)
        if (isAmong(claim.subscriptionId, this.#behind)) onAttemptEnded()
      })
      .then(async (ended) => {
        await this.#records.submit(ended)
        report(claim, ended)
      })
      .catch((error) => this.#reportUnrecorded(claim, String(error)))
      .then(() => {
        const wasFull = this.#unrecorded.size >= unrecordedMax - 1
        this.#unrecorded.delete(recorded)
        if (wasFull) onAttemptEnded()
      })
    this.#unrecorded.add(recorded)
  }

  #reportUnrecorded({ id }: Claim, reason: string): void {
    this.#heartbeat.report(reason, (more) =>
      this.#options.logger.warn(
        { delivery: id, reason },
        `an attempt was not recorded; it is made again when its lease ends${andMore(more)}`,
      ),
    )
  }

  async settled(): Promise<void> {
    await Promise.all(this.#unrecorded)
  }
}

/**
 * Signs all before the first of them is started, so that no attempt's time holds another's signature. What cannot be signed holds up
 * no other; it is claimed again when its lease ends.
 */
function signAll<Claim extends SentClaim>(claims: readonly Claim[], signer: Signer) {
  const signatures = new Map<string, Signature>()
  const signed: (readonly [Claim, Signature])[] = []
  let failure: Error | undefined
  for (const one of claims) {
    try {
      const signature = signatures.get(one.notificationId) ?? signatureOf(one.body, signer)
      signatures.set(one.notificationId, signature)
      signed.push([one, signature])
    } catch (cause) {
      failure ??= new Error(`the notification ${one.notificationId} cannot be signed: ${String(cause)}`, { cause })
    }
  }
  return { signed, failure }
}

function isAmong(receiver: string, receivers: Receivers): boolean {
  return receivers === 'all' || receivers.has(receiver)
}
