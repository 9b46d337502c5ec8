import type { IncomingMessage } from 'node:http'
import { type Endpoint, Refusal } from '@pixgate/spec'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { followRequest, refuseLapsed } from '../live-request.ts'
import type { EventLoop } from '../runtime.ts'
import type { Authenticators, Caller, EndpointTable, Handlers, IncomingRequest, RequestContext } from './handler.ts'
import {
  clientAddress,
  compileJsonReader,
  compileQueryReader,
  compileValidator,
  type JsonReader,
  NOTHING,
  type QueryText,
  readBody,
  readUnwantedBody,
  refuseFaults,
  refuseUnwantedBody,
} from './request.ts'
import { countHeader, readingOf } from './server.ts'
import type { Strangers } from './strangers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint
  }
}

/** A handler without the types of its endpoint, which are checked at the binding. */
export type UntypedHandler = (input: {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly context: RequestContext
}) => Promise<{
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}>

export interface BoundEndpoint {
  readonly endpoint: Endpoint
  readonly handle: UntypedHandler
  /** Headers of each of its answers, refusals included. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Binds every endpoint of a table to its handler; a missing handler is a type error. */
export function bindEndpoints<const Table extends EndpointTable>(
  endpoints: Table,
  handlers: Handlers<NoInfer<Table>>,
): readonly BoundEndpoint[] {
  const byName: Readonly<Record<string, unknown>> = handlers
  return Object.entries(endpoints).map(([name, endpoint]) => ({ endpoint, handle: byName[name] as UntypedHandler }))
}

export interface RouteDependencies {
  readonly authenticate: Authenticators
  readonly eventLoop: EventLoop
  readonly strangers: Pick<Strangers, 'guard' | 'read'>
}

/**
 * The route of an endpoint. Order of checks: bearer token → body → bearer token again if the body came later, or the
 * bank's signature → path → query → content type, JSON, schema → deadline → handler → bearer token again after a long
 * poll.
 * @source rules#http.5, rules#http.14
 */
export function endpointRoute(
  { endpoint, handle, headers: own }: BoundEndpoint,
  dependencies: RouteDependencies,
): RouteOptions {
  const { authenticate, eventLoop, strangers } = dependencies
  const { auth, responses } = endpoint
  const readParams = endpoint.params && compileParamsReader(endpoint.params)
  const readQuery = queryReaderOf(endpoint)
  const readJson = jsonReaderOf(endpoint)
  const authenticateBearer = bearerAuthenticator(auth, authenticate)
  // Requests of clients and operators that change something lapse; the bank's events are stored however late.
  const lapses = endpoint.method !== 'GET' && (auth === 'api-key' || auth === 'admin')

  async function serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    request.endpoint = endpoint
    if (own) reply.headers(own)
    const { headers, raw } = request
    const isGone = () => raw.socket.destroyed
    // Starts before authentication, which can be slow.
    const live = followRequest(eventLoop, isGone, readingOf(raw))
    const incoming = incomingOf(endpoint, request)
    const checkBearer =
      authenticateBearer && (() => strangers.guard(request, () => authenticateBearer(request, incoming)))
    let caller = ANYONE
    if (checkBearer) {
      // Avoids `await` for synchronous results: each one costs a round through the microtask queue.
      const authenticated = checkBearer()
      caller = authenticated instanceof Promise ? await authenticated : authenticated
      request.caller = caller
      authenticate.authorize?.(incoming, caller)
    }
    const read = auth === 'partner' ? readSignedBody(dependencies, request, incoming) : readRawBody(endpoint, raw)
    const rawBody = read instanceof Promise ? await read : read
    live.markArrived()
    // The credential may have been revoked while the body arrived.
    if (checkBearer && read instanceof Promise) caller = await checkBearer()
    if (auth === 'partner') {
      const signed = { ...incoming, rawBody, search: searchOf(raw) }
      caller = await strangers.guard(request, () => authenticate.partner(signed))
    }
    const params = readParams?.(request.params)
    const query = readQuery?.(request.query as QueryText)
    const body = readJson?.(rawBody, headers)
    if (lapses) refuseLapsed(live)
    const context = { ...incoming, caller, live, ageMs: live.ageMs, isGone, rawBody }
    const answer = await handle({ params, query, body, context })
    // The credential may have been revoked meanwhile.
    if (checkBearer && endpoint.isLongPoll) await checkBearer()
    return sendAnswer(reply, responses[answer.status], answer)
  }

