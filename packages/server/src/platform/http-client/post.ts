import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import { type Dispatcher, errors } from 'undici'
import { startTimer } from '../clock.ts'
import { errorCode } from '../connection-problem.ts'
import { NotConnected, type NotConnectedReason } from './agent.ts'

/**
 * What came of a POST. `broken`: the connection was lost, or what came back is not HTTP. `code` is the one of the system, of
 * TLS or of the client, where there is one.
 */
export type Answer =
  | { readonly statusCode: number; readonly retryAfter: string | undefined }
  | { readonly failure: NotConnectedReason | 'broken'; readonly code: string | undefined }

/** A POST that ended. */
export interface Exchange {
  readonly answer: Answer
  readonly times: TimeSplit
  /** The first bytes of the answer's body, as they came; none where there was no answer. */
  readonly beginning: Uint8Array
}

/** A POST and its bounds. */
export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Wall clock from the start of the lookup to the end of the answer's headers. */
  readonly timeoutMs: number
  /** What is read of the answer's body at most, so that the connection can be used again; its first bytes alone are kept. */
  readonly responseMaxBytes: number
  readonly responseTimeoutMs: number
}

/** What is kept of an answer's body. */
const BEGINNING_BYTES = 1_024

/** Sends one POST. Redirects are not followed; the status line decides, whatever becomes of the body after it. */
export function post(dispatcher: Dispatcher, { url, headers, body, ...bounds }: PostRequest): Promise<Exchange> {
  const times = new RequestTimes()
  return new Promise((resolve) => {
    const handler = new AnswerHandler(bounds, times, resolve)
    const { origin, pathname, search } = new URL(url)
    timed(times, () => dispatcher.dispatch({ origin, path: pathname + search, method: 'POST', headers, body }, handler))
  })
}

/** What an exchange is bounded by. */
type Bounds = Pick<PostRequest, 'timeoutMs' | 'responseMaxBytes' | 'responseTimeoutMs'>

/**
 * Takes an answer as the client reads it: without a stream, and with one timer at a time, as most of what a delivery cost this
 * process was these. The first timer ends with the headers, the second with the body: then what there is of it is what came,
 * and a connection that is not read to its end is given up.
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
    // What comes before the answer is none.
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
    this.#controller?.abort(new Error('no more of it is read'))
  }

  #end(answer: Answer): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#stopTimer()
    const times = this.#answer?.times ?? this.#times.split()
    this.#resolve({ answer, times, beginning: Buffer.concat(this.#chunks).subarray(0, BEGINNING_BYTES) })
  }
}

/** A parser's error whose kind it does not tell. */
const NOT_HTTP = 'HPE_INVALID'

function failed(error: unknown): Answer {
  const [failure, code] = [failureOf(error), errorCode(error)]
  if (code === undefined && error instanceof errors.HTTPParserError) return { failure, code: NOT_HTTP }
  return { failure, code: code === failure ? undefined : code }
}

function failureOf(error: unknown): NotConnectedReason | 'broken' {
  if (error instanceof NotConnected) return error.reason
  return 'broken'
}

/** What a request spends its time on, in this order. One on a connection that was kept has the last of them alone. */
export const requestParts = ['dns', 'connect', 'tls', 'wait'] as const

/** See {@link requestParts}. `wait` is from the connection to the end of the answer's headers. */
export type RequestPart = (typeof requestParts)[number]

/** Whole milliseconds; `null` where a request did not come to it, or did not need it. */
export type TimeSplit = Readonly<Record<`${RequestPart}Ms`, number | null>> & {
  /** From the start of the look-up to the end of the headers, or to the failure. */
  readonly totalMs: number
}

/** Times one request. The connection that is made for it tells it what it is at. */
export class RequestTimes {
  readonly #startedAt: number
  readonly #spent = new Map<RequestPart, number>()
  readonly #now: () => number
  #part: RequestPart | undefined = 'wait'
  #since: number

  /** @param now milliseconds, from any origin, of a clock that nobody sets */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#startedAt = now()
    this.#since = this.#startedAt
  }

  /** A connection is made for it: what went by until then is of no part. */
  connecting(): void {
    this.#part = undefined
  }

  /** It is at this part from now on. */
  enter(part: RequestPart): void {
    this.#close()
    this.#part = part
  }

  /** It has ended, or failed. */
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

/** The client tells a connector nothing of the request that it connects for. */
const current = new AsyncLocalStorage<RequestTimes>()

/** Does something for the request that these time. */
function timed<Result>(times: RequestTimes, work: () => Result): Result {
  return current.run(times, work)
}

/** Those of the request that is worked for; `undefined` where none is timed. */
export function currentTimes(): RequestTimes | undefined {
  return current.getStore()
}

/**
 * How long an answer asks us to wait, by its header `Retry-After`: seconds, or an HTTP date.
 * @param nowMs epoch milliseconds, by the clock that a date is held against
 * @returns milliseconds, below zero for a date that is past; `undefined` for what is neither
 */
export function retryAfterMs(text: string, nowMs: number): number | undefined {
  const told = text.trim()
  const askedMs = /^\d+$/.test(told) ? Number(told) * 1_000 : Date.parse(told) - nowMs
  return Number.isNaN(askedMs) ? undefined : askedMs
}
