import { randomBytes } from 'node:crypto'
import { limits } from '@pixgate/spec'
import { NotOpened, type Opened, type Place, type Sealer } from '../../platform/sealing.ts'
import { Unreadable, WHAT_TO_DO } from '../unreadable.ts'

/** Whose secret it is, and which. */
export interface SecretId {
  readonly subscriptionId: string
  readonly id: string
}

/** A secret as it is stored. */
export interface SealedSecret extends SecretId {
  readonly secret: Buffer
}

/** A secret that was made just now. */
export interface NewSecret extends SealedSecret {
  /** As Standard Webhooks writes it: `whsec_`, then the bytes in Base64. Nobody reads it a second time. */
  readonly text: string
}

/** A receiver's secret cannot be opened. */
export class SecretUnreadable extends Unreadable {
  override readonly name = 'SecretUnreadable'
  readonly reason: NotOpened['reason']

  constructor(message: string, cause: NotOpened) {
    super(message, { cause })
    this.reason = cause.reason
  }
}

/**
 * Makes a secret of 256 random bits, sealed for its receiver and row.
 * @source rules#webhook-secrets.1, rules#encryption.1
 */
export function makeSecret(sealer: Sealer, of: SecretId): NewSecret {
  const bytes = randomBytes(limits.webhookSecretBytes)
  return { ...of, secret: sealer.seal(bytes, placeOf(of)), text: `whsec_${bytes.toString('base64')}` }
}

/** Where a secret stands: what is moved to another receiver does not open there. */
export function placeOf({ subscriptionId, id }: SecretId): Place {
  return { table: 'webhook_secret', row: `${subscriptionId} ${id}`, column: 'secret' }
}

/** Opens a secret, and says by what. @throws SecretUnreadable where no configured key opens it, or it was changed */
export function unsealSecret({ secret, ...of }: SealedSecret, sealer: Sealer): Opened {
  try {
    return sealer.open(secret, placeOf(of))
  } catch (cause) {
    if (!(cause instanceof NotOpened)) throw cause
    const what = `the secret ${of.id} of the webhook receiver ${of.subscriptionId}`
    throw new SecretUnreadable(`${what} cannot be opened: ${WHAT_TO_DO[cause.reason]}`, cause)
  }
}