  return {
    method: endpoint.method,
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    schema: { response: responseSchemas(endpoint) },
    config: { endpoint },
    handler: serve,
  }
}

function incomingOf(endpoint: Endpoint, { id: correlationId, headers, ip, raw }: FastifyRequest): IncomingRequest {
  const { remoteAddress, localPort } = raw.socket
  return { endpoint, correlationId, headers, remoteAddress: clientAddress(ip, remoteAddress), localPort }
}

/** Reads the body before its signature is checked. */
function readSignedBody(
  { authenticate, strangers }: RouteDependencies,
  request: FastifyRequest,
  incoming: IncomingRequest,
): Promise<Buffer> {
  const read = async () => readRawBody(incoming.endpoint, request.raw)
  return strangers.read(request, read).catch((error: unknown) => {
    authenticate.onUnreadPartner?.(incoming, error)
    throw error
  })
}

/** @returns the reply of a streamed answer, so that Fastify waits for its end; otherwise nothing */
function sendAnswer(
  reply: FastifyReply,
  documented: Endpoint['responses'][number] | undefined,
  { status, headers, body }: Awaited<ReturnType<UntypedHandler>>,
): FastifyReply | undefined {
  if (documented?.contentType) reply.type(documented.contentType)
  if (headers) reply.headers(headers)
  reply.code(status).send(body)
  return documented?.isStreamed ? reply : undefined
}

/** The query string without its question mark: some banks send a secret there. */
function searchOf({ url = '' }: IncomingMessage): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

function bearerAuthenticator(auth: Endpoint['auth'], authenticate: Authenticators) {
  if (auth !== 'api-key' && auth !== 'admin') return undefined
  return ({ raw }: FastifyRequest, incoming: IncomingRequest): Caller | Promise<Caller> => {
    // A repeated credential is refused. @source rules#http.6
    if (countHeader(raw.rawHeaders, 'authorization') > 1) return Promise.reject(new Refusal('unauthorized'))
    return authenticate[auth](incoming)
  }
}

const ANYONE: Caller = { credential: 'none', id: 'anyone' }

/**
 * Bank callbacks accept any query, so that no event is lost over a parameter. Public endpoints do too: probes and caches
 * add parameters.
 */
function queryReaderOf({ auth, query }: Endpoint): ((query: QueryText) => unknown) | undefined {
  if (query) return compileQueryReader(query)
  return auth === 'partner' || auth === 'none' ? undefined : refuseParameters
}

const readNoParameters = compileQueryReader(NOTHING)

function refuseParameters(query: QueryText): undefined {
  // Skips the validator for an empty query without allocating its keys.
  for (const _ in query) return void readNoParameters(query)
  return undefined
}

function readRawBody({ body }: Endpoint, request: IncomingMessage): Buffer | Promise<Buffer> {
  return body ? readBody(request) : readUnwantedBody(request)
}

function jsonReaderOf({ auth, body }: Endpoint): JsonReader | undefined {
  if (!body) return refuseUnwantedBody
  return auth === 'partner' ? undefined : compileJsonReader(body)
}

function compileParamsReader(schema: TSchema): (params: unknown) => unknown {
  const validate = compileValidator(schema)
  return (params) => {
    refuseFaults(validate(params))
    return params
  }
}

/**
 * Response schemas of an endpoint by status. Fields outside them are never sent.
 *
 * `X or null` becomes `nullable: true`. For an `anyOf`, the serialiser validates each value against X: twice the time,
 * and a 500 for stored text longer than X allows.
 */
function responseSchemas({ responses }: Endpoint): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(responses)
      .filter(([, { schema, contentType }]) => schema && !contentType)
      .map(([status, { schema }]) => [status, withNullable(schema)]),
  )
}

function withNullable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withNullable)
  if (typeof schema !== 'object' || schema === null) return schema
  const rewritten = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withNullable(value)]))
  const { anyOf, ...rest } = rewritten
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1]?.type !== 'null') return rewritten
  return { ...rest, ...anyOf[0], nullable: true }
}
