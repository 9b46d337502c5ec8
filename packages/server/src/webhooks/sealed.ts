import type { Queries } from '../platform/db/database.ts'
import { NotOpened, type Opened, type Place, type Sealer } from '../platform/sealing.ts'
import { StartupError } from '../platform/startup-error.ts'

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
