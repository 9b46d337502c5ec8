import type { KeyObject } from 'node:crypto'
import { type AttemptOutcome, limits } from '@pixgate/spec'
import type { Dispatcher } from 'undici'
import type { Clock } from '../platform/clock.ts'
import { type Answer, post } from '../platform/http-client/post.ts'
import type { TimeSplit } from '../platform/http-client/request-times.ts'
import { excerptOf } from './excerpt.ts'
import { outcomeOf } from './schedule.ts'
import { standardSignature } from './secrets.ts'
import type { Signer } from './signing.ts'

/** One signed request to an endpoint. */

/** How long the rest of an answer is read after its headers. */
const RESPONSE_TIMEOUT_MS = 1_000

/** A notification and where it goes. */
export interface Message {
  readonly url: string
  readonly notificationId: string
  readonly body: Uint8Array
}

/** A signature of the signing key over the bytes of a notification. */
export interface Signature {
  /** Base64. */
  readonly text: string
  readonly keyId: string
}

/** Signs the bytes of a notification. One signature serves all its endpoints. */
export function signatureOf(body: Uint8Array, { keyId, sign }: Signer): Signature {
  return { text: sign(body), keyId }
}

/**
 * The headers of a notification: the specification's signature, over the bytes alone, and that of Standard Webhooks, over the id and
 * the time too. Pure.
 * @param secrets of the endpoint, the newest first
 * @param nowMs epoch milliseconds
 * @source rules#webhooks.8, rules#webhook-secrets.1
 */
function signedHeaders(
  { notificationId: id, body }: Pick<Message, 'notificationId' | 'body'>,
  signature: Signature,
  secrets: readonly KeyObject[],
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  return {
    'content-type': 'application/json',
    'digital-signature': signature.text,
    'digital-signature-key-id': signature.keyId,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(secrets.length > 0 && { 'webhook-signature': standardSignature({ id, timestamp, body }, secrets) }),
    'user-agent': 'Pixgate',
  }
}

/** An attempt that ended. Instants are epoch milliseconds. */
export interface Attempt {
  readonly answer: Answer
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: AttemptOutcome
  readonly statusCode: number | null
  /** Of the system, of TLS or of the client, where there was no answer. */
  readonly code: string | null
  readonly excerpt: string | null
  readonly times: TimeSplit
}

/** Dependencies of sending. */
export interface SendDependencies {
  readonly clock: Clock
  readonly dispatcher: Dispatcher
}

/**
 * Sends a notification once and waits for the answer, at most its time limit. Throws nothing.
 * @param more headers besides
 * @source rules#webhooks.5
 */
export async function send(
  { clock, dispatcher }: SendDependencies,
  message: Message,
  signature: Signature,
  secrets: readonly KeyObject[],
  more: Readonly<Record<string, string>> = {},
): Promise<Attempt> {
  const startedAt = clock.now()
  const { answer, times, beginning } = await post(dispatcher, {
    url: message.url,
    headers: { ...signedHeaders(message, signature, secrets, startedAt), ...more },
    body: message.body,
    timeoutMs: limits.webhookTimeoutMs,
    responseMaxBytes: limits.webhookResponseMaxBytes,
    responseTimeoutMs: RESPONSE_TIMEOUT_MS,
  })
  return {
    answer,
    startedAt,
    endedAt: clock.now(),
    outcome: outcomeOf(answer),
    statusCode: 'statusCode' in answer ? answer.statusCode : null,
    code: 'failure' in answer ? (answer.code ?? null) : null,
    excerpt: excerptOf(beginning, message.body),
    times,
  }
}
