import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { sha256 } from '../platform/crypto.ts'
import { NotOpened, type Opened, type Place, type Sealer } from '../platform/sealing.ts'
import { Unreadable, WHAT_TO_DO } from './unreadable.ts'

/** What a signing key does: it is published, signs, is still published, is gone. @source rules#signing-keys.1 */
export type SigningKeyState = 'next' | 'current' | 'previous' | 'retired'

/** A signing key, of what anybody may know. Instants are epoch milliseconds. */
export interface SigningKey {
  /** The first 16 base64url characters of the SHA-256 of the public key's SPKI in DER. */
  readonly id: string
  readonly state: SigningKeyState
  /** SPKI. */
  readonly publicPem: string
  /** When it was made, and published. */
  readonly createdAt: number
  /** When it began to sign; `null`: it never did. */
  readonly promotedAt: number | null
  /** When another began to sign in its place. */
  readonly replacedAt: number | null
  /** Since when it is published no more. */
  readonly retiredAt: number | null
}

/** The private half as it is stored. */
export interface SealedKey {
  readonly id: string
  /** PKCS #8 in DER. */
  readonly privateKey: Buffer
}

/** A key as it is made. */
export interface NewSigningKey extends SealedKey {
  readonly publicPem: string
}

/** A stored private half cannot be used: its encryption key is not configured, or it was changed. */
export class SigningKeyUnreadable extends Unreadable {
  override readonly name = 'SigningKeyUnreadable'
}

/** Makes an ECDSA P-256 key, and seals its private half. */
export function generateKey(sealer: Sealer): NewSigningKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = idOf(publicKey)
  return {
    id,
    publicPem: pemOf(publicKey),
    privateKey: sealer.seal(privateKey.export({ format: 'der', type: 'pkcs8' }), placeOf(id)),
  }
}

function idOf(publicKey: KeyObject): string {
  const spki = publicKey.export({ format: 'der', type: 'spki' })
  return sha256(spki).toString('base64url').slice(0, 16)
}

/** Whether a text may be the id of a key. */
export function isKeyId(text: string): boolean {
  return /^[A-Za-z0-9_-]{16}$/.test(text)
}

function pemOf(publicKey: KeyObject): string {
  return publicKey.export({ format: 'pem', type: 'spki' }).toString()
}

/** Where the private half of a key stands. */
export function placeOf(id: string): Place {
  return { table: 'signing_key', row: id, column: 'private_key' }
}

/** Both halves of a key. */
export interface KeyPair {
  readonly privateKey: KeyObject
  readonly publicPem: string
}

/**
 * Opens a key. Its public half is made of the private one: what the row says of it is not believed.
 * @throws SigningKeyUnreadable where no configured key opens it, or it is not the key of its id
 * @source rules#encryption.1, rules#encryption.5
 */
export function openKey(sealed: SealedKey, sealer: Sealer): KeyPair {
  const { plain } = unsealKey(sealed, sealer)
  const privateKey = createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey)
  if (idOf(publicKey) !== sealed.id) throw unreadable(sealed.id, 'changed')
  return { privateKey, publicPem: pemOf(publicKey) }
}

/** Opens the private half, and says by what. @throws SigningKeyUnreadable where no configured key opens it */
export function unsealKey({ id, privateKey }: SealedKey, sealer: Sealer): Opened {
  try {
    return sealer.open(privateKey, placeOf(id))
  } catch (cause) {
    if (!(cause instanceof NotOpened)) throw cause
    throw unreadable(id, cause.reason, cause)
  }
}

function unreadable(id: string, reason: NotOpened['reason'], cause?: unknown): SigningKeyUnreadable {
  return new SigningKeyUnreadable(
    `the webhook signing key ${id} cannot be opened: ${WHAT_TO_DO[reason]}`,
    cause === undefined ? undefined : { cause },
  )
}
