import { type AddressInfo, connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { endpoint, idOf, nullable, Refusal, text, utcDay, uuid } from '@pixgate/spec'
import { pino } from 'pino'
import { Type } from 'typebox'
import { type BoundEndpoint, bindEndpoints } from '../../../src/platform/http/endpoint-route.ts'
import type { Authenticators, Handlers } from '../../../src/platform/http/handler.ts'
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../../src/platform/http/server.ts'
import { AWAKE } from '../../support/live-request.ts'

/**
 * A server of things: endpoints of every kind the edge knows, with handlers that tell what reached them.
 */

const thing = Type.Object({
  id: Type.String(),
  name: Type.String(),
  note: nullable(Type.String({ maxLength: 5 })),
})
const things = { 200: { description: 'A thing', schema: thing } } as const

export const endpoints = {
  createThing: endpoint({
    id: 'createThing',
    method: 'POST',
    path: '/things',
    auth: 'api-key',
    scope: 'charge',
    tag: 'Things',
    summary: 'Make a thing',
    body: Type.Object(
      {
        name: text(10),
        count: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
        tags: Type.Optional(
          Type.Array(Type.Enum(['red', 'blue', 'green']), { minItems: 1, maxItems: 2, uniqueItems: true }),
        ),
        owner: Type.Optional(
          Type.Object({ id: uuid, born: Type.Optional(utcDay('Birthday')) }, { additionalProperties: false }),
        ),
        note: Type.Optional(nullable(Type.String({ pattern: '^[a-z]+$' }))),
        maker: Type.Optional(nullable(Type.Object({ name: text(10) }, { additionalProperties: false }))),
      },
      { additionalProperties: false },
    ),
    responses: { 201: { description: 'Made', schema: thing } },
    errors: [],
  }),
  getThing: endpoint({
    id: 'getThing',
    method: 'GET',
    path: '/things/{id}',
    auth: 'api-key',
    scope: 'charge',
    tag: 'Things',
    summary: 'Read a thing',
    params: idOf('cash-in'),
    responses: things,
    errors: ['not_found'],
  }),
  listThings: endpoint({
    id: 'listThings',
    method: 'GET',
    path: '/things',
    auth: 'api-key',
    scope: 'charge',
    tag: 'Things',
    summary: 'List things',
    query: Type.Object(
      {
        limit: Type.Optional(Type.Integer({ minimum: -5, maximum: 100 })),
        active: Type.Optional(Type.Boolean()),
        kind: Type.Optional(Type.Union([Type.Literal('BIG'), Type.Literal('SMALL')])),
        name: Type.Optional(Type.String()),
      },
      { additionalProperties: false },
    ),
    responses: { 200: { description: 'What was asked', schema: Type.Object({ asked: Type.Unknown() }) } },
    errors: [],
  }),
  deleteThing: endpoint({
    id: 'deleteThing',
    method: 'DELETE',
    path: '/things/{id}',
    auth: 'api-key',
    scope: 'charge',
    tag: 'Things',
    summary: 'Remove a thing',
    params: idOf('cash-in'),
    responses: { 204: { description: 'Removed' } },
    errors: ['not_found'],
  }),
  touchThing: endpoint({
    id: 'touchThing',
    method: 'POST',
    path: '/touch',
    auth: 'admin',
    role: 'admin',
    tag: 'Things',
    summary: 'Touch everything',
    responses: things,
    errors: [],
  }),
  setMood: endpoint({
    id: 'setMood',
    method: 'PUT',
    path: '/mood',
    auth: 'none',
    tag: 'Things',
    summary: 'Set the mood',
    body: Type.Object({ mood: Type.Optional(text(10)) }, { additionalProperties: false }),
    responses: { 200: { description: 'Set', schema: Type.Object({ mood: Type.Optional(Type.String()) }) } },
    errors: [],
  }),
  receiveEvent: endpoint({
    id: 'receiveEvent',
    method: 'POST',
    path: '/events',
    auth: 'partner',
    tag: 'Partner',
    summary: 'Take an event',
    body: Type.Object({ event: Type.String() }),
    responses: { 200: { description: 'Bytes', schema: Type.Object({ hex: Type.String() }) } },
    errors: [],
  }),
  getKey: endpoint({
    id: 'getKey',
    method: 'GET',
    path: '/key',
    auth: 'none',
    tag: 'Keys',
    summary: 'A key in PEM',
    responses: { 200: { description: 'PEM', contentType: 'application/x-pem-file', schema: Type.String() } },
    errors: [],
  }),
  getHealth: endpoint({
    id: 'getHealth',
    method: 'GET',
    path: '/healthz',
    auth: 'none',
    tag: 'Health',
    summary: 'Health',
    responses: {
      200: { description: 'Well', schema: Type.Object({ ok: Type.Boolean() }) },
      503: { description: 'Not well', schema: Type.Object({ ok: Type.Boolean() }) },
    },
    errors: [],
  }),
  resetSandbox: endpoint({
    id: 'resetSandbox',
    method: 'DELETE',
    path: '/sandbox',
    auth: 'none',
    tag: 'Sandbox',
    summary: 'Start again',
    responses: { 204: { description: 'Done' } },
    errors: [],
  }),
}

const aThing = { id: '1', name: 'cup', note: null }

export const handlers: Handlers<typeof endpoints> = {
  createThing: async ({ body }) => ({ status: 201, body: { ...aThing, name: body.name } }),
  getThing: async ({ params }) => ({ status: 200, body: { ...aThing, id: params.id } }),
  listThings: async ({ query }) => ({ status: 200, body: { asked: query } }),
  deleteThing: async () => ({ status: 204 }),
  touchThing: async () => ({ status: 200, body: aThing }),
  setMood: async ({ body }) => ({ status: 200, body }),
  receiveEvent: async ({ context }) => ({ status: 200, body: { hex: context.rawBody.toString('hex') } }),
  getKey: async () => ({ status: 200, body: 'PEM\n', headers: { 'cache-control': 'public, max-age=300' } }),
  getHealth: async () => ({ status: 200, body: { ok: true } }),
  resetSandbox: async () => ({ status: 204 }),
}

/** Takes `Authorization: Bearer good` and `X-Signature: good`. */
const authenticate: Authenticators = {
  'api-key': async ({ headers }) => admit(headers.authorization === 'Bearer good', 'api-key'),
  admin: async ({ headers }) => admit(headers.authorization === 'Bearer good', 'admin'),
  partner: async ({ headers }) => admit(headers['x-signature'] === 'good', 'partner'),
}

function admit<Kind extends 'api-key' | 'admin' | 'partner'>(good: boolean, credential: Kind) {
  if (!good) throw new Refusal('unauthorized')
  return { credential, id: `${credential} of a test` }
}

/** Headers of a caller with a good token. */
export const good = { authorization: 'Bearer good' }

interface Changes extends Omit<Partial<HttpServerOptions>, 'endpoints' | 'authenticate'> {
  readonly handlers?: Partial<Handlers<typeof endpoints>>
  readonly authenticate?: Partial<Authenticators>
  readonly added?: readonly BoundEndpoint[]
}

/** A line of the server's log. */
export type LogLine = Readonly<Record<string, unknown>>

/** Builds a server, closed after the test, that differs from the usual one in what is given. */
export function thingServer(
  t: TestContext,
  { handlers: changed, authenticate: changedAuthenticate, added = [], ...changes }: Changes = {},
): { app: HttpServer; log: LogLine[] } {
  const log: LogLine[] = []
  let made = 0
  const app = createHttpServer({
    endpoints: [...bindEndpoints(endpoints, { ...handlers, ...changed }), ...added],
    logger: pino({ level: 'debug', base: null }, { write: (line) => log.push(JSON.parse(line)) }),
    ids: { uuid: () => `made-${++made}` },
    eventLoop: AWAKE,
    ...changes,
    authenticate: { ...authenticate, ...changedAuthenticate },
  })
  t.after(() => app.close())
  return { app, log }
}

/** Listens on a port of the loopback interface that is free. */
export async function listen(app: HttpServer): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** Sends bytes as they are and returns all that comes back until the server closes. */
export function exchange(port: number, request: string | Buffer): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  socket.write(request)
  return readText(socket).finally(() => socket.destroy())
}

/** Joins the lines of a request's head. */
export function head(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`
}
