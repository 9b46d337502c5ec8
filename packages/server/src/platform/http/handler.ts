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
 * What stands between the HTTP edge and the modules: the modules answer endpoints and check credentials, the edge does
 * the rest.
 */

/** The service's endpoints, by the name of their handler. */
export type EndpointTable = Readonly<Record<string, Endpoint>>

/** One handler for every endpoint of a table; a missing one is a type error. */
export type Handlers<Table extends EndpointTable> = { readonly [Name in keyof Table]: Handler<Table[Name]> }

/**
 * Answers one endpoint. Gets what was validated, returns one of the endpoint's responses.
 * @throws Refusal for every answer that is a problem
 */
export type Handler<E extends Endpoint> = (input: HandlerInput<E>) => Promise<Reply<E>>

/**
 * Params, query and body as the endpoint's schemas say. The partner's body is not judged at the edge: whatever is
 * authentic must be stored, so its handler reads `context.rawBody`.
 */
export type HandlerInput<E extends Endpoint> = Omit<EndpointInput<E>, 'body'> & {
  readonly body: E['auth'] extends 'partner' ? undefined : EndpointInput<E>['body']
  readonly context: RequestContext
}

/** One of the endpoint's responses, picked by its status. */
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

/** A request before anything of it was judged. */
export interface IncomingRequest {
  readonly endpoint: Endpoint
  /** The client's `X-Correlation-ID`, or the one made for it. */
  readonly correlationId: string
  readonly headers: IncomingHttpHeaders
  /** The client's address, behind trusted proxies the one they report. */
  readonly remoteAddress: string
}

/** A request whose caller is known. */
export interface RequestContext extends IncomingRequest {
  readonly caller: Caller
  /** Whether it may still be carried out; whoever changes anything for it asks right before. @source rules#http.14 */
  readonly live: LiveRequest
  /** How long ago its headers were read, in milliseconds: its body may have come much later. */
  readonly ageMs: () => number
  /** Whether nobody waits for the answer any more; absent where nobody can go. */
  readonly isGone?: () => boolean
  /** The body as it came, byte for byte; where the endpoint takes none, at most an empty object. */
  readonly rawBody: Buffer
}

/** Who calls. */
export interface Caller {
  readonly credential: Credential
  /** Names the credential in audit rows, logs and the scopes of `Idempotency-Key`; never the secret itself. */
  readonly id: string
  /** Of a named operator: who it is. */
  readonly name?: string
  /** Of an operator: what they may do. */
  readonly role?: OperatorRole
  /** Of an API key: what it may be used for. */
  readonly scopes?: ReadonlySet<ApiKeyScope>
  /** Of an API key: the operator who made it; absent: the administrative token did. */
  readonly keyMadeBy?: string
  /** Of an API key: what may leave with it at most; absent: nothing of its own bounds it. */
  readonly caps?: Caps
  /** Whether nothing proves who calls, and it was let in all the same. */
  readonly isStranger?: boolean
}

/**
 * Checks credentials. A bearer token is judged before the body is read; the partner signs the body's bytes.
 * @throws Refusal `unauthorized`, or another that keeps the caller out, such as `rate_limited`
 */
export interface Authenticators {
  /** Answers at once where nothing has to be asked; it never throws but rejects. */
  readonly 'api-key': (request: IncomingRequest) => Caller | Promise<Caller>
  readonly admin: (request: IncomingRequest) => Promise<Caller>
  readonly partner: (
    request: IncomingRequest & { readonly rawBody: Buffer; readonly search: string },
  ) => Promise<Caller>
  /**
   * Judges whether who is known may call this now.
   * @throws Refusal that keeps the caller out, such as `insufficient_scope` or `rate_limited`
   */
  readonly admit?: (request: IncomingRequest, caller: Caller) => void
  /** Is told of what the partner sends and nobody could read; throws nothing. */
  readonly onUnreadPartner?: (request: IncomingRequest, error: unknown) => void
}
