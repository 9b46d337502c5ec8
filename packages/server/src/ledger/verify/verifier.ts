import type { Clock } from '../../platform/clock.ts'
import { workAsApplication } from '../../platform/db/login.ts'
import { withSnapshot } from '../../platform/db/snapshot.ts'
import type { Pause } from '../../platform/jobs/pause.ts'
import type { Logger } from '../../platform/log.ts'
import { type Verification, verify } from './store.ts'

/** Verifies the books while the service runs. */
export interface LedgerVerifier {
  /**
   * Verifies once and logs every fault as an error.
   * @throws Error where the database does not answer
   */
  verifyOnce(): Promise<Verification>
  /** What was found last; `undefined` before the first time. */
  lastVerification(): Verification | undefined
  /** How far the books are known to be right; `undefined` where nobody has started it. */
  standing(): LedgerStanding | undefined
  /** Verifies now and then. */
  start(): void
  /** Gives up a verification under way: it reads only. */
  stop(): Promise<void>
}

/** What a process knows of the books. */
export interface LedgerStanding {
  /** When they were verified last; before the first time, since when this process tries to. Epoch milliseconds. */
  readonly at: number
  /** `undefined` before the first time. */
  readonly faults: number | undefined
}

/** What a verifier needs. */
export interface VerifierOptions {
  readonly databaseUrl: string
  readonly logger: Logger
  readonly pause: Pause
  readonly clock: Clock
  /** Told of each verification, before the next one. */
  readonly onVerified?: (verification: Verification) => Promise<void>
}

/** Not while a process starts; its first verification does not wait for an hour either. */
const FIRST_AFTER_MS = 60_000

/** @source rules#ledger.verify.4 */
const EVERY_MS = 60 * 60 * 1_000

/** Where the database did not answer. @source rules#ledger.verify.4 */
const AGAIN_AFTER_MS = 60_000

/**
 * Makes a verifier. It holds no connection between verifications and one, which is never the server's own, during one.
 * @source rules#ledger.verify.4
 */
export function createLedgerVerifier({
  databaseUrl,
  logger,
  pause,
  clock,
  onVerified,
}: VerifierOptions): LedgerVerifier {
  const stopping = new AbortController()
  const { signal } = stopping
  let last: Verification | undefined
  let startedAt: number | undefined
  let finished = Promise.resolve()

  async function verifyOnce(): Promise<Verification> {
    last = await withSnapshot({ url: databaseUrl, name: 'pixgate verify', signal }, async (queries) => {
      await workAsApplication(queries)
      return verify(queries)
    })
    for (const { name, meaning, count, examples } of last.drifts) {
      for (const what of examples) logger.error({ check: name, what }, `the ledger has drifted: ${meaning}`)
      if (count > examples.length) logger.error({ check: name, count }, 'there are more faults of this kind')
    }
    await onVerified?.(last)
    return last
  }

  async function run(): Promise<void> {
    await pause.for(FIRST_AFTER_MS, signal)
    for (;;) {
      const isVerified = await verifyOnce().then(
        () => true,
        (error) => {
          if (!signal.aborted) {
            logger.error({ reason: String(error) }, 'the ledger could not be verified; it is tried again in a minute')
          }
          return false
        },
      )
      await pause.for(isVerified ? EVERY_MS : AGAIN_AFTER_MS, signal)
    }
  }

  return {
    verifyOnce,
    lastVerification: () => last,
    standing: () => last ?? (startedAt === undefined ? undefined : { at: startedAt, faults: undefined }),
    start: () => {
      startedAt = clock.now()
      // What ends the loop is the wait that `stop` cuts short.
      finished = run().catch(() => undefined)
    },
    stop: () => {
      stopping.abort()
      return finished
    },
  }
}
