import { andMore, createHeartbeat, type Heartbeat } from '../../platform/heartbeat.ts'
import { type Batcher, createBatcher } from '../../platform/jobs/batcher.ts'
import type { Logger } from '../../platform/log.ts'
import type { Keyring, SealedSecret, Signer } from '../../signing-keys/index.ts'
import type { Job } from '../fan-out.ts'
import { type Signature, signatureOf } from '../signed-headers.ts'

/** What every claim has, of whatever kind. */
export interface SentClaim {
  /** Of the delivery. */
  readonly id: string
  readonly notificationId: string
  readonly body: Buffer
  /** What it is signed with beside the signing key, the newest first. */
  readonly secrets: readonly SealedSecret[]
}

/** How attempts of one kind are claimed, made and recorded. */
export interface SendingOptions<Claim, Ended> {
  readonly keyring: Keyring
  readonly logger: Logger
  readonly heartbeat?: Heartbeat
  /** Claimed and not recorded: an attempt waits for its record without holding up the next one, within this bound. */
  readonly unrecordedMax: number
  /**
   * Claims what may start now, so many at most, and says which signing key is current; undefined where nothing may. Where that is not
   * the signer's, nothing was claimed.
   */
  readonly claim: (
    signer: Signer,
    max: number,
  ) => Promise<{ readonly claims: readonly Claim[]; readonly signingKeyId: string }> | undefined
  /** Makes an attempt. It has its place until this resolves; from then on another may start. */
  readonly attempt: (claim: Claim, signature: Promise<Signature>) => Promise<Ended>
  readonly record: (ended: readonly Ended[]) => Promise<void>
  /** Of an attempt that was recorded. */
  readonly report: (claim: Claim, ended: Ended) => void
  /** Called when another attempt may start. */
  readonly onAttemptEnded: () => void
}

/** A job that sends. */
export interface Sending extends Job {
  /** Starts what is due and may start now; does not wait for it to end. */
  processNext(): Promise<boolean>
  /** Resolves when no attempt is under way and all are recorded. */
  settled(): Promise<void>
}

/** Longer than any attempt: what a process that died had claimed is claimed by another after this. */
export const LEASE_MS = 30_000

const RECORD_BATCH_MAX = 256

/**
 * Makes a job that claims attempts in one short statement, makes them with no transaction open, and records them in batches in
 * another one. Each is signed anew with the key that was current when it was claimed: a process that signs with another one opens that
 * first.
 * @source rules#signing-keys.5, failure-modes#NO-1, failure-modes#NO-7
 */
export function createSending<Claim extends SentClaim, Ended>(options: SendingOptions<Claim, Ended>): Sending {
  return new ClaimedAttempts(options)
}

class ClaimedAttempts<Claim extends SentClaim, Ended> implements Sending {
  readonly #options: SendingOptions<Claim, Ended>
  readonly #records: Batcher<Ended, void>
  readonly #heartbeat: Heartbeat
  /** What is claimed and not recorded: those under way, and those that wait for their record. */
  readonly #unrecorded = new Set<Promise<void>>()

  constructor(options: SendingOptions<Claim, Ended>) {
    this.#options = options
    this.#heartbeat = options.heartbeat ?? createHeartbeat()
    this.#records = createBatcher<Ended, void>(
      async (ended) => {
        await options.record(ended)
        return ended.map(() => ({ result: undefined }))
      },
      { batchMax: RECORD_BATCH_MAX, queueMax: options.unrecordedMax },
    )
  }

  async processNext(): Promise<boolean> {
    const { keyring, claim, unrecordedMax } = this.#options
    const signer = keyring.signer()
    const claimed = await claim(signer, unrecordedMax - this.#unrecorded.size)
    if (claimed === undefined) return false
    if (claimed.signingKeyId !== signer.keyId) {
      await keyring.refresh()
      return true
    }
    const signatures = new Map<string, Promise<Signature>>()
    for (const one of claimed.claims) {
      const signature = signatures.get(one.notificationId) ?? signatureOf(one.body, signer)
      signatures.set(one.notificationId, signature)
      this.#start(one, signature)
    }
    return false
  }

  #start(claim: Claim, signature: Promise<Signature>): void {
    const { attempt, report, onAttemptEnded, unrecordedMax } = this.#options
    const recorded = attempt(claim, signature)
      .finally(onAttemptEnded)
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
