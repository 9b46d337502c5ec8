import type { KeyObject } from 'node:crypto'
import { type Signer, standardSignature } from '../signing-keys/index.ts'

/** A signature of the signing key over the bytes of a notification, in Base64. */
export interface Signature {
  readonly text: string
  readonly keyId: string
}

/** Signs the bytes of a notification with the signing key; the same ones need it once. */
export function signatureOf(bytes: Uint8Array, { keyId, sign }: Signer): Signature {
  return { text: sign(bytes), keyId }
}

/** What the headers of a notification are made of. */
export interface SignedNotification {
  /** The same for every attempt. */
  readonly id: string
  readonly body: Uint8Array
  readonly signature: Signature
  /** What its receiver shares, the newest first; none where it has none. */
  readonly secrets: readonly KeyObject[]
}

/**
 * The headers that say what a notification is, and who vouches for it: the specification's signature, over the bytes alone, and that
 * of Standard Webhooks, over its id and the time, too. Pure.
 * @param nowMs when it is sent, epoch milliseconds
 * @source rules#webhooks.8, rules#webhook-secrets.1
 */
export function signedHeaders({ id, body, signature, secrets }: SignedNotification, nowMs: number) {
  const timestamp = String(Math.floor(nowMs / 1_000))
  return {
    'content-type': 'application/json',
    'digital-signature': signature.text,
    'digital-signature-key-id': signature.keyId,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(secrets.length > 0 && { 'webhook-signature': standardSignature({ id, timestamp, body }, secrets) }),
  }
}
