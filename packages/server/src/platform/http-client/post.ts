import { type Dispatcher, request } from 'undici'
import { errorCode } from '../connection-problem.ts'
import { NotConnected, type NotConnectedReason } from './not-connected.ts'

/**
 * What came of a POST. `broken`: the connection was lost, or what came back is not HTTP. `code` is the one of the system, of
 * TLS or of the client, where there is one.
 */
export type Answer =
  | { readonly statusCode: number; readonly retryAfter: string | undefined }
  | { readonly failure: NotConnectedReason | 'broken'; readonly code: string | undefined }

/** A POST and its bounds. */
export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Wall clock from the start of the lookup to the end of the answer's headers. */
  readonly timeoutMs: number
  /** What is read of the answer's body at most, so that the connection can be used again; nothing of it is kept. */
  readonly responseMaxBytes: number
  readonly responseTimeoutMs: number
}

/** Sends one POST. Redirects are not followed; the status line decides, whatever becomes of the body after it. */
export async function post(dispatcher: Dispatcher, { url, timeoutMs, ...sent }: PostRequest): Promise<Answer> {
  try {
    const { statusCode, headers, body } = await request(url, {
      dispatcher,
      method: 'POST',
      headers: sent.headers,
      body: sent.body,
      signal: AbortSignal.timeout(timeoutMs),
    })
    await body
      .dump({ limit: sent.responseMaxBytes, signal: AbortSignal.timeout(sent.responseTimeoutMs) })
      .catch(() => undefined)
    return { statusCode, retryAfter: [headers['retry-after']].flat()[0] }
  } catch (error) {
    const [failure, code] = [failureOf(error), errorCode(error)]
    return { failure, code: code === failure ? undefined : code }
  }
}

function failureOf(error: unknown): NotConnectedReason | 'broken' {
  if (error instanceof NotConnected) return error.reason
  return error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'broken'
}
