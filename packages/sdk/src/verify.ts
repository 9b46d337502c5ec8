import type { Notification, WebhookTest } from './generated/types.ts'

/** Why a webhook was refused. */
export type WebhookFault =
  | 'body_not_json'
  | 'body_parsed'
  | 'key_unknown'
  | 'keys_unavailable'
  | 'secret_invalid'
  | 'signature_missing'
  | 'signature_wrong'
  | 'timestamp_invalid'

const messages: Readonly<Record<WebhookFault, string>> = {
  body_not_json: 'signature valid, but the body is not JSON',
  body_parsed: 'the framework has parsed the body; the signature needs its raw bytes',
  key_unknown: 'unknown key id in digital-signature-key-id',
  keys_unavailable: 'public keys could not be fetched',
  secret_invalid: 'the secret is not whsec_ and Base64',
  signature_missing: 'the header of the signature is missing',
  signature_wrong: 'signature mismatch: wrong secret or key, or body, id or timestamp were changed',
  timestamp_invalid: 'webhook-timestamp is missing, or more than five minutes off',
}

/**
 * A webhook that is not verified. Answer 401, or 503 for `keys_unavailable`: Pixgate sends it again. `secret_invalid` and
 * `body_parsed` are faults of the receiver's set-up.
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
  readonly code: WebhookFault

  constructor(code: WebhookFault, options?: ErrorOptions) {
    super(`${code}: ${messages[code]}`, options)
    this.code = code
  }
}

/** A verified notification. */
export type WebhookEvent = (Notification | WebhookTest) & {
  /**
   * The same on every attempt: handle each once. Only `webhook-signature` covers it: with `keys` alone, recognise
   * repetitions by the event itself.
   */
  readonly webhookId: string
}

/** A `Request`, or headers and the bytes of the body as they came. */
export type SignedRequest =
  | { readonly headers: HeaderSource; arrayBuffer(): Promise<ArrayBuffer> }
  | { readonly headers: HeaderSource; readonly body: Uint8Array | string }

/** `Headers`, or an object with lower-case names, as Node.js has it. */
export type HeaderSource =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** At least one of `secret` and `keys`. With both, both signatures must be right. */
export interface VerifyOptions {
  /** `whsec_…`, or several during rotation. Verifies `webhook-signature`, which covers body, id and timestamp. */
  readonly secret?: string | readonly string[] | undefined
  /** Of {@link publicKeys}. Verifies `digital-signature`, which covers the body alone. */
  readonly keys?: KeyResolver | undefined
  /** Returns the time in epoch milliseconds, for tests. */
  readonly now?: (() => number) | undefined
}

/** `CryptoKey`, spelt so that the declarations compile with the types of browsers and with those of Node.js. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** Returns the public key of an id. @throws WebhookError */
export type KeyResolver = (id: string) => Promise<Key | undefined>

const TOLERANCE_S = 300
const encoder = new TextEncoder()

/**
 * Verifies that `webhook-timestamp` is at most five minutes off and the signatures over the raw body, then parses it. Does
 * not detect a replay within that time: store each `webhookId`, and handle it once.
 * @throws WebhookError
 * @source rules#sdk.11
 */
export async function verifyWebhook(request: SignedRequest, options: VerifyOptions): Promise<WebhookEvent> {
  const { secret, keys, now = Date.now } = options
  const header = (name: string) => headerOf(request.headers, name)
  const body = bytesOf('arrayBuffer' in request ? new Uint8Array(await request.arrayBuffer()) : request.body)
  const timestamp = header('webhook-timestamp')
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Math.floor(now() / 1_000) - Number(timestamp)) > TOLERANCE_S) {
    throw new WebhookError('timestamp_invalid')
  }
  const webhookId = header('webhook-id')
  const secrets = secret === undefined ? [] : [secret].flat()
  if (secrets.length === 0 && keys === undefined) throw new TypeError('verifyWebhook needs a secret, or keys')
  if (secrets.length > 0)
    await verifyWebhookSignature(secrets, `${webhookId}.${timestamp}.`, body, header('webhook-signature'))
  if (keys) await verifyDigitalSignature(body, header('digital-signature'), header('digital-signature-key-id'), keys)
  try {
    return { ...JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)), webhookId }
  } catch (cause) {
    throw new WebhookError('body_not_json', { cause })
  }
}

/**
 * Verifies bytes that Pixgate signed: the body of a notification, or of an event of the feed.
 * @param signature Base64 of the DER form
 * @throws WebhookError
 */
export async function verifyDigitalSignature(
  body: Uint8Array | string,
  signature: string,
  keyId: string,
  keys: KeyResolver,
): Promise<void> {
  if (signature === '' || keyId === '') throw new WebhookError('signature_missing')
  const raw = rawSignature(decodeBase64(signature))
  if (!raw) throw new WebhookError('signature_wrong')
  const key = await keys(keyId)
  if (!key) throw new WebhookError('key_unknown')
  const isRight = await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, raw, bytesOf(body))
  if (!isRight) throw new WebhookError('signature_wrong')
}

