import { addAbortSignal, type Readable } from 'node:stream'
import { type Dispatcher, errors, request } from 'undici'
import { errorCode } from '../connection-problem.ts'
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
export async function post(dispatcher: Dispatcher, { url, timeoutMs, ...sent }: PostRequest): Promise<Exchange> {
  const times = new RequestTimes()
  try {
    const { statusCode, headers, body } = await timed(times, () =>
      request(url, {
        dispatcher,
        method: 'POST',
        headers: sent.headers,
        body: sent.body,
        signal: AbortSignal.timeout(timeoutMs),
      }),
    )
    const split = times.split()
    const beginning = await beginningOf(body, sent)
    return { answer: { statusCode, retryAfter: [headers['retry-after']].flat()[0] }, times: split, beginning }
  } catch (error) {
    return { answer: failed(error), times: times.split(), beginning: new Uint8Array() }
  }
}

/** Reads a body to its end, within its bounds; beyond them the connection is given up. */
async function beginningOf(
  body: Readable,
  { responseMaxBytes, responseTimeoutMs }: Pick<PostRequest, 'responseMaxBytes' | 'responseTimeoutMs'>,
): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of addAbortSignal(AbortSignal.timeout(responseTimeoutMs), body)) {
      if (bytes < BEGINNING_BYTES) chunks.push(chunk)
      bytes += chunk.length
      if (bytes > responseMaxBytes) break
    }
  } catch {
    // It broke off, or took too long: what came of it is what there is.
  }
  return Buffer.concat(chunks).subarray(0, BEGINNING_BYTES)
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
  return error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'broken'
}
