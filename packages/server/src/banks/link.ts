import type { IncomingHttpHeaders } from 'node:http'
import { TLSSocket } from 'node:tls'
import { limits } from '@pixgate/spec'
import { buildConnector, type Dispatcher, Pool } from 'undici'
import { sleeplessClock, startTimer } from '../platform/clock.ts'
import { retryAfterMs } from '../platform/http-client/post.ts'
import { validityOf } from '../platform/secrets.ts'
import type { BankCertificate, PartnerTls } from './certificates.ts'
import type { SendWindow } from './port.ts'

/** HTTP to the bank, bounded in time, size and connections. Reports exactly whether a request may have been read. */
export interface PartnerLink {
  /**
   * Makes one call, once. Never follows a redirect, and never throws because of the network.
   * @param deadline ends the call before its own time limit
   * @param window checked right before the first byte is written
   */
  exchange(call: PartnerCall, deadline?: AbortSignal, window?: SendWindow): Promise<Outcome>
  close(): Promise<void>
}

/** A call: `path` is relative to the bank's address, `body` is sent as JSON. */
export interface PartnerCall {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object
  readonly form?: URLSearchParams
  readonly headers?: Readonly<Record<string, string>>
  /** The header `Authorization`; `null` for none. Absent: the link's token. */
  readonly authorization?: string | null
}

/**
 * A complete answer, the proof that no byte of the request was sent, or neither. `json` is `undefined` if the body is
 * not JSON.
 */
export type Outcome =
  | {
      readonly kind: 'answered'
      readonly httpStatus: number
      readonly json: unknown
      /** `Date`, epoch milliseconds. */
      readonly dateMs?: number
      /** `Retry-After` of a 429 or 503, milliseconds. */
      readonly retryAfterMs?: number
    }
  | {
      readonly kind: 'not sent'
      readonly reason: string
      readonly httpStatus?: number
      /** Remaining pause requested by the bank, milliseconds. */
      readonly retryAfterMs?: number
    }
  | { readonly kind: 'lost'; readonly reason: string }

export interface PartnerLinkOptions {
  /** The bank's address; its path is the prefix of every call's. */
  readonly url: string
  readonly token?: string
  /** From waiting for a connection to the last byte of the answer. */
  readonly timeoutMs: number
  /** Further calls wait for a connection. If their time ends first, they are not sent. */
  readonly connectionsMax?: number
  /** A longer answer is refused. */
  readonly answerMaxBytes?: number
  /** Called with the `Date` of each answer that has one, epoch milliseconds. */
  readonly onDate?: (dateMs: number) => void
  /** Called with the expiry of the bank's certificate at each new connection, epoch milliseconds. */
  readonly onCertificate?: (endsAt: number) => void
  readonly tls?: PartnerTls
  /** Milliseconds of a clock that goes on while the process is suspended. */
  readonly monotonicMs?: () => number
}

