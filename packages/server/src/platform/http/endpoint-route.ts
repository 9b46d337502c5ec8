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
    /** What the route answers; absent on a route that nobody declared. */
    endpoint?: Endpoint
  }
}

/** A handler as the edge sees it: the types of its endpoint are checked where the two are bound. */
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

/** An endpoint and who answers it. */
export interface BoundEndpoint {
  readonly endpoint: Endpoint
  readonly handle: UntypedHandler
}

/** Binds every endpoint of a table to its handler; a missing one is a type error. */
export function bindEndpoints<const Table extends EndpointTable>(
  endpoints: Table,
  handlers: Handlers<NoInfer<Table>>,
): readonly BoundEndpoint[] {
  const byName: Readonly<Record<string, unknown>> = handlers
  return Object.entries(endpoints).map(([name, endpoint]) => ({ endpoint, handle: byName[name] as UntypedHandler }))
}

/** What every route is made with. */
export interface RouteDependencies {
  readonly authenticate: Authenticators
  readonly eventLoop: EventLoop
  readonly strangers: Pick<Strangers, 'judge' | 'read'>
}

/**
 * The route of an endpoint. The order of judgement: bearer token → bytes of the body → the bearer token once more, or the
 * partner's signature over them → path → query → content type, JSON, shape → whether it came too late → handler.
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

  /** @returns the reply where it goes on by itself; Fastify would wait for it, in vain, where it is over */
  async function serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    request.endpoint = endpoint
    const { id: correlationId, headers, raw } = request
    const remoteAddress = clientAddress(request.ip, raw.socket.remoteAddress)
    const isGone = () => raw.socket.destroyed
    // Before anything else: what comes later, such as the look-up of a token, can last.
    const live = followRequest(eventLoop, isGone, readingOf(raw))
    const incoming: IncomingRequest = { endpoint, correlationId, headers, remoteAddress }
    const turn = thisTurn()
    let caller = ANYONE
    if (judgeBearer) {
      // What is there at once is not waited for: each wait is a round through the queue of microtasks.
      const judged = strangers.judge(request, () => judgeBearer(request, incoming))
      caller = judged instanceof Promise ? await judged : judged
      request.caller = caller
      authenticate.admit?.(incoming, caller)
    }
    const read = auth === 'partner' ? partnerBody(dependencies, request, incoming) : bodyOf(endpoint, raw)
    const rawBody = read instanceof Promise ? await read : read
    live.arrived()
    if (judgeBearer && turn.isOver) {
      // Its credential may have been taken away meanwhile.
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

/** Reads the body of whoever is judged by it. */
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

/** What follows the path of an address, without its question mark: a bank may have to show a secret there. */
function searchOf({ url = '' }: IncomingMessage): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

/** How bearer tokens are judged; `undefined` where none is wanted. */
function bearerJudge(auth: Endpoint['auth'], authenticate: Authenticators) {
  if (auth !== 'api-key' && auth !== 'admin') return undefined
  return ({ raw }: FastifyRequest, incoming: IncomingRequest): Caller | Promise<Caller> => {
    // Of two tokens none is the right one: rules#http.6.
    if (countHeader(raw.rawHeaders, 'authorization') > 1) return Promise.reject(new Refusal('unauthorized'))
    return authenticate[auth](incoming)
  }
}

/** A turn of the event loop; when it is over, what was here when it began has been read. */
interface Turn {
  readonly isOver: boolean
}

let current: Turn | undefined

/** The turn that goes on now: one for all requests that are read in it. */
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
 * The bank's events are stored whatever they say, and so whatever stands in the address that the bank was told. What needs
 * no credentials is called by probes and caches, which add parameters of their own.
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
 * The schemas that an endpoint's JSON answers are written with, by status: a field that is not in them never leaves.
 *
 * `X or null` is told to the serialiser as `nullable`. Left as a union it would validate the value against X at every
 * answer, which takes twice the time, and would answer 500 where a stored text is longer than X allows.
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
 * Reads `Idempotency-Key`.
 * @returns the key without its quotes, or `null` where there is none
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

/** The header by which a client follows one request through its own systems and ours. */
export const CORRELATION_HEADER = 'x-correlation-id'

const FORM = new RegExp(CORRELATION_ID)

/**
 * The request's correlation id: the client's own, as it came, or a new one where it sent none that can be echoed. It never
 * fails a request.
 * @source rules#http.3
 */
export function correlationIdOf({ headers }: { readonly headers: IncomingHttpHeaders }, ids: Ids): string {
  const given = headers[CORRELATION_HEADER]
  return typeof given === 'string' && FORM.test(given) ? given : ids.uuid()
}

/** The longest text of an address: IPv4 in IPv6. */
const ADDRESS_MAX_LENGTH = 45

/**
 * The address of a client: the one that trusted proxies report, where that is an address and nothing else. Whatever else
 * stands in `X-Forwarded-For` a stranger may have written; then it is the address of the connection.
 * @source rules#audit.6
 */
export function clientAddress(reported: string | undefined, ofConnection: string | undefined): string {
  if (isAddress(reported)) return reported
  return isAddress(ofConnection) ? ofConnection : 'unknown'
}

function isAddress(text: string | undefined): text is string {
  // A zone, which only has a meaning on one machine, may be any text.
  return text !== undefined && text.length <= ADDRESS_MAX_LENGTH && !text.includes('%') && isIP(text) !== 0
}
