import { type KeyObject, sign } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Logger } from '../platform/log.ts'
import type { Sealer } from '../platform/sealing.ts'
import { generateKey, openKey } from './signing-key.ts'
import { currentKey, insertFirstKey } from './store.ts'

/** Signs notifications with one key. The private half never leaves it. */
export interface Signer {
  readonly keyId: string
  /** SPKI in PEM. */
  readonly publicPem: string
  /**
   * ECDSA P-256 with SHA-256 over the bytes: DER, in Base64. It takes some 30 µs; on another thread it took twice as much of the
   * processors' time.
   */
  sign(bytes: Uint8Array): string
}

/** The key that signs, as this process knows it. */
export interface Keyring {
  /** Of the key that was current when it was opened last. Who claims deliveries asks whether it still is. */
  signer(): Signer
  /**
   * Opens the key that is current now, where it is another one.
   * @throws SigningKeyUnreadable, and goes on with none until it can be opened
   */
  refresh(): Promise<void>
}

/** What a keyring works with. */
export interface KeyringDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly sealer: Sealer
  readonly logger: Logger
}

/**
 * Opens the current signing key; the first start makes it, whichever process comes first.
 * @throws SigningKeyUnreadable where it was sealed with another encryption key
 * @source rules#webhooks.8, rules#signing-keys.5, ADR-0011, ADR-0029
 */
export async function openKeyring({ database, clock, sealer, logger }: KeyringDependencies): Promise<Keyring> {
  async function openCurrent(): Promise<Signer> {
    let stored = await currentKey(database)
    if (stored === undefined) {
      await insertFirstKey(database, generateKey(sealer), clock.now())
      stored = await currentKey(database)
    }
    if (stored === undefined) throw new Error('the signing key just stored is not there')
    const { privateKey, publicPem } = openKey(stored, sealer)
    return { keyId: stored.id, publicPem, sign: (bytes) => signature(bytes, privateKey) }
  }

  let signer = await openCurrent()
  return {
    signer: () => signer,
    refresh: async () => {
      const opened = await openCurrent()
      if (opened.keyId === signer.keyId) return
      logger.info(
        { keyId: opened.keyId, before: signer.keyId },
        'notifications are signed with another key from now on',
      )
      signer = opened
    },
  }
}

/** The key as it is: among options, even where these say what is the default, a signature takes nearly twice as long (measured). */
function signature(bytes: Uint8Array, key: KeyObject): string {
  return sign('sha256', bytes, key).toString('base64')
}
