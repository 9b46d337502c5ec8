import type { Static, TSchema } from 'typebox'
import type { ApiKeyScope, NeededRole } from './access.ts'
import type { ErrorCode } from './errors.ts'
import type { ResponseHeader } from './response-headers.ts'

/**
 * Endpoints as data. The HTTP edge binds each to a handler, validates with its shapes and serialises with its response
 * schemas. The OpenAPI document is generated from the same objects.
 */

/** Callers: an API key, an operator, the partner, or anyone. */
export type Credential = 'api-key' | 'admin' | 'partner' | 'none'

/**
 * A response: its shape and a matching example. The shape is open, since fields may be added. `schema` is absent
 * without a JSON body.
 * @source rules#reference.7
 */
export interface EndpointResponse {
  readonly description: string
  readonly schema?: TSchema
  readonly contentType?: string
  /** Binary forms of the same answer; a header of the answer says which it is. */
  readonly otherContentTypes?: readonly string[]
  readonly example?: unknown
  /** Streamed while it is read. @source rules#export.3 */
  readonly isStreamed?: true
  /** Headers beyond those of every response. @source rules#reference.8 */
  readonly headers?: readonly ResponseHeader[]
}

/** Required credential with its minimum scope or role. */
type Access =
  | { readonly auth: 'api-key'; readonly scope: ApiKeyScope; readonly role?: undefined }
  | { readonly auth: 'admin'; readonly role: NeededRole; readonly scope?: undefined }
  | { readonly auth: 'partner' | 'none'; readonly scope?: undefined; readonly role?: undefined }

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
  /** Additional request headers by name, for the documentation; the handler reads them. */
  readonly headers?: Readonly<Record<string, TSchema>>
  readonly body?: TSchema
  readonly example?: unknown
  readonly responses: Readonly<Record<number, EndpointResponse>>
  /** Whether the answer may be delayed; the caller is then authenticated again before it. @source rules#feed.6 */
  readonly isLongPoll?: true
  /** Codes of its own; those of its `auth` and its body are added. */
  readonly errors: readonly ErrorCode[]
}

/** Declares an endpoint and keeps its literal types. */
export function endpoint<const E extends Endpoint>(definition: E): E {
  return definition
}

type ShapeOf<E, Part extends 'params' | 'query' | 'body'> =
  E extends Readonly<Record<Part, infer Shape extends TSchema>> ? Static<Shape> : undefined

/** Validated input of an endpoint's handler. */
export interface EndpointInput<E extends Endpoint> {
  readonly params: ShapeOf<E, 'params'>
  readonly query: ShapeOf<E, 'query'>
  readonly body: Given<ShapeOf<E, 'body'>>
}

/** Body of an endpoint's successful answers; `undefined` without one. */
export type EndpointAnswer<E extends Endpoint> = {
  [Status in keyof E['responses']]: E['responses'][Status] extends { readonly schema: infer Shape extends TSchema }
    ? Static<Shape>
    : undefined
}[keyof E['responses']]

/** A validated body: optional fields that were `null` are removed. @source rules#http.16 */
type Given<Body> = Body extends readonly unknown[]
  ? Body
  : Body extends object
    ? { [Name in keyof Body]: undefined extends Body[Name] ? Given<Exclude<Body[Name], null>> : Given<Body[Name]> }
    : Body

/**
 * Every error of an endpoint: its own, and those of its credential and body. Everything the partner signed is stored,
 * so its bodies are never refused for their content.
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
      // Every operator may at least read.
      ...(definition.auth === 'admin' && definition.role !== 'viewer' ? (['insufficient_role'] as const) : []),
      ...definition.errors,
      'internal_error',
      'overloaded',
    ]),
  ]
}
