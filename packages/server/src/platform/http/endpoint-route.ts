import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { CORRELATION_ID, type Endpoint, IDEMPOTENCY_KEY, Refusal } from '@pixgate/spec'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import type { Ids } from '../ids.ts'
import { followRequest, refuseLapsed } from '../live-request.ts'
import type { EventLoop } from '../runtime.ts'
import type { Authenticators, Caller, EndpointTable, Handlers, IncomingRequest, RequestContext } from './handler.ts'
import {
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
  readonly strangers: Pick<Strangers, 'judge' | 'read'>
}

/**
 * The route of an endpoint. Order of checks: bearer token → bytes of the body → bearer token again, or the partner's
 * signature → path → query → content type, JSON, shape → deadline → handler.
 * @source rules#http.5, rules#http.14
 */
export function endpointRoute({ endpoint, handle }: BoundEndpoint, dependencies: RouteDependencies): RouteOptions {
  const { authenticate, eventLoop, strangers } = dependencies
  const { auth, responses } = endpoint
  const readParams = endpoint.params && compileParamsReader(endpoint.params)
  const readQuery = queryReaderOf(endpoint)
  const readJson = jsonReaderOf(endpoint)
  const judgeBearer = bearerJudge(auth, authenticate)
  const changesSomething = endpoint.method !== 'GET' && (auth === 'api-key' || auth === 'admin')

  /** @returns the reply while Fastify must still wait for it, or nothing once it was sent */
  async function serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    request.endpoint = endpoint
    const { id: correlationId, headers, raw } = request
    const remoteAddress = clientAddress(request.ip, raw.socket.remoteAddress)
    const isGone = () => raw.socket.destroyed
    // Followed from here on: later steps, such as looking up a token, can take long.
    const live = followRequest(eventLoop, isGone, readingOf(raw))
    const incoming: IncomingRequest = { endpoint, correlationId, headers, remoteAddress }
    const turn = thisTurn()
    let caller = ANYONE
    if (judgeBearer) {
      // Avoids `await` for synchronous results: each one costs a round through the microtask queue.
      const judged = strangers.judge(request, () => judgeBearer(request, incoming))
      caller = judged instanceof Promise ? await judged : judged
      request.caller = caller
      authenticate.admit?.(incoming, caller)
    }
    const read = auth === 'partner' ? partnerBody(dependencies, request, incoming) : bodyOf(endpoint, raw)
    const rawBody = read instanceof Promise ? await read : read
    live.arrived()
    if (judgeBearer && turn.isOver) {
      // The credential may have been revoked meanwhile.
      caller = await strangers.judge(request, () => judgeBearer(request, incoming))
    }
    if (auth === 'partner') {
      const search = searchOf(raw)
      caller = await strangers.judge(request, () => authenticate.partner({ ...incoming, rawBody, search }))
    }

    const params = readParams?.(request.params)
    const query = readQuery?.(request.query as QueryText)
    const body = readJson?.(rawBody, headers)
    if (changesSomething) refuseLapsed(live)
    const context = { ...incoming, caller, live, ageMs: live.ageMs, isGone, rawBody }
    const answer = await handle({ params, query, body, context })
    if (judgeBearer && endpoint.isHeldBack) await strangers.judge(request, () => judgeBearer(request, incoming))
    sendAnswer(reply, responses[answer.status]?.contentType, answer)
    return responses[answer.status]?.isStreamed ? reply : undefined
  }

  return {
    method: endpoint.method,
    url: endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    schema: { response: responseSchemas(endpoint) },
    config: { endpoint },
    handler: serve,
  }
}

/** Reads the body before its signature is checked. */
function partnerBody(
  { authenticate, strangers }: RouteDependencies,
  request: FastifyRequest,
  incoming: IncomingRequest,
): Promise<Buffer> {
  const read = async () => bodyOf(incoming.endpoint, request.raw)
  return strangers.read(request, read).catch((error: unknown) => {
    authenticate.onUnreadPartner?.(incoming, error)
    throw error
  })
}

