import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { Clock } from '../platform/clock.ts'
import { seal, sha256, unseal } from '../platform/crypto.ts'
import type { Database } from '../platform/db/database.ts'
import { StartupError } from '../platform/startup-error.ts'
import { currentSigningKey, insertSigningKey, type StoredSigningKey } from './store.ts'

/** Signs notifications. The private key never leaves it. */
export interface Signer {
  /** The first 16 base64url characters of the SHA-256 of the public key's SPKI in DER. */
  readonly keyId: string
  /** SPKI in PEM. */
  readonly publicPem: string
  /** ECDSA P-256 with SHA-256 over the bytes: DER, in Base64. Works off the event loop's thread. */
  sign(bytes: Uint8Array): Promise<string>
}

/** The stored key cannot be opened with the configured encryption key. */
export class SigningKeyUnreadable extends StartupError {
  override readonly name = 'SigningKeyUnreadable'
}

/** What {@link openSigner} works with. */
export interface SignerDependencies {
  readonly database: Database
  readonly clock: Clock
  /** `PIXGATE_ENCRYPTION_KEY`. */
  readonly encryptionKey: string
}

/**
 * Opens the current signing key; the first start makes it, whichever process comes first.
 * @throws SigningKeyUnreadable where it was sealed with another encryption key
 * @source rules#webhooks.4, rules#webhooks.8, ADR-0011
 */
export async function openSigner({ database, clock, encryptionKey }: SignerDependencies): Promise<Signer> {
  let stored = await currentSigningKey(database)
  if (stored === undefined) {
    await insertSigningKey(database, generateKey(encryptionKey), clock.now())
    stored = await currentSigningKey(database)
  }
  if (stored === undefined) throw new Error('the signing key just stored is not there')

  const key = createPrivateKey({ key: unsealKey(stored, encryptionKey), format: 'der', type: 'pkcs8' })
  return {
    keyId: stored.id,
    publicPem: stored.publicPem,
    sign: async (bytes) => (await signAsync('sha256', bytes, { key, dsaEncoding: 'der' })).toString('base64'),
  }
}

const signAsync = promisify(sign)

function generateKey(encryptionKey: string): StoredSigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    id: sha256(publicKey.export({ format: 'der', type: 'spki' }))
      .toString('base64url')
      .slice(0, 16),
    publicPem: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    privateKey: seal(encryptionKey, privateKey.export({ format: 'der', type: 'pkcs8' })),
  }
}

/** Opens a stored key. @throws SigningKeyUnreadable where it was sealed with another encryption key */
export function unsealKey({ id, privateKey }: StoredSigningKey, encryptionKey: string): Buffer {
  try {
    return unseal(encryptionKey, privateKey)
  } catch (cause) {
    throw new SigningKeyUnreadable(
      `the webhook signing key ${id} cannot be opened: PIXGATE_ENCRYPTION_KEY is not the one it was stored with: put that one back`,
      { cause },
    )
  }
}
