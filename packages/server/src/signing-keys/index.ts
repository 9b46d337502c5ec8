import type { Ids } from '../platform/ids.ts'
import { createSealer, type EncryptionKeys } from '../platform/sealing.ts'
import { type Keyring, type KeyringDependencies, openKeyring } from './keyring.ts'
import { openPublishedKeys } from './published.ts'
import { sealingAdvice } from './rewrap.ts'
import { createSigningKeyHandlers, type SigningKeyHandlers } from './routes.ts'
import { createReceiverSecrets, type ReceiverSecrets } from './secrets/secrets.ts'

export type { Keyring, Signer } from './keyring.ts'
export type { SigningKeyHandlers } from './routes.ts'
export { type SealedSecret, SecretUnreadable } from './secrets/secret.ts'
export type { ReceiverSecrets } from './secrets/secrets.ts'
export { standardSignature } from './secrets/standard-signature.ts'
export type { SigningSecret } from './secrets/store.ts'

/** The keys that notifications are signed with: their life, who signs with them, and what receivers see of them. */
export interface SigningKeysModule {
  readonly handlers: SigningKeyHandlers
  readonly keyring: Keyring
  readonly secrets: ReceiverSecrets
}

/** What the module needs. */
export interface SigningKeysOptions extends Omit<KeyringDependencies, 'sealer'> {
  readonly ids: Ids
  /** `PIXGATE_ENCRYPTION_KEY` and `PIXGATE_ENCRYPTION_KEY_PREVIOUS`. */
  readonly keys: EncryptionKeys
}

/**
 * Opens the module, making the signing key at the first start.
 * @throws Unreadable where no configured encryption key is the one that the signing key, or a receiver's secret, was stored with
 */
export async function createSigningKeysModule({ keys, ...options }: SigningKeysOptions): Promise<SigningKeysModule> {
  const dependencies = { ...options, sealer: createSealer(keys) }
  const keyring = await openKeyring(dependencies)
  for (const advice of await sealingAdvice(options.database, keys)) options.logger.warn(advice)
  const handlers = createSigningKeyHandlers(dependencies, await openPublishedKeys(dependencies))
  return { keyring, secrets: createReceiverSecrets(dependencies), handlers }
}