function sendAnswer(
  reply: FastifyReply,
  contentType: string | undefined,
  { status, headers, body }: Awaited<ReturnType<UntypedHandler>>,
): void {
  if (contentType) reply.type(contentType)
  if (headers) reply.headers(headers)
  reply.code(status).send(body)
}

/** The query string without its question mark: some banks send a secret there. */
function searchOf({ url = '' }: IncomingMessage): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

function bearerJudge(auth: Endpoint['auth'], authenticate: Authenticators) {
  if (auth !== 'api-key' && auth !== 'admin') return undefined
  return ({ raw }: FastifyRequest, incoming: IncomingRequest): Caller | Promise<Caller> => {
    // Two tokens are refused: rules#http.6.
    if (countHeader(raw.rawHeaders, 'authorization') > 1) return Promise.reject(new Refusal('unauthorized'))
    return authenticate[auth](incoming)
  }
}

/** A turn of the event loop. Once over, all bytes that had arrived at its start were read. */
interface Turn {
  readonly isOver: boolean
}

let current: Turn | undefined

/** The current turn, shared by all requests read in it. */
function thisTurn(): Turn {
  if (current) return current
  const turn = { isOver: false }
  current = turn
  setImmediate(() => {
    turn.isOver = true
    current = undefined
  })
  return turn
}

const ANYONE: Caller = { credential: 'none', id: 'anyone' }

/**
 * Bank events are stored whatever they contain, whatever the query of the callback's address. Endpoints without
 * credentials are called by probes and caches, which add parameters.
 */
function queryReaderOf({ auth, query }: Endpoint): ((query: QueryText) => unknown) | undefined {
  if (query) return compileQueryReader(query)
  return auth === 'partner' || auth === 'none' ? undefined : refuseParameters
}

const readNoParameters = compileQueryReader(NOTHING)

function refuseParameters(query: QueryText): undefined {
  for (const _ in query) return void readNoParameters(query)
  return undefined
}

function bodyOf({ body }: Endpoint, request: IncomingMessage): Buffer | Promise<Buffer> {
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
 * `X or null` becomes `nullable`: as a union the serialiser would validate the value against X in every answer. That
 * takes twice the time and would answer 500 where a stored text is longer than X allows.
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

const KEY = new RegExp(IDEMPOTENCY_KEY)

/**
 * @returns the key without its quotes, or `null` without the header
 * @throws validation_error (400) malformed or repeated
 * @source rules#idempotency.1
 */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const text = headers['idempotency-key']
  if (text === undefined) return null
  const match = typeof text === 'string' ? KEY.exec(text) : null
  const key = match?.[1] ?? match?.[2]
  if (key === undefined) {
    const message = 'Idempotency-Key must be 1 to 255 printable characters, sent once'
    throw new Refusal('validation_error', { message, fields: [{ field: 'Idempotency-Key', code: 'pattern', message }] })
  }
  return key
}

/** Header by which a client follows a request through its own systems and ours. */
export const CORRELATION_HEADER = 'x-correlation-id'

const FORM = new RegExp(CORRELATION_ID)

/**
 * The client's correlation id, or a new one when it sent none that can be echoed. Never fails a request.
 * @source rules#http.3
 */
export function correlationIdOf({ headers }: { readonly headers: IncomingHttpHeaders }, ids: Ids): string {
  const given = headers[CORRELATION_HEADER]
  return typeof given === 'string' && FORM.test(given) ? given : ids.uuid()
}

/** Longest address: IPv4 in IPv6. */
const ADDRESS_MAX_LENGTH = 45

/**
 * The client's address as trusted proxies report it, if it is a plain address. Anything else in `X-Forwarded-For` may
 * be forged, so the connection's address counts instead.
 * @source rules#audit.6
 */
export function clientAddress(reported: string | undefined, ofConnection: string | undefined): string {
  if (isAddress(reported)) return reported
  return isAddress(ofConnection) ? ofConnection : 'unknown'
}

function isAddress(text: string | undefined): text is string {
  // A zone may be any text, and means something on one machine only.
  return text !== undefined && text.length <= ADDRESS_MAX_LENGTH && !text.includes('%') && isIP(text) !== 0
}
