import { type Dispatcher, Pool } from 'undici'
import type { After } from './benchmark.ts'

/** Sends a request. @returns the text of the answer @throws Error if it is not successful */
export type Send = (request: Dispatcher.RequestOptions) => Promise<string>

/** Headers of a request with a JSON body. */
export function jsonHeaders(apiKey: string) {
  return { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
}

/** The largest number of callers. */
const CONNECTIONS_MAX = 256

/** A client of one server with keep-alive connections. */
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
