import { Pixgate, type PixgateOptions } from '../../src/index.ts'

/** What a scripted server does with a request. */
export type Step = (sent: Sent) => Response | Promise<Response>

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it sends, and asserts on it.
  readonly body: any
  readonly signal: AbortSignal
}

/** A client whose server follows a script; no time passes. The last step is repeated. */
export function scripted(steps: readonly Step[], options: PixgateOptions = {}) {
  const sent: Sent[] = []
  const slept: number[] = []
  let now = 0
  const pixgate = new Pixgate({
    url: 'http://pixgate.test',
    apiKey: 'pix_test_0',
    runtime: {
      now: () => now,
      random: () => 0.5,
      sleep: async (ms) => {
        slept.push(ms)
        now += ms
      },
    },
    fetch: async (url, { method = 'GET', headers, body, signal } = {}) => {
      const { pathname, search } = new URL(String(url))
      const request: Sent = {
        method,
        path: pathname + search,
        headers: new Headers(headers),
        body: body === undefined ? undefined : JSON.parse(String(body)),
        signal: signal as AbortSignal,
      }
      sent.push(request)
      const step = steps[Math.min(sent.length, steps.length) - 1]
      if (!step) throw new Error('the script is empty')
      return step(request)
    },
    ...options,
  })
  return { pixgate, sent, slept }
}

/** Answers as Pixgate does, with the correlation id of the request. */
export function answers(status: number, body: unknown, headers: Record<string, string> = {}): Step {
  return (sent) => {
    const echo = { 'x-correlation-id': sent.headers.get('x-correlation-id') ?? '' }
    return new Response(body === undefined ? null : JSON.stringify(body), { status, headers: { ...echo, ...headers } })
  }
}

export function refuses(status: number, code: string, more: object = {}, headers: Record<string, string> = {}): Step {
  return answers(status, { code, detail: `refused: ${code}`, status, errors: [], ...more }, headers)
}

/** The connection breaks, as `fetch` of Node.js reports it. */
export function breaks(code: string): Step {
  return () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })
  }
}

/** No answer comes, as on a connection whose other end is gone: only its signal ends the request. */
export const hangs: Step = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
