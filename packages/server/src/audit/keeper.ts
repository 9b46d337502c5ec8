import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import { workAsApplication } from '../platform/db/login.ts'
import { withSnapshot } from '../platform/db/snapshot.ts'
import type { Logger } from '../platform/log.ts'
import type { EncryptionKeys } from '../platform/sealing.ts'
import { anchorKeys } from './anchor.ts'
import { type Position, positionText } from './chain.ts'
import { insertAnchor } from './store.ts'
import { type AuditVerification, verifyAudit, verifyFrom } from './verify.ts'

/** Verifies the audit trail while the service runs, and signs its head. */
export interface AuditKeeper {
  /**
   * Verifies what was added since the last time, each hour all of it, and signs the head where it is another one and
   * everything is as it was written.
   * @returns false: there is nothing more to do for now
   * @throws Error where the database does not answer
   */
  processNext(): Promise<boolean>
  /** How far the trail is known to be right; `undefined` where nobody has started it. */
  standing(): AuditStanding | undefined
  /** Says that it is to be kept from now on. */
  begin(): void
  /** Gives up a verification under way: it reads only. */
  stop(): void
}

/** What a process knows of the trail. */
export interface AuditStanding {
  /** When it was verified last; before the first time, since when this process tries to. Epoch milliseconds. */
  readonly at: number
  /** `undefined` before the first time. */
  readonly faults: number | undefined
}

/** What a keeper needs. */
export interface AuditKeeperOptions {
  readonly databaseUrl: string
  readonly database: Database
  readonly logger: Logger
  readonly clock: Clock
  /** The current one signs; what the previous one signed counts too. */
  readonly encryptionKeys: EncryptionKeys
}

/** How often a head that has changed is signed. @source rules#audit.3 */
export const KEPT_EVERY_MS = 60_000

/** @source rules#audit.5 */
const ALL_EVERY_MS = 60 * 60 * 1_000

/**
 * Makes a keeper. What it has verified it remembers: a trail that is rewritten while it runs is found also where every
 * anchor was rewritten with it, and is never signed.
 * @source rules#audit.3, rules#audit.5
 */
export function createAuditKeeper({
  databaseUrl,
  database,
  logger,
  clock,
  encryptionKeys,
}: AuditKeeperOptions): AuditKeeper {
  const stopping = new AbortController()
  const { signal } = stopping
  const [key, ...before] = anchorKeys(encryptionKeys)
  let standing: AuditStanding | undefined
  let last: Position | undefined
  let wholeAt = Number.NEGATIVE_INFINITY

  function verify(): Promise<Verified> {
    return withSnapshot({ url: databaseUrl, name: 'pixgate audit', signal }, async (queries) => {
      await workAsApplication(queries)
      if (last !== undefined && clock.now() - wholeAt < ALL_EVERY_MS) return verifyFrom(queries, last)
      wholeAt = clock.now()
      return verifyAudit(queries, { keys: [key, ...before], ...(last && { heads: [last] }) })
    })
  }

  async function sign(head: Position): Promise<void> {
    const anchored = { ...head, at: clock.now() }
    if (!(await insertAnchor(database, { ...anchored, keyId: key.id, mac: key.sign(anchored) }))) return
    logger.info({ head: positionText(head) }, SIGNED)
  }

  async function keep(): Promise<void> {
    const { verified, faults, contradicting = 0, forged = 0 } = await verify()
    if (contradicting + forged > 0) logger.error({ contradicting, forged }, STRANGE)
    standing = { at: clock.now(), faults: faults.length }
    if (faults.length > 0) {
      // All of it is looked at until it is right again.
      wholeAt = Number.NEGATIVE_INFINITY
      for (const { seq, what } of faults) logger.error({ row: seq === null ? null : String(seq), what }, WRONG)
      return
    }
    last = verified
    if (verified.seq > 0n) await sign(verified)
  }

  return {
    processNext: async () => {
      await keep().catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
      return false
    },
    standing: () => standing,
    begin: () => {
      standing = { at: clock.now(), faults: undefined }
    },
    stop: () => stopping.abort(),
  }
}

/** What was found: of the anchors where all of them were looked at. */
type Verified = Pick<AuditVerification, 'verified' | 'faults'> &
  Partial<Pick<AuditVerification, 'contradicting' | 'forged'>>

const STRANGE =
  'the audit trail has signed heads that none of our keys made and that are false, or none of its own: somebody who can write to the database may have added them'
const SIGNED = 'the audit trail was verified, and its head signed'
const WRONG = 'the audit trail is not as it was written; its head is not signed'
