import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import { type Dispatcher, errors } from 'undici'
import { startTimer } from '../clock.ts'
import { errorCode } from '../connection-problem.ts'
import { NotConnected, type NotConnectedReason } from './agent.ts'

/**
 * Outcome of a POST. `broken`: the connection was lost, or the answer is not HTTP. `code` comes from the system, TLS or
 * the client, if there is one.
 */
export type Answer =
  | { readonly statusCode: number; readonly retryAfter: string | undefined }
  | { readonly failure: NotConnectedReason | 'broken'; readonly code: string | undefined }

export interface Exchange {
  readonly answer: Answer
  readonly times: TimeSplit
  /** First bytes of the answer's body; empty without an answer. */
  readonly beginning: Uint8Array
}

export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Wall time from the start of the lookup to the end of the answer's headers. */
  readonly timeoutMs: number
  /** Maximum of the body to read, so that the connection can be reused. Only the first bytes are kept. */
  readonly responseMaxBytes: number
  readonly responseTimeoutMs: number
}

const BEGINNING_BYTES = 1_024

/** Sends one POST without following redirects. The status decides, whatever happens to the body after it. */
export function post(dispatcher: Dispatcher, { url, headers, body, ...bounds }: PostRequest): Promise<Exchange> {
  const times = new RequestTimes()
  return new Promise((resolve) => {
    const handler = new AnswerHandler(bounds, times, resolve)
    const { origin, pathname, search } = new URL(url)
    current.run(times, () =>
      dispatcher.dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, handler),
    )
  })
}

type Bounds = Pick<PostRequest, 'timeoutMs' | 'responseMaxBytes' | 'responseTimeoutMs'>

/**
 * Reads an answer without a stream and with one timer at a time: these were most of a delivery's cost. The first timer
 * covers the headers, the second the body. After the second, the bytes received so far count and the connection is
 * dropped.
 */
class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly #bounds: Bounds
  readonly #times: RequestTimes
  readonly #resolve: (exchange: Exchange) => void
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #controller: Dispatcher.DispatchController | undefined
  #answer: { readonly answer: Answer; readonly times: TimeSplit } | undefined
  #hasEnded = false
  #stopTimer: () => void

  constructor(bounds: Bounds, times: RequestTimes, resolve: (exchange: Exchange) => void) {
    this.#bounds = bounds
    this.#times = times
    this.#resolve = resolve
    this.#stopTimer = startTimer(bounds.timeoutMs, () => this.#giveUp({ failure: 'timeout', code: undefined }))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#hasEnded) controller.abort(new Error('timeout'))
  }

  onResponseStart(_: unknown, statusCode: number, headers: IncomingHttpHeaders): void {
    // Informational responses (1xx) are skipped.
    if (statusCode < 200 || this.#hasEnded) return
    this.#stopTimer()
    const answer = { statusCode, retryAfter: [headers['retry-after']].flat()[0] }
    this.#answer = { answer, times: this.#times.split() }
    this.#stopTimer = startTimer(this.#bounds.responseTimeoutMs, () => this.#giveUp(answer))
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#bytes < BEGINNING_BYTES) this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#answer !== undefined && this.#bytes > this.#bounds.responseMaxBytes) this.#giveUp(this.#answer.answer)
  }

  onResponseEnd(): void {
    if (this.#answer !== undefined) this.#end(this.#answer.answer)
  }

  onResponseError(_: unknown, error: Error): void {
    this.#end(this.#answer?.answer ?? failed(error))
  }

  #giveUp(answer: Answer): void {
    this.#end(answer)
    this.#controller?.abort(new Error('the body was not read to its end'))
  }

  #end(answer: Answer): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#stopTimer()
    const times = this.#answer?.times ?? this.#times.split()
    this.#resolve({ answer, times, beginning: Buffer.concat(this.#chunks).subarray(0, BEGINNING_BYTES) })
  }
}

/** Parser errors without a kind. */
const NOT_HTTP = 'HPE_INVALID'

function failed(error: unknown): Answer {
  const failure = error instanceof NotConnected ? error.reason : 'broken'
  const code = errorCode(error)
  if (code === undefined && error instanceof errors.HTTPParserError) return { failure, code: NOT_HTTP }
  return { failure, code: code === failure ? undefined : code }
}

/** Parts of a request's time, in this order. A request on a reused connection has only the last. */
export const requestParts = ['dns', 'connect', 'tls', 'wait'] as const

/** `wait` runs from the connection to the end of the answer's headers. */
export type RequestPart = (typeof requestParts)[number]

/** Whole milliseconds; `null` for parts a request did not reach or need. */
export type TimeSplit = Readonly<Record<`${RequestPart}Ms`, number | null>> & {
  /** From the start of the look-up to the end of the headers, or to the failure. */
  readonly totalMs: number
}

/** Times one request. Its connection reports the part it is at. */
export class RequestTimes {
  readonly #startedAt: number
  readonly #spent = new Map<RequestPart, number>()
  readonly #now: () => number
  #part: RequestPart | undefined = 'wait'
  #since: number

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#startedAt = now()
    this.#since = this.#startedAt
  }

  /** A new connection starts: the time until now belongs to no part. */
  connecting(): void {
    this.#part = undefined
  }

  enter(part: RequestPart): void {
    this.#close()
    this.#part = part
  }

  split(): TimeSplit {
    this.#close()
    const msOf = (part: RequestPart) => {
      const spent = this.#spent.get(part)
      return spent === undefined ? null : Math.round(spent)
    }
    return {
      dnsMs: msOf('dns'),
      connectMs: msOf('connect'),
      tlsMs: msOf('tls'),
      waitMs: msOf('wait'),
      totalMs: Math.round(this.#since - this.#startedAt),
    }
  }

  #close(): void {
    const nowMs = this.#now()
    if (this.#part !== undefined) {
      this.#spent.set(this.#part, (this.#spent.get(this.#part) ?? 0) + nowMs - this.#since)
    }
    this.#since = nowMs
  }
}

/** Links a connector to its request, since the client does not. */
const current = new AsyncLocalStorage<RequestTimes>()

export function currentTimes(): RequestTimes | undefined {
  return current.getStore()
}

/**
 * Parses `Retry-After`: seconds, or an HTTP date.
 * @param nowMs epoch milliseconds, to compare a date with
 * @returns milliseconds, negative for a past date; `undefined` for anything else
 */
export function retryAfterMs(text: string, nowMs: number): number | undefined {
  const value = text.trim()
  const askedMs = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs
  return Number.isNaN(askedMs) ? undefined : askedMs
}
