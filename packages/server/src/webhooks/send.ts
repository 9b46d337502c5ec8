import type { KeyObject } from 'node:crypto'
import { type AttemptOutcome, HIDDEN_CHARACTER, limits } from '@pixgate/spec'
import type { Dispatcher } from 'undici'
import type { Clock } from '../platform/clock.ts'
import { type Answer, post, type TimeSplit } from '../platform/http-client/post.ts'
import type { Reach } from './endpoint-url.ts'
import { outcomeOf } from './schedule.ts'
import { standardSignature } from './secrets.ts'

const RESPONSE_TIMEOUT_MS = 1_000

/** Separate connections for each reach: one from inside is never reused for an endpoint that must be public. */
export type Dispatchers = Readonly<Record<Reach, Dispatcher>>

export interface Message {
  readonly url: string
  readonly reach: Reach
  readonly notificationId: string
  readonly body: Uint8Array
}

/** Signature of the signing key over a notification's bytes in Base64. Shared by all endpoints. */
export interface Signature {
  readonly text: string
  readonly keyId: string
}

export interface Attempt {
  readonly answer: Answer
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: AttemptOutcome
  readonly statusCode: number | null
  /** Code of the system, TLS or the client, without an answer. */
  readonly code: string | null
  readonly excerpt: string | null
  readonly times: TimeSplit
}

/**
 * Sends a notification once and waits for the answer, up to its time limit. Signed twice: over the bytes, as the
 * specification says, and over id, time and bytes (Standard Webhooks). Never throws.
 * @param secrets of the endpoint, newest first
 * @param more additional headers
 * @source rules#webhooks.5, rules#webhooks.8, rules#webhooks.26, rules#webhook-secrets.1
 */
export async function send(
  { clock, dispatchers }: { readonly clock: Clock; readonly dispatchers: Dispatchers },
  { url, reach, notificationId: id, body }: Message,
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
  const { answer, times, beginning } = await post(dispatchers[reach], {
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
    // API keys read the excerpt, and must not read answers from inside.
    excerpt: reach === 'inside' ? null : excerptOf(beginning, body),
    times,
  }
}

/** Answers with a larger share of hidden characters are not text. */
const UNREADABLE_SHARE = 0.1

const REMOVED = '***'

/** A value labelled as a secret, to the end of the word. */
const NAMED_SECRET =
  /\b(authorization|password|passwd|senha|secret|token|api[_-]?key|cookie|session)(["']?\s?[:=]\s?["']?)(?:(?:bearer|basic) )?[^\s"'<>]{4,}/gi

/** A secret in the form of an `Authorization` header. */
const CREDENTIAL = /\b(bearer|basic) [\w.+/=~-]{8,}/gi

/** Keys and tokens: long, with a digit. UUIDs do not match, since their groups are short. */
const LONG_WORD = /\b(?=[A-Za-z_+=]{0,200}\d)[\w+=]{24,}/g

/** CPF, CNPJ, telephone and card numbers in any notation. Times are shorter, and UUIDs are excluded. */
const LONG_NUMBER = /(\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b)|\d(?:[ ./-]?\d){10,}/gi

const EMAIL = /[^\s@<>"'=:]{1,64}@[^\s@<>"']{1,255}/gu

/**
 * The start of an answer as one safe line: without control or hidden characters, apparent secrets, personal documents,
 * addresses or numbers, and names from the notification. Display it as text.
 * @param beginning first bytes of the answer
 * @param sent the notification
 * @returns at most {@link limits.webhookExcerptMaxLength} characters; `null` without text
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
  // PostgreSQL's JSON refuses half a surrogate pair.
  return shown === '' ? null : [...shown].slice(0, limits.webhookExcerptMaxLength).join('').toWellFormed()
}

/** UTF-8 whose last character may be cut off, or else Windows-1252, as older servers write it. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/** An escaped character of JSON; nested JSON has more backslashes. Any other backslash belongs to a path. */
const ESCAPED = /\\{1,7}(?:u([\da-fA-F]{4})|(["/]))/g

/** Decodes escapes of JSON: many servers escape every accented letter. */
function unescaped(text: string): string {
  return text.replace(ESCAPED, (_, code: string | undefined, character: string) =>
    code === undefined ? character : String.fromCharCode(Number.parseInt(code, 16)),
  )
}

/** Removes names that a receiver echoes, in either Unicode form of accents and in any case. @source rules#events.3 */
function withoutNames(line: string, sent: Uint8Array): string {
  const [, name] = /"payer_name":("(?:[^"\\]|\\.)+")/.exec(Buffer.from(sent).toString()) ?? []
  const plain = String(JSON.parse(name ?? '""'))
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (plain === '') return line
  const literal = plain.normalize().replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  return line.normalize().replaceAll(new RegExp(literal, 'giu'), REMOVED)
}