/** Options of {@link publicKeys}. */
export interface PublicKeysOptions {
  readonly fetch?: typeof fetch | undefined
  /** Returns the time in epoch milliseconds, for tests. */
  readonly now?: (() => number) | undefined
}

/** A leaked key is no longer published, and not trusted for longer than this. */
const KEYS_MAX_AGE_MS = 300_000

/** Between two reads for unknown ids, which a stranger can make up. */
const KEYS_INTERVAL_MS = 1_000

/**
 * The keys that Pixgate publishes: kept for five minutes, and read again when an id is unknown.
 * @param url address of Pixgate. Never take it from a request.
 * @returns a resolver that throws `key_unknown` for a published key that is none of P-256, and `keys_unavailable`
 * @source rules#sdk.12
 */
export function publicKeys(url: string, options: PublicKeysOptions = {}): KeyResolver {
  const { now = Date.now } = options
  let pems: ReadonlyMap<string, string> = new Map()
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  const read = async () => {
    const startedAt = now()
    const response = await (options.fetch ?? fetch)(`${url.replace(/\/+$/, '')}/public-keys`, {
      signal: AbortSignal.timeout(5_000),
    })
    if (!response.ok) throw new Error(`GET /public-keys answered ${response.status}`)
    const { data } = (await response.json()) as { data: { id: string; publicKey: string }[] }
    pems = new Map(data.map(({ id, publicKey }) => [id, publicKey]))
    readAt = startedAt
  }
  return async (id) => {
    // The clock may have been set back.
    const ageMs = Math.abs(now() - readAt)
    if (ageMs >= KEYS_MAX_AGE_MS || (!pems.has(id) && ageMs >= KEYS_INTERVAL_MS)) {
      reading ??= read().finally(() => {
        reading = undefined
      })
      await reading.catch((cause) => {
        throw new WebhookError('keys_unavailable', { cause })
      })
    }
    const pem = pems.get(id)
    try {
      return pem === undefined ? undefined : await importKey(pem)
    } catch (cause) {
      throw new WebhookError('key_unknown', { cause })
    }
  }
}

/** The `webhook-signature` of Standard Webhooks: one of the secrets made one of its signatures. */
async function verifyWebhookSignature(
  secrets: readonly string[],
  prefix: string,
  body: Uint8Array<ArrayBuffer>,
  given: string,
): Promise<void> {
  if (given === '') throw new WebhookError('signature_missing')
  const signed = await new Blob([prefix, body]).arrayBuffer()
  const signatures = given.split(' ').filter((text) => text.startsWith('v1,'))
  for (const secret of secrets) {
    const key = await hmacKey(secret, 'verify')
    for (const signature of signatures) {
      const bytes = decodeBase64(signature.slice(3))
      // Compares in constant time.
      if (bytes && (await crypto.subtle.verify('HMAC', key, bytes, signed))) return
    }
  }
  throw new WebhookError('signature_wrong')
}

/** @throws WebhookError secret_invalid */
export async function hmacKey(secret: string, use: 'sign' | 'verify'): Promise<Key> {
  const bytes = decodeBase64(secret.replace(/^whsec_/, ''))
  if (!bytes?.length) throw new WebhookError('secret_invalid')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}

function importKey(pem: string): Promise<Key> {
  const spki = decodeBase64(pem.replaceAll(/-----[A-Z ]+-----|\s/g, '')) ?? new Uint8Array()
  return crypto.subtle.importKey('spki', spki, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify'])
}

/** WebCrypto takes r and s of 32 bytes each, where Pixgate sends DER. */
function rawSignature(der: Uint8Array | undefined): Uint8Array<ArrayBuffer> | undefined {
  if (der?.[0] !== 0x30 || der[1] !== der.length - 2) return undefined
  const raw = new Uint8Array(64)
  let at = 2
  for (const end of [32, 64]) {
    const length = der[at + 1] ?? 0
    const number = der.subarray(at + 2, at + 2 + length)
    if (der[at] !== 0x02 || number.length !== length || length === 0) return undefined
    const digits = number[0] === 0 ? number.subarray(1) : number
    if (digits.length > 32) return undefined
    raw.set(digits, end - digits.length)
    at += 2 + length
  }
  return at === der.length ? raw : undefined
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  } catch {
    return undefined
  }
}

function headerOf(headers: HeaderSource, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : (headers as Record<string, string | string[] | undefined>)[name]
  return String(value ?? '')
}

function bytesOf(body: unknown): Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return encoder.encode(body)
  if (body instanceof Uint8Array) return new Uint8Array(body)
  throw new WebhookError('body_parsed')
}