/** Opens a link. Connections are made on first use and kept. @source rules#production.6, rules#partner.11 */
export function openPartnerLink(options: PartnerLinkOptions): PartnerLink {
  const monotonicMs = options.monotonicMs ?? sleeplessClock()
  const { origin, pathname } = new URL(options.url)
  const pool = new Pool(origin, {
    connections: options.connectionsMax ?? 64,
    connect: dialerOf(options),
    // HTTP/1.1 only: with several requests on one connection it would be unknown which were read.
    allowH2: false,
    maxResponseSize: options.answerMaxBytes ?? limits.bodyMaxBytes,
    // A single timer covers all phases of a call.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return {
    exchange: (call, deadline, window) => {
      const endsAt = monotonicMs() + options.timeoutMs
      // Also correct after the process was suspended: a connection may be ready before timers fire, and another process
      // may have sent the same order meanwhile (failure-modes#CO-20).
      const isLate = () => monotonicMs() > endsAt || window?.isOver() === true
      const { method, path, authorization = `Bearer ${options.token}` } = call
      const { headers, body } = contentOf(call)
      return send(
        pool,
        {
          method,
          path: pathname.replace(/\/$/, '') + path,
          headers: {
            ...(authorization !== null && { authorization }),
            accept: 'application/json',
            ...call.headers,
            ...headers,
          },
          body,
        },
        { ...options, isLate, deadline },
      )
    },
    close: () => pool.close(),
  }
}

function contentOf({ body, form }: PartnerCall): {
  readonly headers: Record<string, string>
  readonly body: string | null
} {
  if (form) return { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: form.toString() }
  if (body === undefined) return { headers: {}, body: null }
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/**
 * In TLS 1.3 a bank refuses our certificate after the handshake by closing the connection. The refusal is the socket's
 * first error; without this handler only the close would be reported.
 */
function dialerOf({ timeoutMs, tls, onCertificate }: PartnerLinkOptions): buildConnector.connector {
  // Set explicitly, so that no environment variable changes it.
  const dial = buildConnector({
    ...tls,
    timeout: timeoutMs,
    allowH2: false,
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
  })
  return (options, callback) =>
    dial(options, (error, socket) => {
      if (error) return callback(error, null)
      socket.once('error', (refusal) => socket.destroy(refusal))
      const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined
      if (certificate) onCertificate?.(validityOf(certificate).to)
      callback(null, socket)
    })
}

/**
 * The dispatcher calls `onRequestStart` with a connection, right before it writes the first byte. A failure before that
 * (DNS, connect, TLS, no free connection) proves that nothing was sent. Afterwards nothing proves it, not even a reset
 * of a kept connection that the bank may have closed before.
 */
function send(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  {
    timeoutMs,
    isLate,
    deadline,
    onDate,
  }: Pick<PartnerLinkOptions, 'timeoutMs' | 'onDate'> & {
    readonly isLate: () => boolean
    readonly deadline: AbortSignal | undefined
  },
): Promise<Outcome> {
  return new Promise((resolve) => {
    if (deadline?.aborted) return resolve({ kind: 'not sent', reason: 'timeout' })
    let hasGivenUp = false
    let started: Dispatcher.DispatchController | undefined
    let httpStatus = 0
    let headersRead: { readonly dateMs?: number; readonly retryAfterMs?: number } = {}
    const chunks: Buffer[] = []

    function settle(outcome: Outcome): void {
      stopTimer()
      deadline?.removeEventListener('abort', giveUp)
      resolve(outcome)
    }
    function fail(reason: string): void {
      settle({ kind: started ? 'lost' : 'not sent', reason })
    }
    function giveUp(): void {
      hasGivenUp = true
      fail('timeout')
      started?.abort(new Error('timeout'))
    }

    const stopTimer = startTimer(timeoutMs, giveUp)
    deadline?.addEventListener('abort', giveUp)
    dispatcher.dispatch(request, {
      onRequestStart: (controller) => {
        if (hasGivenUp || isLate()) controller.abort(new Error('timeout'))
        else started = controller
      },
      onResponseStart: (_, statusCode, headers) => {
        httpStatus = statusCode
        const dateMs = Date.parse(String(headers.date))
        if (!Number.isNaN(dateMs)) onDate?.(dateMs)
        headersRead = { ...(!Number.isNaN(dateMs) && { dateMs }), ...waitIn(statusCode, headers, dateMs) }
      },
      onResponseData: (_, chunk) => {
        chunks.push(chunk)
      },
      onResponseEnd: () =>
        settle({ kind: 'answered', httpStatus, json: readJson(Buffer.concat(chunks)), ...headersRead }),
      onResponseError: (_, error: NodeJS.ErrnoException) => fail(error.code ?? error.name),
    })
  })
}

const ASKED_TO_WAIT: ReadonlySet<number> = new Set([429, 503])

/** A `Retry-After` date is compared with the bank's own `Date`. */
function waitIn(statusCode: number, headers: IncomingHttpHeaders, dateMs: number): { readonly retryAfterMs?: number } {
  const text = headers['retry-after']
  const askedMs = ASKED_TO_WAIT.has(statusCode) && text !== undefined ? retryAfterMs(text, dateMs) : undefined
  return askedMs === undefined || askedMs <= 0 ? {} : { retryAfterMs: askedMs }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body))
  } catch {
    return undefined
  }
}

/** Remembers `Date` and certificate of the connections to a bank. @param own configured certificates */
export function observeLinks(own: readonly BankCertificate[]) {
  let latestDate: number | undefined
  let bankEndsAt: number | undefined
  return {
    onDate: (dateMs: number) => {
      latestDate = dateMs
    },
    onCertificate: (endsAt: number) => {
      bankEndsAt = endsAt
    },
    latestDate: () => latestDate,
    certificates: (): readonly BankCertificate[] => [
      ...(bankEndsAt === undefined ? [] : [{ of: 'bank', endsAt: bankEndsAt } as const]),
      ...own,
    ],
  }
}
