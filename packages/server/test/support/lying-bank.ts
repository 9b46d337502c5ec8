import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import type { ApiPix } from '@pixgate/bank-simulator'

/** A bank of the standard that tells what a test makes of the truth; what it does, and its book, stay as they are. */

/** A call, and what it is answered. */
export interface Told {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a lie may be of any shape.
  readonly body: any
}

/** What is told in place of the truth; `undefined`: the truth. @param call makes another call of the bank itself */
export type Telling = (
  truth: Told,
  call: (method: string, path: string, body: object) => Promise<Told>,
) => Partial<Pick<Told, 'status' | 'body'>> | undefined | Promise<Partial<Pick<Told, 'status' | 'body'>> | undefined>

/** The way to it. */
export interface LyingBank {
  /** For a world. */
  readonly reachBank: (apiPix: ApiPix) => string
  /** From now on each answer is what this makes of it; nothing: the truth. */
  tell(telling?: Telling): void
}

const TRUTH: Telling = () => undefined

/** Stands between a service and its bank; it goes with the test. */
export async function lyingBank(t: TestContext): Promise<LyingBank> {
  let bank: ApiPix | undefined
  let telling = TRUTH
  const server = createServer({ requestCert: true, rejectUnauthorized: true }, async (incoming, response) => {
    if (!bank) throw new Error('no world has this bank')
    const { method = 'GET', url: path = '/', headers } = incoming
    const forward = { apiPix: bank, headers }
    const sent = await buffer(incoming)
    const { told, date } = await answerOf(forward, method, path, sent)
    const call = async (...[method, path, body]: Parameters<Parameters<Telling>[1]>) =>
      (await answerOf(forward, method, path, Buffer.from(JSON.stringify(body)))).told
    const { status, body } = { ...told, ...(await telling(told, call)) }
    const type = status < 400 ? 'application/json' : 'application/problem+json'
    response.writeHead(status, { date, 'content-type': type }).end(body === undefined ? '' : JSON.stringify(body))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    reachBank: (apiPix) => {
      bank = apiPix
      const { authority, server: own } = apiPix.certificates
      server.setSecureContext({ cert: own.certificate, key: own.key, ca: authority.certificate })
      return `https://localhost:${(server.address() as AddressInfo).port}`
    },
    tell: (next = TRUTH) => {
      telling = next
    },
  }
}

interface Forward {
  readonly apiPix: ApiPix
  readonly headers: IncomingHttpHeaders
}

/** Asks the bank itself, as who called. */
async function answerOf(
  { apiPix, headers }: Forward,
  method: string,
  path: string,
  sent: Buffer,
): Promise<{ readonly told: Told; readonly date: string }> {
  const { client, authority } = apiPix.certificates
  const { authorization, 'content-type': type = 'application/json' } = headers
  const call = request(apiPix.url + path, {
    method,
    cert: client.certificate,
    key: client.key,
    ca: authority.certificate,
    headers: {
      ...(authorization && { authorization }),
      ...(sent.length > 0 && { 'content-type': type, 'content-length': sent.length }),
    },
  })
  call.end(sent)
  const [answer] = await once(call, 'response')
  const text = (await buffer(answer)).toString()
  // Some calls are answered by nothing.
  const body = text === '' ? undefined : JSON.parse(text)
  return { told: { method, path, status: answer.statusCode, body }, date: answer.headers.date }
}
