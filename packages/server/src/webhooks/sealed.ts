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

/** Values stored sealed: private keys of signing keys, and secrets of endpoints. */

/** A sealed value cannot be opened: its encryption key is not configured, or its bytes were changed. */
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

export interface SealedValue {
  readonly kind: 'signing_key' | 'webhook_secret'
  readonly id: string
  readonly name: string
  readonly place: Place
  readonly sealed: Buffer
  /** Stores the value sealed anew. @returns whether the stored value was still the one read */
  reseal(queries: Queries, anew: Buffer): Promise<boolean>
}

/** @throws Unreadable */
export function unseal({ name, place, sealed }: SealedValue, sealer: Sealer): Opened {
  try {
    return sealer.open(sealed, place)
  } catch (cause) {
    if (!(cause instanceof NotOpened)) throw cause
    throw new Unreadable(name, cause.reason, cause)
  }
}

/** Reads all sealed values, signing keys first. @source rules#encryption.3 */
export type ReadSealed = (queries: Queries) => Promise<readonly SealedValue[]>

/**
 * Advises which encryption key is still needed and which can be removed; empty without advice. A changed secret of an
 * endpoint is reported but stops nothing.
 * @throws Unreadable when neither key opens a value
 * @source rules#encryption.4, rules#webhook-secrets.4
 */
export async function adviseOn(read: ReadSealed, queries: Queries, keys: EncryptionKeys): Promise<readonly string[]> {
  const sealer = createSealer(keys)
  const damaged: string[] = []
  const opened = (await read(queries)).flatMap((value) => {
    try {
      return [unseal(value, sealer)]
    } catch (error) {
      // One endpoint lacks one signature; that of the signing key is still there.
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

export interface Rewrapped {
  /** `signing_key brBF9ATMQOcuvXdP`, or `webhook_secret` and its id. */
  readonly what: string
  /**
   * - `unreadable`: no configured key opens it; unchanged.
   * - `gone`: erased, or sealed anew by another process meanwhile.
   */
  readonly outcome: 'rewrapped' | 'current_already' | 'gone' | 'unreadable'
  readonly reason?: string
}

/**
 * Seals every value with the current key, each in its own transaction with an audit row. Can be stopped and repeated,
 * beside running processes.
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

/** Actor in the audit trail: a command on the machine, with its configuration. */
const PROGRAM = { actor: 'rewrap-keys', address: hostname() }
