import { Readable } from 'node:stream'
import { limits } from '@pixgate/spec'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Bank } from '../bank.ts'
import { isInstant } from '../instants.ts'
import type { Liar } from '../lies.ts'
import type { Account } from './account.ts'
import type { CallbackSender } from './callbacks.ts'
import type { Certificates } from './certificates.ts'
import { cobRoutes } from './cob-routes.ts'
import { sendError } from './conventions.ts'
import { efiRoutes } from './efi-routes.ts'
import { locRoutes } from './loc-routes.ts'
import { pixRoutes } from './pix-routes.ts'
import { Problem, sendProblem, sendUnknownPath } from './problems.ts'
import { type Client, Tokens, tokenRoute } from './tokens.ts'
import { webhookRoutes } from './webhook-routes.ts'

/** A request and its response. */
export interface Exchange {
  readonly method: string
  /** Includes the query string. */
  readonly path: string
  readonly body: unknown
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** Parsed JSON, or the text if it is not JSON or was truncated. */
  readonly answer: unknown
}

/** Dependencies of the API Pix server. */
export interface ApiPixServerOptions {
  readonly certificates: Certificates
  readonly client: Client
  /** Path before those of the standard, such as `/pix`. */
  readonly pathPrefix: string
  /** Sends the test request when a webhook is registered. */
  readonly sender: Pick<CallbackSender, 'attempt'>
  /** Called with each request and its response. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined
  /** Called with the error behind each 500 response. */
  readonly warn: (message: string) => void
}

/**
 * Builds the HTTPS server of API Pix; it does not listen yet. Clients need a certificate of the bank's CA (mTLS) and a
 * token with the endpoint's scope.
 * @source BCB, API Pix; rules#sandbox.14
 */
export function createApiPixServer(
  account: Account,
  { certificates, client, pathPrefix, sender, onExchange, warn }: ApiPixServerOptions,
): FastifyInstance {
  const { bank } = account
  const { authority, server } = certificates
  const https = { cert: server.certificate, key: server.key, ca: authority.certificate, requestCert: true }
  const app = apiPixApp(bank, { ...https, rejectUnauthorized: true }, warn, (url) => standardPath(url, pathPrefix))
  app.server.on('connection', (socket) => {
    if (bank.liar.tells('handshakeRefused')) socket.destroy()
  })
  const tokens = new Tokens({ client, clock: bank.clock, liar: bank.liar })
  app.addHook('onRequest', async (request, reply) => {
    const refused = transportLie(bank.liar, request, reply)
    if (refused) return refused
    return authorise(tokens, request, reply)
  })
  app.addHook('onSend', async (_request, reply, payload) =>
    bank.liar.tells('cutBody') ? cut(reply, payload) : payload,
  )
  if (onExchange) {
    app.addHook('onSend', async (request, reply, payload) => {
      onExchange(exchangeOf(request, reply, payload))
      return payload
    })
  }
  tokenRoute(app, tokens)
  cobRoutes(app, account)
  locRoutes(app, account)
  pixRoutes(app, account)
  webhookRoutes(app, account, sender)
  efiRoutes(app, account)
  return app
}

/** An HTTPS server with API Pix's error format. Every response waits until the book is on disk. */
export function apiPixApp(
  bank: Bank,
  https: object,
  warn: (message: string) => void,
  pathOf: (url: string) => string = (url) => url,
): FastifyInstance {
  // Only the type of the raw server differs, which routes do not use.
  const app = fastify({
    https,
    bodyLimit: limits.bodyMaxBytes,
    forceCloseConnections: true,
    rewriteUrl: ({ url = '/' }) => pathOf(url),
    genReqId: () => bank.chance.uuid(),
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false, allErrors: true },
      onCreate: (ajv) => ajv.addFormat('date-time', isInstant),
    },
  }) as unknown as FastifyInstance
  app.addHook('onSend', async (_request, reply) => {
    const { latencyMs } = bank.switchboard.behavior
    if (latencyMs > 0) await bank.clock.sleep(latencyMs)
    // Charges expire by this clock.
    reply.header('date', new Date(bank.clock.now()).toUTCString())
    await bank.book.durable()
  })
  app.setNotFoundHandler(async (request, reply) => sendUnknownPath(reply, request))
  app.setErrorHandler<Error>((error, request, reply) => sendError(error, request, reply, warn))
  return app
}

/**
 * Path of a request as this server has it: without the prefix, and with version 2 of the standard's resources, because
 * some banks have others (Santander `/v1/cob`, Sicredi `/v3/cob/{txid}`). Paths without the prefix are unknown, except
 * that of the token.
 */
function standardPath(url: string, prefix: string): string {
  if (url.startsWith('/oauth/')) return url
  if (!url.startsWith(`${prefix}/`)) return `/outside${url}`
  return url.slice(prefix.length).replace(/^\/v\d+\/(?=(?:cob|loc|pix|webhook)\b)/, '/v2/')
}

function exchangeOf({ method, url, body }: FastifyRequest, reply: FastifyReply, payload: unknown): Exchange {
  const isText = typeof payload === 'string' || Buffer.isBuffer(payload)
  const text = isText ? String(payload) : ''
  const isJson = String(reply.getHeader('content-type')).includes('json')
  const answer = isJson && isText ? JSON.parse(text) : text
  return { method, path: url, body, status: reply.statusCode, headers: reply.getHeaders(), answer }
}

/** Checks the token and its scope. Of 401 and 403 the standard only defines the problem type. */
function authorise(tokens: Tokens, request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  const { conventions } = request.routeOptions.config
  if (conventions === undefined) return undefined
  const [, token = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? []
  const scopes = tokens.scopesOf(token)
  if (scopes === undefined) {
    const detail = 'O token de acesso falta, expirou ou não é deste banco.'
    reply.header('www-authenticate', 'Bearer error="invalid_token"')
    return sendProblem(reply, new Problem('AcessoNegado', [], 401, detail), request.id)
  }
  if (scopes.includes(conventions.scope)) return undefined
  const detail = `O token de acesso não tem o escopo ${conventions.scope}.`
  return sendProblem(reply, new Problem('AcessoNegado', [], 403, detail), request.id)
}

/** Applies the lies that precede the handling of a request. @source rules#sandbox.16 */
function transportLie(liar: Liar, { id }: FastifyRequest, reply: FastifyReply): FastifyReply | undefined {
  if (liar.tells('certificateRefused')) {
    return sendProblem(reply, new Problem('AcessoNegado', [], 403, 'O certificado não é deste participante.'), id)
  }
  if (liar.tells('htmlAnswer')) {
    return reply.code(502).type('text/html').send('<html><body><h1>502 Bad Gateway</h1></body></html>')
  }
  if (!liar.tells('tooManyRequests')) return undefined
  const problem = new Problem('ServicoIndisponivel', [], 429, 'Muitas requisições.')
  return sendProblem(reply.header('retry-after', '1'), problem, id)
}

/** Sends half of the body and closes the connection, although `content-length` announces all of it. */
function cut(reply: FastifyReply, payload: unknown): unknown {
  const bytes = typeof payload === 'string' || payload instanceof Buffer ? Buffer.from(payload) : undefined
  if (!bytes?.length) return payload
  reply.header('content-length', bytes.length)
  return Readable.from(
    (async function* () {
      yield bytes.subarray(0, bytes.length >> 1)
      throw new Error('cut')
    })(),
  )
}
