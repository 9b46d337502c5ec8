import type { IncomingHttpHeaders } from 'node:http'
import { type Dispatcher, errors } from 'undici'
import { errorCode } from '../connection-problem.ts'
import { startTimer } from '../timer.ts'
import { NotConnected, type NotConnectedReason } from './not-connected.ts'
import { RequestTimes, type TimeSplit, timed } from './request-times.ts'

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
