import { hostname } from 'node:os'
import { insertAudit } from '../audit/trail.ts'
import type { Queries } from '../platform/db/database.ts'
import {
  createSealer,
  type EncryptionKeys,
  NotOpened,
  type Opened,
  type Place,
  type Sealer,
} from '../platform/sealing.ts'
import { StartupError } from '../platform/startup-error.ts'
import type { ChangeNeeds } from './change.ts'

/** Values that are stored sealed: private halves of signing keys, and secrets of endpoints. */

/** A sealed value cannot be opened: its encryption key is not configured, or it was changed. */
export class Unreadable extends StartupError {
  override readonly name = 'Unreadable'
  readonly reason: NotOpened['reason']

  constructor(what: string, reason: NotOpened['reason'], cause?: unknown) {
    super(`${what} cannot be opened: ${WHAT_TO_DO[reason]}`, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}

const WHAT_TO_DO: Readonly<Record<NotOpened['reason'], string>> = {
  another_key:
    'PIXGATE_ENCRYPTION_KEY is not the one it was stored with, nor is PIXGATE_ENCRYPTION_KEY_PREVIOUS: put that one back',
  changed: 'it was changed, or belongs to another row: restore the row from a backup, or make another key',
}

/** A sealed value of either kind. */
export interface SealedValue {
  readonly kind: 'signing_key' | 'webhook_secret'
  readonly id: string
  /** For messages. */
  readonly name: string
  readonly place: Place
  readonly sealed: Buffer
  /** Stores it sealed anew. @returns whether it was still the value that was read */
  reseal(queries: Queries, anew: Buffer): Promise<boolean>
}

/** Opens a value, and says with which key. @throws Unreadable */
export function unseal({ name, place, sealed }: SealedValue, sealer: Sealer): Opened {
  try {
    return sealer.open(sealed, place)
  } catch (cause) {
    if (!(cause instanceof NotOpened)) throw cause
    throw new Unreadable(name, cause.reason, cause)
  }
}

/** Reads all of them, the signing keys first. @source rules#encryption.3 */
export type ReadSealed = (queries: Queries) => Promise<readonly SealedValue[]>

/**
 * Advice on the encryption keys: which is still needed, and which can go. Empty where nothing is to be done. An endpoint's secret that
 * was changed where it is stored is reported and stops nothing.
 * @throws Unreadable where neither key opens a value
 * @source rules#encryption.4, rules#webhook-secrets.4
 */
export async function adviseOn(read: ReadSealed, queries: Queries, keys: EncryptionKeys): Promise<readonly string[]> {
  const sealer = createSealer(keys)
  const damaged: string[] = []
  const opened = (await read(queries)).flatMap((value) => {
    try {
      return [unseal(value, sealer)]
    } catch (error) {
      // One endpoint lacks one signature; the signing key's is there all the same.
      const isOneSecret = error instanceof Unreadable && error.reason === 'changed' && value.kind === 'webhook_secret'
      if (!isOneSecret) throw error
      damaged.push(error.message)
      return []
    }
  })
  const byPrevious = opened.filter(({ by }) => by === 'previous').length
  if (byPrevious > 0) {
    const needs = `${byPrevious} of ${opened.length} sealed secrets`
    return [...damaged, `PIXGATE_ENCRYPTION_KEY_PREVIOUS is needed by ${needs}: run rewrap-keys`]
  }
  if (keys.previous === undefined) return damaged
  return [...damaged, 'PIXGATE_ENCRYPTION_KEY_PREVIOUS is no longer needed; remove it']
}

/** The result for one sealed value. */
export interface Rewrapped {
  /** `signing_key brBF9ATMQOcuvXdP`, or `webhook_secret` and its id. */
  readonly what: string
  /** `unreadable`: no configured key opens it; it is unchanged. `gone`: erased, or sealed anew by another process, meanwhile. */
  readonly outcome: 'rewrapped' | 'current_already' | 'gone' | 'unreadable'
  /** Why it cannot be read. */
  readonly reason?: string
}

/**
 * Seals every value anew with the current key, each in a transaction of its own with a row in the audit trail, so that it can be
 * stopped and run again. Processes that run are not disturbed.
 * @source rules#encryption.3
 */
export async function rewrap(
  read: ReadSealed,
  { database, clock, ids, keys }: ChangeNeeds & { readonly keys: EncryptionKeys },
): Promise<readonly Rewrapped[]> {
  const sealer = createSealer(keys)
  const results: Rewrapped[] = []
  for (const value of await read(database)) {
    const what = `${value.kind} ${value.id}`
    try {
      const { plain, by } = unseal(value, sealer)
      if (by === 'current') {
        results.push({ what, outcome: 'current_already' })
        continue
      }
      const isStillThere = await database.transaction(async (queries) => {
        if (!(await value.reseal(queries, sealer.seal(plain, value.place)))) return false
        const row = { id: ids.uuid(), at: clock.now(), action: `${value.kind}.rewrapped`, subject: value.id }
        await insertAudit(queries, { ...row, ...PROGRAM, facts: { openedBy: by } })
        return true
      })
      results.push({ what, outcome: isStillThere ? 'rewrapped' : 'gone' })
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      results.push({ what, outcome: 'unreadable', reason: error.message })
    }
  }
  return results
}

/** The actor in the audit trail: it runs on the machine, with the configuration. */
const PROGRAM = { actor: 'rewrap-keys', address: hostname() }
