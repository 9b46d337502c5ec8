import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type {
  ApiKeyScope,
  Caps,
  Credential,
  Endpoint,
  EndpointInput,
  EndpointResponse,
  OperatorRole,
} from '@pixgate/spec'
import type { Static, TSchema } from 'typebox'
import type { LiveRequest } from '../live-request.ts'

/**
 * Contract between the HTTP edge and the modules. Modules answer endpoints and check credentials; the edge does the
 * rest.
 */

export type EndpointTable = Readonly<Record<string, Endpoint>>

/** One handler for every endpoint of a table; a missing handler is a type error. */
export type Handlers<Table extends EndpointTable> = { readonly [Name in keyof Table]: Handler<Table[Name]> }

/** Answers one endpoint from validated input. @throws Refusal for every answer that is a problem */
export type Handler<E extends Endpoint> = (input: HandlerInput<E>) => Promise<Reply<E>>

/**
 * Params, query and body as the endpoint's schemas say. The partner's body is not validated at the edge, since
 * everything authentic must be stored. Its handler reads `context.rawBody`.
 */
export type HandlerInput<E extends Endpoint> = Omit<EndpointInput<E>, 'body'> & {
  readonly body: E['auth'] extends 'partner' ? undefined : EndpointInput<E>['body']
  readonly context: RequestContext
}

/** One of the endpoint's responses, chosen by its status. */
export type Reply<E extends Endpoint> = {
  [Status in keyof E['responses'] & number]: {
    readonly status: Status
    readonly headers?: Readonly<Record<string, string>>
  } & BodyOf<E['responses'][Status] & EndpointResponse>
}[keyof E['responses'] & number]

type BodyOf<Response extends EndpointResponse> = Response extends { readonly isStreamed: true }
  ? { readonly body: Readable }
  : JsonOf<Response>

type JsonOf<Response extends EndpointResponse> = Response extends { readonly schema: infer Schema extends TSchema }
  ? { readonly body: Static<Schema> }
  : { readonly body?: undefined }

export interface IncomingRequest {
  readonly endpoint: Endpoint
  /** The client's `X-Correlation-ID`, or a generated one. */
  readonly correlationId: string
  readonly headers: IncomingHttpHeaders
  /** The client's address, as trusted proxies report it. */
  readonly remoteAddress: string
  /** Port of the listener that received the request. */
  readonly localPort?: number | undefined
}

export interface RequestContext extends IncomingRequest {
  readonly caller: Caller
  /**
   * Whether the request may still be carried out. Handlers check it right before every change.
   * @source rules#http.14
   */
  readonly live: LiveRequest
  /** Milliseconds since the headers were read. The body may have arrived much later. */
  readonly ageMs: () => number
  /** Whether the client has disconnected. */
  readonly isGone?: () => boolean
  /** The body byte for byte; at most an empty object where the endpoint takes none. */
  readonly rawBody: Buffer
}

export interface Caller {
  readonly credential: Credential
  /** Identifies the credential in audit rows, logs and scopes of `Idempotency-Key`. Never the secret. */
  readonly id: string
  readonly name?: string
  readonly role?: OperatorRole
  readonly scopes?: ReadonlySet<ApiKeyScope>
  /** Operator who created the API key. Absent: the administrative token did. */
  readonly keyMadeBy?: string
  readonly caps?: Caps
  /** Session of the console that the request came with; absent: a token. `endsAt` is epoch milliseconds. */
  readonly session?: { readonly id: string; readonly endsAt: number }
  /** Unauthenticated, but let in. */
  readonly isStranger?: boolean
}

/**
 * Checks credentials. Bearer tokens are checked before the body is read; the partner signs the body's bytes.
 * @throws Refusal `unauthorized`, or another that keeps the caller out, such as `rate_limited`
 */
export interface Authenticators {
  /** Synchronous when the credential is cached. Rejects instead of throwing. */
  readonly 'api-key': (request: IncomingRequest) => Caller | Promise<Caller>
  readonly admin: (request: IncomingRequest) => Promise<Caller>
  readonly partner: (
    request: IncomingRequest & { readonly rawBody: Buffer; readonly search: string },
  ) => Promise<Caller>
  /**
   * Checks whether an authenticated caller may call this endpoint now.
   * @throws Refusal that keeps the caller out, such as `insufficient_scope` or `rate_limited`
   */
  readonly authorize?: (request: IncomingRequest, caller: Caller) => void
  /** Reports a partner's request that could not be read. Must not throw. */
  readonly onUnreadPartner?: (request: IncomingRequest, error: unknown) => void
}
