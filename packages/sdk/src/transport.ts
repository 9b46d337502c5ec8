import { type ErrorDetails, type Fixes, type Language, PixgateError, type PixgateErrorCode } from './errors.ts'
import type { Problem } from './generated/types.ts'

/** Options of a client. */
export interface ClientOptions {
  /** By default `PIXGATE_URL`. */
  readonly url?: string | undefined
  /** Of one attempt; 15 s. */
  readonly timeoutMs?: number | undefined
  /** After the first attempt; 4. */
  readonly maxRetries?: number | undefined
  /** Of `error.fix`; `en`. */
  readonly language?: Language | undefined
  readonly fetch?: typeof fetch | undefined
  /** Time and chance, for tests. */
  readonly runtime?: Runtime | undefined
}

/** Options of one call. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
  readonly maxRetries?: number | undefined
  /** Appears in the logs of Pixgate, in its events and in errors: 1 to 256 printable ASCII characters. */
  readonly correlationId?: string | undefined
  /** By default one is made for each call; all its attempts send the same. */
  readonly idempotencyKey?: string | undefined
}

export interface Runtime {
  /** Epoch milliseconds. */
  now(): number
  /** From 0 to 1. */
  random(): number
  /** Rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal | undefined): Promise<void>
}

/** An operation of the API, as the generated methods describe it. */
export interface Operation {
  /** `cashOuts.create` */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** A POST that has no second effect when it is repeated. */
  readonly isRepeatable?: true
  /** Takes an Idempotency-Key. */
  readonly isKeyed?: true
  /** Answers with a file. */
  readonly isFile?: true
  /** Reference that the answer to a create must repeat. */
  readonly externalId?: string
  /** The method that finds out an unknown outcome. */
  readonly asks?: string
}

export interface Input {
  readonly query?: object | undefined
  readonly body?: object | undefined
}

/** Items of a list, newest first; all pages are read one after the other. */
export interface List<Item, Page> extends AsyncIterable<Item> {
  /** One page as the API answers it. Pass its `nextCursor` as `cursor` to read on. */
  page(): Promise<Page>
}

/** An answer to a create. `replayed`: the operation existed already, made by the same request. */
export type Created<Answer> = Answer & { readonly replayed: boolean }

interface CursorPage<Item> {
  readonly data: readonly Item[]
  readonly pagination: { readonly hasMore: boolean; readonly nextCursor: string | null }
}

/** How an attempt failed. */
interface Failed {
  readonly code: PixgateErrorCode
  readonly detail: string
  readonly status?: number
  readonly problem?: Problem
  readonly cause?: unknown
  /** It may have been carried out. */
  readonly isOpen: boolean
  readonly isTransient: boolean
  readonly retryAfterMs?: number
}

interface OutgoingRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

interface Answered {
  readonly body: unknown
  readonly isReplayed: boolean
}

export interface TransportSettings {
  readonly token: string
  /** Of every code that these operations answer with. */
  readonly fixes: Fixes
}

const TIMEOUT_MS = 15_000
const MAX_RETRIES = 4
const [FIRST_DELAY_MS, LONGEST_DELAY_MS] = [250, 8_000]

/** A call leaves a longer `Retry-After` to its caller; `follow` and `waitForEnd` wait no longer. */
export const LONGEST_RETRY_AFTER_MS = 30_000

/** Of Node.js: the connection was never made, so nothing was sent. */
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'ENETUNREACH', 'EHOSTUNREACH']

const systemRuntime: Runtime = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      if (signal?.aborted) return reject(signal.reason)
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, ms)
      signal?.addEventListener('abort', stop, { once: true })
    }),
}

/** A variable of the environment, where there is one. */
export function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  return process?.env?.[name]
}

/** @throws TypeError for an empty id, which would name another resource */
export function part(id: string): string {
  if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) throw new TypeError('an id is missing')
  return encodeURIComponent(id)
}

/** Sends requests: retries, deadlines, errors. @source rules#sdk.3, rules#sdk.5 */
export class Transport {
  readonly runtime: Runtime
  readonly #url: string
  readonly #settings: TransportSettings
  readonly #options: ClientOptions

