import { type Dispatcher, Pool } from 'undici'
import type { After } from './benchmark.ts'

/** Sends a request. @returns the text of the answer @throws Error where it is no success */
export type Send = (request: Dispatcher.RequestOptions) => Promise<string>

/** What a merchant sends with a JSON body. */
export function jsonHeaders(apiKey: string) {
  return { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
}

/** As many as a benchmark has callers. */
const CONNECTIONS_MAX = 256

/** Talks to one server, over connections that are kept. */
export function openClient(after: After, url: string): Send {
  const pool = new Pool(url, { connections: CONNECTIONS_MAX })
  after(() => pool.close())
  return async (request) => {
    const { statusCode, body } = await pool.request(request)
    const text = await body.text()
    if (statusCode >= 300) throw new Error(`${request.method} ${request.path}: ${statusCode} ${text}`)
    return text
  }
}
