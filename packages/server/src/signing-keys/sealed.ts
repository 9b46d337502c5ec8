import type { Queries } from '../platform/db/database.ts'
import type { Opened, Sealer } from '../platform/sealing.ts'
import { placeOf as placeOfSecret, unsealSecret } from './secrets/secret.ts'
import { resealSecret, sealedSecrets } from './secrets/store.ts'
import { placeOf as placeOfKey, unsealKey } from './signing-key.ts'
import { resealKey, sealedKeys } from './store.ts'

/** A value that is stored sealed, of whatever kind. */
export interface SealedValue {
  readonly kind: 'signing_key' | 'webhook_secret'
  readonly id: string
  /** @throws Unreadable */
  open(sealer: Sealer): Opened
  /** Stores it as it is sealed anew. @returns whether it was still the one that was read */
  reseal(queries: Queries, plain: Uint8Array, sealer: Sealer): Promise<boolean>
}

/**
 * Everything that is sealed, the signing keys first.
 * @source rules#encryption.3
 */
export async function sealedValues(queries: Queries): Promise<readonly SealedValue[]> {
  const keys = (await sealedKeys(queries)).map(
    (key): SealedValue => ({
      kind: 'signing_key',
      id: key.id,
      open: (sealer) => unsealKey(key, sealer),
      reseal: (using, plain, sealer) => resealKey(using, key, sealer.seal(plain, placeOfKey(key.id))),
    }),
  )
  const secrets = (await sealedSecrets(queries)).map(
    (secret): SealedValue => ({
      kind: 'webhook_secret',
      id: secret.id,
      open: (sealer) => unsealSecret(secret, sealer),
      reseal: (using, plain, sealer) => resealSecret(using, secret, sealer.seal(plain, placeOfSecret(secret))),
    }),
  )
  return [...keys, ...secrets]
}
