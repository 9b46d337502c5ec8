import {
  type HeaderSource,
  type SignedRequest,
  type VerifyOptions,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
} from './verify.ts'

/** Handles a verified notification. Return within five seconds. If it throws, the answer is 500, and Pixgate sends it again. */
export type HandleWebhook = (event: WebhookEvent) => unknown

/** More is not read. Notifications are smaller by far. */
const BODY_MAX_BYTES = 262_144

/** @returns the fault to answer; nothing once it is handled @throws of the handler, and for a wrong set-up */
async function faultOf(request: SignedRequest, options: VerifyOptions, handle: HandleWebhook) {
  let event: WebhookEvent
  try {
    event = await verifyWebhook(request, options)
  } catch (error) {
    const isSetUp = error instanceof WebhookError && (error.code === 'body_parsed' || error.code === 'secret_invalid')
    if (!(error instanceof WebhookError) || isSetUp) throw error
    return { code: error.code, status: error.code === 'keys_unavailable' ? 503 : 401 }
  }
  await handle(event)
  return undefined
}

/**
 * A handler that takes a `Request` and answers with a `Response`: a route of Next.js, and of Deno, Bun and workers. For Hono:
 * `app.post('/pix', ({ req }) => route(req.raw))`.
 */
export function webhookRoute(options: VerifyOptions, handle: HandleWebhook): (request: Request) => Promise<Response> {
  return async (request) => {
    const fault = await faultOf(request, options, handle)
    return fault ? new Response(fault.code, fault) : new Response(null, { status: 204 })
  }
}

interface ExpressRequest extends AsyncIterable<Uint8Array> {
  readonly headers: HeaderSource
  readonly body?: unknown
}

interface ExpressResponse {
  writeHead(status: number): { end(text?: string): unknown }
}

/** A handler for Express. Register it before `express.json()`, or behind `express.raw({ type: 'application/json' })`. */
export function expressWebhook(options: VerifyOptions, handle: HandleWebhook) {
  return async (
    request: ExpressRequest,
    response: ExpressResponse,
    next: (error: unknown) => unknown,
  ): Promise<void> => {
    try {
      const body = (request.body ?? (await read(request))) as Uint8Array
      const fault = await faultOf({ headers: request.headers, body }, options, handle)
      response.writeHead(fault?.status ?? 204).end(fault?.code)
    } catch (error) {
      next(error)
    }
  }
}

async function read(request: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > BODY_MAX_BYTES) throw new RangeError('the body of the webhook is too large')
    chunks.push(new Uint8Array(chunk))
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** An instance of Fastify, whose overloads no type without Fastify can name. */
interface FastifyInstance {
  removeContentTypeParser(...parameters: never): unknown
  addContentTypeParser(...parameters: never): unknown
  post(...parameters: never): unknown
}

/** The methods of Fastify that are called. */
interface FastifyApp {
  removeContentTypeParser(type: string): void
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer' },
    parse: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): void
  post(path: string, handle: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): void
}

interface FastifyRequest {
  readonly headers: HeaderSource
  readonly body: unknown
}

interface FastifyReply {
  code(status: number): { send(text?: string): unknown }
}

/** A plugin for Fastify: `app.register(fastifyWebhook(options, handle), { prefix: '/pix' })`. Other routes are not affected. */
export function fastifyWebhook(options: VerifyOptions, handle: HandleWebhook) {
  return async (instance: FastifyInstance): Promise<void> => {
    const app = instance as unknown as FastifyApp
    app.removeContentTypeParser('application/json')
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
    app.post('/', async ({ headers, body }, reply) => {
      const fault = await faultOf({ headers, body: body as Uint8Array }, options, handle)
      return reply.code(fault?.status ?? 204).send(fault?.code)
    })
  }
}
