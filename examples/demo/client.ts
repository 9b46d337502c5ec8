import { setTimeout as delay } from 'node:timers/promises'

/** A minimal client of Pixgate: JSON over HTTP with a bearer token. */
export interface Client {
  get<Body>(path: string): Promise<Body>
  post<Body>(path: string, body?: object): Promise<Body>
  delete(path: string): Promise<void>
}

const TIMEOUT_MS = 15_000

const TRIES = 5

/** Creates a client. A response other than 2xx throws an Error with the response body. */
export function createClient(url: string, token: string): Client {
  const send = (method: string, path: string, body?: object) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  async function call(method: string, path: string, body?: object) {
    let response = await send(method, path, body)
    // 503: Pixgate is busy or starting, and Retry-After says when to try again.
    for (let tries = 1; response.status === 503 && tries < TRIES; tries++) {
      await delay(Number(response.headers.get('retry-after') ?? 1) * 1_000)
      response = await send(method, path, body)
    }
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
  }
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    delete: (path) => call('DELETE', path),
  }
}
