import type { Static, TSchema } from 'typebox'
import type { ApiKeyScope, NeededRole } from './access.ts'
import type { ErrorCode } from './errors.ts'
import type { ResponseHeader } from './response-headers.ts'

/**
 * Endpoints as data. The HTTP edge binds each to a handler, validates with its shapes and serialises with its response
 * schemas; the OpenAPI document is generated from the same objects.
 */

/** Who may call: an API key, an operator, the partner, or anyone. */
export type Credential = 'api-key' | 'admin' | 'partner' | 'none'

/**
 * An answer: its shape and an example that matches it. The shape is open, as fields may be added. `schema` is absent where there
 * is no JSON body.
 * @source rules#reference.7
 */
export interface EndpointResponse {
  readonly description: string
  readonly schema?: TSchema
  /** Content type of an answer that is not JSON. */
  readonly contentType?: string
  readonly example?: unknown
  /** The answer is written as it is read. @source rules#export.3 */
  readonly isStreamed?: true
  /** Those that not every answer has. @source rules#reference.8 */
  readonly headers?: readonly ResponseHeader[]
}

/** Who may call an endpoint: whose credential, and what that has to be good for at least. */
type Access =
  | { readonly auth: 'api-key'; readonly scope: ApiKeyScope; readonly role?: undefined }
  | { readonly auth: 'admin'; readonly role: NeededRole; readonly scope?: undefined }
  | { readonly auth: 'partner' | 'none'; readonly scope?: undefined; readonly role?: undefined }

/** Everything the edge and the documentation know of one endpoint. */
export type Endpoint = EndpointDefinition & Access

interface EndpointDefinition {
  /** Its operationId and the name of its handler. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With `{name}` for path parameters. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly params?: TSchema
  readonly query?: TSchema
  /** Request headers of its own, by name, for the documentation; the handler reads them. */
  readonly headers?: Readonly<Record<string, TSchema>>
  readonly body?: TSchema
  /** Example of a request body. */
  readonly example?: unknown
  readonly responses: Readonly<Record<number, EndpointResponse>>
  /** Its answer may be kept back for a while: who asked is judged again before it is given. @source rules#feed.6 */
  readonly isHeldBack?: true
  /** Codes of its own; what every endpoint may answer is added by its `auth` and its body. */
  readonly errors: readonly ErrorCode[]
}

/** Declares an endpoint and keeps its literal types. */
export function endpoint<const E extends Endpoint>(definition: E): E {
  return definition
}

type ShapeOf<E, Part extends 'params' | 'query' | 'body'> =
  E extends Readonly<Record<Part, infer Shape extends TSchema>> ? Static<Shape> : undefined

/** What a handler of the endpoint receives, already validated. */
export interface EndpointInput<E extends Endpoint> {
  readonly params: ShapeOf<E, 'params'>
  readonly query: ShapeOf<E, 'query'>
  readonly body: Given<ShapeOf<E, 'body'>>
}

/** A body as its handler gets it: a field that may be left out and was `null` is not there. @source rules#http.16 */
type Given<Body> = Body extends readonly unknown[]
  ? Body
  : Body extends object
    ? { [Name in keyof Body]: undefined extends Body[Name] ? Given<Exclude<Body[Name], null>> : Given<Body[Name]> }
    : Body

/**
 * Every error an endpoint may answer, its own and those that come with its credential and its body. Whatever the
 * partner signed is stored, so its bodies are never refused for what they say.
 */
export function errorsOf(definition: Endpoint): readonly ErrorCode[] {
  return [
    ...new Set<ErrorCode>([
      'validation_error',
      ...(definition.body ? (['body_too_large'] as const) : []),
      ...(definition.body && definition.auth !== 'partner'
        ? (['malformed_json', 'content_type_required'] as const)
        : []),
      ...(definition.auth === 'none' ? [] : (['unauthorized', 'rate_limited'] as const)),
      ...(definition.auth === 'api-key' ? (['insufficient_scope'] as const) : []),
      // Every operator may at least look.
      ...(definition.auth === 'admin' && definition.role !== 'viewer' ? (['insufficient_role'] as const) : []),
      ...definition.errors,
      'internal_error',
      'overloaded',
    ]),
  ]
}
