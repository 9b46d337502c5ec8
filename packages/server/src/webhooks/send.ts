import type { KeyObject } from 'node:crypto'
import { type AttemptOutcome, HIDDEN_CHARACTER, limits } from '@pixgate/spec'
import type { Dispatcher } from 'undici'
import type { Clock } from '../platform/clock.ts'
import { type Answer, post, type TimeSplit } from '../platform/http-client/post.ts'
import { outcomeOf } from './schedule.ts'
import { standardSignature } from './secrets.ts'

/** One signed request to an endpoint, and what is kept of its answer. */

/** How long the rest of an answer is read after its headers. */
const RESPONSE_TIMEOUT_MS = 1_000

/** A notification and where it goes. */
export interface Message {
  readonly url: string
  readonly notificationId: string
  readonly body: Uint8Array
}

/** A signature of the signing key over the bytes of a notification, in Base64. It serves all endpoints of the notification. */
export interface Signature {
  readonly text: string
  readonly keyId: string
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

/**
 * Sends a notification once and waits for the answer, at most its time limit. It is signed twice: over the bytes alone, as the
 * specification says, and over the id and the time too, by Standard Webhooks. Throws nothing.
 * @param secrets of the endpoint, the newest first
 * @param more headers besides
 * @source rules#webhooks.5, rules#webhooks.8, rules#webhook-secrets.1
 */
export async function send(
  { clock, dispatcher }: { readonly clock: Clock; readonly dispatcher: Dispatcher },
  { url, notificationId: id, body }: Message,
  signature: Signature,
  secrets: readonly KeyObject[],
  more: Readonly<Record<string, string>> = {},
): Promise<Attempt> {
  const startedAt = clock.now()
  const timestamp = String(Math.floor(startedAt / 1_000))
  const headers = {
    'content-type': 'application/json',
    'digital-signature': signature.text,
    'digital-signature-key-id': signature.keyId,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(secrets.length > 0 && { 'webhook-signature': standardSignature({ id, timestamp, body }, secrets) }),
    'user-agent': 'Pixgate',
    ...more,
  }
  const { answer, times, beginning } = await post(dispatcher, {
    url,
    headers,
    body,
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
    excerpt: excerptOf(beginning, body),
    times,
  }
}

/** An answer with a larger share of hidden characters is no text. */
const UNREADABLE_SHARE = 0.1

/** Stands for what is not stored. */
const REMOVED = '***'

/** A value that is named as a secret, up to the end of the word. */
const NAMED_SECRET =
  /\b(authorization|password|passwd|senha|secret|token|api[_-]?key|cookie|session)(["']?\s?[:=]\s?["']?)(?:(?:bearer|basic) )?[^\s"'<>]{4,}/gi

/** The same in a header's words. */
const CREDENTIAL = /\b(bearer|basic) [\w.+/=~-]{8,}/gi

/** Keys and tokens: long, with a digit. A UUID is none, as its groups are short. */
const LONG_WORD = /\b(?=[A-Za-z_+=]{0,200}\d)[\w+=]{24,}/g

/** CPF, CNPJ, telephone and card, in any writing; a time is shorter, and a UUID is none. */
const LONG_NUMBER = /(\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b)|\d(?:[ ./-]?\d){10,}/gi

const EMAIL = /[^\s@<>"'=:]{1,64}@[^\s@<>"']{1,255}/gu

/**
 * The beginning of an answer, in one line that can be shown: no control or hidden characters, nothing that looks like a
 * secret or like a person's document, address or number, and no name that the notification had. It is to be shown as text.
 * @param beginning the first bytes of the answer
 * @param sent the notification
 * @returns at most {@link limits.webhookExcerptMaxLength} characters; `null` where there is no text
 * @source rules#webhooks.17
 */
export function excerptOf(beginning: Uint8Array, sent: Uint8Array): string | null {
  if (beginning.length === 0) return null
  const decoded = textOf(beginning)
  const hidden = decoded.match(HIDDEN_CHARACTER)?.filter((character) => !/\s/.test(character)).length ?? 0
  if (hidden > decoded.length * UNREADABLE_SHARE) return null
  const line = unescaped(decoded).replace(HIDDEN_CHARACTER, ' ').replaceAll(/\s+/g, ' ').trim()
  const shown = withoutNames(line, sent)
    .replace(NAMED_SECRET, `$1$2${REMOVED}`)
    .replace(CREDENTIAL, `$1 ${REMOVED}`)
    .replace(LONG_WORD, REMOVED)
    .replace(LONG_NUMBER, (_, uuid?: string) => uuid ?? REMOVED)
    .replace(EMAIL, REMOVED)
  // Half of a character is nothing that JSON in the database takes.
  return shown === '' ? null : [...shown].slice(0, limits.webhookExcerptMaxLength).join('').toWellFormed()
}

/** UTF-8, of which the last character may be cut off, or else what older servers write. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** A character as JSON may write it; a JSON text within a JSON text has more backslashes. Any other backslash is of a path. */
const ESCAPED = /\\{1,7}(?:u([\da-fA-F]{4})|(["/]))/g

/** Decodes the escapes of JSON: many servers write every letter with an accent so. */
function unescaped(text: string): string {
  return text.replace(ESCAPED, (_, code: string | undefined, character: string) =>
    code === undefined ? character : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** A receiver may answer with what it got: in either form in which Unicode writes an accent, in capitals or not. @source rules#events.3 */
function withoutNames(line: string, sent: Uint8Array): string {
  const [, name] = /"payer_name":("(?:[^"\\]|\\.)+")/.exec(Buffer.from(sent).toString()) ?? []
  const plain = String(JSON.parse(name ?? '""'))
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (plain === '') return line
  const literal = plain.normalize().replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  return line.normalize().replaceAll(new RegExp(literal, 'giu'), REMOVED)
}