  constructor(options: ClientOptions, settings: TransportSettings) {
    this.runtime = options.runtime ?? systemRuntime
    this.#options = options
    this.#settings = settings
    const url = options.url ?? environment('PIXGATE_URL') ?? ''
    if (!/^https?:\/\//.test(url))
      throw this.error('invalid_argument', {
        operation: 'url',
        detail: 'url, or PIXGATE_URL, must be an http(s) address',
      })
    if (!/^[!-~]+$/.test(settings.token)) {
      const isMissing = settings.token === ''
      throw this.error('invalid_argument', {
        operation: 'token',
        detail: isMissing
          ? 'no secret: set PIXGATE_API_KEY (operators PIXGATE_ADMIN_TOKEN), or pass it'
          : 'the secret has a space, a line break, or a character that is not ASCII',
      })
    }
    this.#url = url.replace(/\/+$/, '')
  }

  error(code: PixgateErrorCode, details: ErrorDetails): PixgateError {
    return new PixgateError(code, details, this.#settings.fixes[code]?.[this.#options.language ?? 'en'])
  }

  /** @throws PixgateError */
  async send<Answer>(operation: Operation, input: Input = {}, options: RequestOptions = {}): Promise<Answer> {
    return (await this.#attempts(operation, input, options)).body as Answer
  }

  /** @source rules#sdk.8 */
  list<Item, Page>(operation: Operation, query: object = {}, options?: RequestOptions): List<Item, Page> {
    const read = <Answer>(more?: object) => this.send<Answer>(operation, { query: { ...query, ...more } }, options)
    return {
      page: () => read<Page>(),
      async *[Symbol.asyncIterator]() {
        for (let more: object | undefined; ; ) {
          const { data, pagination } = await read<CursorPage<Item>>(more)
          yield* data
          if (!pagination.hasMore || pagination.nextCursor === null) return
          more = { cursor: pagination.nextCursor, page: undefined }
        }
      },
    }
  }

  /**
   * Creates an operation once, however often it is sent.
   * @param read reads the operation that exists already
   * @source rules#sdk.4
   */
  async create<Answer extends { readonly externalId: string }>(
    operation: Operation,
    externalId: string,
    body: object,
    read: (id: string, options: RequestOptions) => Promise<Answer>,
    options: RequestOptions = {},
  ): Promise<Created<Answer>> {
    const asks = operation.asks && `${operation.asks}({ external_id: ${JSON.stringify(externalId)} })`
    try {
      const answered = await this.#attempts({ ...operation, externalId, ...(asks && { asks }) }, { body }, options)
      return { ...(answered.body as Answer), replayed: answered.isReplayed }
    } catch (error) {
      const isOurs =
        error instanceof PixgateError && error.code === 'duplicate_external_id' && error.existing.samePayload
      if (!isOurs) throw error
      const { idempotencyKey: _, ...rest } = options
      const existing = await read(error.existing.id, rest).catch((cause: unknown) => {
        // It exists, whatever became of reading it.
        throw Object.assign(error, { cause })
      })
      return { ...existing, replayed: true }
    }
  }

  async #attempts(operation: Operation, input: Input, options: RequestOptions): Promise<Answered> {
    const { method, isKeyed } = operation
    const request = this.#request(operation, input, options)
    const isRepeatable = method !== 'POST' || operation.isRepeatable === true || isKeyed === true
    const maxRetries = options.maxRetries ?? this.#options.maxRetries ?? MAX_RETRIES
    let isOpen = false
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#attempt(operation, request, options)
      if (!('code' in result)) return result
      // The first attempt removed it.
      if (method === 'DELETE' && isOpen && result.code === 'not_found') return { body: undefined, isReplayed: true }
      isOpen ||= result.isOpen
      const mayRepeat = result.isTransient && (isRepeatable || !isOpen)
      const waitMs = this.#waitMs(result, attempt)
      if (!mayRepeat || attempt > maxRetries || waitMs > LONGEST_RETRY_AFTER_MS || options.signal?.aborted) {
        // The answer names the state of this very operation, so nothing is open.
        const isKnown = result.problem?.existing !== undefined && result.code !== 'pix_code_in_use'
        throw this.error(result.code, {
          ...result,
          operation: operation.name,
          ask: operation.asks,
          outcome: isOpen && method !== 'GET' && !isKnown ? 'unknown' : 'not_done',
          isSafeToRetry: mayRepeat,
          attempts: attempt,
          correlationId: request.headers['x-correlation-id'],
        })
      }
      // An abort ends the wait; the next attempt reports it.
      await this.runtime.sleep(waitMs, options.signal).catch(() => undefined)
    }
  }

  /** Full jitter: clients that failed together do not return together. */
  #waitMs({ retryAfterMs = 0 }: Failed, attempt: number): number {
    return retryAfterMs + this.runtime.random() * Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1))
  }

  #request(
    { name, method, path, isKeyed }: Operation,
    { query, body }: Input,
    options: RequestOptions,
  ): OutgoingRequest {
    const { correlationId = crypto.randomUUID(), idempotencyKey = crypto.randomUUID() } = options
    const refuse = (detail: string) => this.error('invalid_argument', { operation: name, detail })
    if (!/^[!-~](?:[ -~]{0,254}[!-~])?$/.test(correlationId))
      throw refuse('correlationId must be 1 to 256 printable ASCII characters')
    if (!/^[!#-+\--[\]-~]{1,255}$/.test(idempotencyKey))
      throw refuse(
        'idempotencyKey must be 1 to 255 printable ASCII characters without space, comma, quote and backslash',
      )
    const parameters = new URLSearchParams()
    for (const [key, value] of Object.entries(query ?? {}))
      if (value !== undefined) parameters.append(key, String(value))
    const search = parameters.size > 0 ? `?${parameters}` : ''
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.#settings.token}`,
      'x-correlation-id': correlationId,
      ...(body && { 'content-type': 'application/json' }),
      ...(isKeyed && { 'idempotency-key': idempotencyKey }),
    }
    return { url: `${this.#url}${path}${search}`, method, headers, body: body && JSON.stringify(body) }
  }

  async #attempt(
    { isFile, externalId }: Operation,
    { url, method, headers, body }: OutgoingRequest,
    { signal, timeoutMs = this.#options.timeoutMs ?? TIMEOUT_MS }: RequestOptions,
  ): Promise<Answered | Failed> {
    if (signal?.aborted) return { code: 'aborted', detail: 'the call was aborted', isOpen: false, isTransient: false }
    const deadline = AbortSignal.timeout(timeoutMs)
    const send = this.#options.fetch ?? fetch
    try {
      const response = await send(url, {
        method,
        headers,
        ...(body !== undefined && { body }),
        // A redirected POST would become a GET.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      })
      // On a connection that a proxy confused, the answer may be that of another request. @source rules#sdk.6
      const echo = response.headers.get('x-correlation-id')
      if (echo !== null && echo !== headers['x-correlation-id']) {
        await response.body?.cancel()
        return { ...NO_ANSWER, detail: FOREIGN }
      }
      return response.ok ? await answerOf(response, isFile, externalId) : await this.#refusalOf(response)
    } catch (cause) {
      return failureOf(cause, url, signal, deadline)
    }
  }

  async #refusalOf(response: Response): Promise<Failed> {
    const { status, headers } = response
    const retryAfterMs = this.#retryAfterMs(headers.get('retry-after'))
    const problem = problemOf(await response.text())
    const isTransient = status === 408 || status === 429 || status >= 500
    const common = { status, isTransient, ...(retryAfterMs !== undefined && { retryAfterMs }) }
    if (problem === undefined) {
      const detail = `the answer has status ${status} and is not from Pixgate`
      return { ...common, code: 'unexpected_answer', detail, isOpen: status < 400 || status === 408 || status >= 500 }
    }
    const isInProgress = problem.code === 'request_in_progress'
    return {
      ...common,
      code: Object.hasOwn(this.#settings.fixes, problem.code)
        ? (problem.code as PixgateErrorCode)
        : 'unexpected_answer',
      detail: problem.detail,
      problem,
      isTransient: isTransient || isInProgress,
      // A 503 of Pixgate says that nothing was carried out.
      isOpen: isInProgress || (status >= 500 && status !== 503),
    }
  }

  #retryAfterMs(text: string | null): number | undefined {
    if (text === null) return undefined
    const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - this.runtime.now()
    return Number.isNaN(ms) ? undefined : Math.max(0, ms)
  }
}

/**
 * @param externalId that the answer must repeat
 * @throws of the connection, if it breaks before the last byte
 */
async function answerOf(
  response: Response,
  isFile: true | undefined,
  externalId: string | undefined,
): Promise<Answered | Failed> {
  const isReplayed = response.headers.get('idempotent-replayed') === 'true'
  if (isFile) return { body: await response.blob(), isReplayed }
  const text = await response.text()
  if (response.status === 204) return { body: undefined, isReplayed }
  const body = jsonOf(text)
  if (body === undefined) return { ...NO_ANSWER, detail: 'the answer is not JSON' }
  if (externalId !== undefined && body.externalId !== externalId) return { ...NO_ANSWER, detail: FOREIGN }
  return { body, isReplayed }
}

const NO_ANSWER = { code: 'unexpected_answer', isOpen: true, isTransient: true } as const
const FOREIGN = 'the answer belongs to another request'

// biome-ignore lint/suspicious/noExplicitAny: an answer; its type is that of the method.
function jsonOf(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function problemOf(text: string): Problem | undefined {
  const problem = jsonOf(text)
  return typeof problem?.code === 'string' && typeof problem.detail === 'string' ? problem : undefined
}

function failureOf(cause: unknown, url: string, signal: AbortSignal | undefined, deadline: AbortSignal): Failed {
  if (signal?.aborted)
    return { code: 'aborted', detail: 'the call was aborted', isOpen: true, isTransient: false, cause }
  if (deadline.aborted) return { code: 'timeout', detail: 'no answer in time', isOpen: true, isTransient: true, cause }
  const { code } = ((cause as Error).cause ?? cause) as { readonly code?: string }
  const isOpen = !NOT_SENT.includes(code ?? '')
  return {
    code: 'connection_failed',
    detail: `the connection to ${new URL(url).origin} failed${code ? ` (${code})` : ''}`,
    isOpen,
    isTransient: true,
    cause,
  }
}
