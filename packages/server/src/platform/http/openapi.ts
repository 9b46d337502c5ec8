import {
  CURSOR_EXAMPLE,
  type Endpoint,
  type EndpointResponse,
  type ErrorCode,
  errors,
  errorsOf,
  limits,
  neededRoles,
  Refusal,
  tags,
} from '@pixgate/spec'
import { Type } from 'typebox'
import { curlOf } from './curl.ts'
import { isForOperators } from './for-operators.ts'
import type { EndpointTable } from './handler.ts'
import { headerComponents, headersOf, problemHeadersOf } from './openapi-headers.ts'
import { type NamedSchemas, namedSchemas } from './openapi-schemas.ts'
import { webhooksOf } from './openapi-webhooks.ts'
import { PROBLEM_MEDIA_TYPE, problemOf } from './problem.ts'

/** What a document says of itself. */
export interface OpenApiInfo {
  readonly title: string
  readonly version: string
  readonly description: string
  /** An SPDX identifier. */
  readonly license: string
  /** Host and port of a sandbox, as it is where nothing is configured. */
  readonly defaultHost: string
}

/** Where something is answered. */
export interface OpenApiServer {
  readonly url: string
  readonly description: string
  readonly variables?: Readonly<Record<string, { readonly default: string }>>
}

/** A document, ready to be written as JSON. */
export type OpenApiDocument = Readonly<Record<string, unknown>>

/**
 * The OpenAPI 3.1 document of the endpoints, as the server answers them, and of the notifications that it sends.
 * @param operators where the operator's endpoints are answered, if not where the others are
 * @source rules#reference.4, rules#operators.8
 */
export function openApiDocument(
  endpoints: EndpointTable,
  info: OpenApiInfo,
  operators?: OpenApiServer,
): OpenApiDocument {
  const schemas = namedSchemas()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const endpoint of Object.values(endpoints)) {
    const operation = {
      ...operationOf(endpoint, schemas),
      ...(operators && isForOperators(endpoint) && { servers: [operators] }),
      ...codeSamples(endpoint, operators !== undefined),
    }
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation }
  }
  const webhooks = webhooksOf(schemas)
  schemas.write(problemSchema)
  return {
    openapi: '3.1.0',
    info: {
      title: info.title,
      version: info.version,
      description: info.description,
      contact: { name: info.title },
      license: { name: info.license, identifier: info.license },
    },
    servers: [
      { url: `http://${info.defaultHost}`, description: 'The sandbox; it speaks plain HTTP' },
      {
        url: 'https://{host}',
        description: 'Production, behind your own proxy that ends TLS',
        variables: { host: { default: 'pixgate.example' } },
      },
    ],
    tags: tagsOf(Object.values(endpoints)),
    paths,
    webhooks,
    components: {
      schemas: schemas.components(),
      examples: problemExamples(Object.values(endpoints)),
      parameters: { CorrelationId: correlationIdParameter },
      headers: headerComponents(paths, schemas),
      securitySchemes,
    },
  }
}

function tagsOf(endpoints: readonly Endpoint[]) {
  return Object.entries(tags)
    .filter(([name]) => name === 'Notifications' || endpoints.some(({ tag }) => tag === name))
    .map(([name, description]) => ({ name, description }))
}

function operationOf(endpoint: Endpoint, schemas: NamedSchemas) {
  const { id, tag, summary, description, params, query, headers, body, example, responses } = endpoint
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: securityOf(endpoint),
    parameters: [
      ...parametersOf('path', params, schemas),
      ...parametersOf('query', query, schemas),
      ...parametersOf('header', headers && Type.Partial(Type.Object({ ...headers })), schemas),
      { $ref: '#/components/parameters/CorrelationId' },
    ],
    ...(body && {
      requestBody: {
        required: 'required' in body,
        content: { 'application/json': { schema: schemas.write(body), ...(example !== undefined && { example }) } },
      },
    }),
    responses: withProblems(
      Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [status, responseOf(response, schemas)]),
      ),
      codesOf(endpoint),
    ),
  }
}

/** Its own errors, and the one of another method on its path: only there does a document have a place for it. */
function codesOf(endpoint: Endpoint): readonly ErrorCode[] {
  return [...errorsOf(endpoint), 'method_not_allowed']
}

/** The extension by which viewers show how an operation is called. */
function codeSamples(endpoint: Endpoint, isApart: boolean) {
  const source = curlOf(endpoint, isApart)
  return source === undefined ? {} : { 'x-codeSamples': [{ lang: 'Shell', label: 'curl', source }] }
}

function parametersOf(place: 'path' | 'query' | 'header', schema: Endpoint['params'], schemas: NamedSchemas) {
  const { properties = {}, required = [] } = (schema ?? {}) as ObjectSchema
  return Object.entries(properties).map(([name, { examples, ...schema }]) => ({
    name,
    in: place,
    required: required.includes(name),
    ...(schema.description && { description: schema.description }),
    schema: schemas.write(schema.title === undefined ? withoutDescription(schema) : schema),
    example: examples?.[0] ?? schema.default ?? schema.enum?.[0],
  }))
}

/** The parameter has it. A schema that has a name keeps it: it is the same wherever it stands. */
function withoutDescription({ description: _, ...schema }: ParameterSchema): ParameterSchema {
  return schema
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, ParameterSchema>>
  readonly required?: readonly string[]
}

interface ParameterSchema {
  readonly description?: string
  readonly examples?: readonly unknown[]
  readonly title?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
}

interface ResponseObject {
  readonly description: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly content?: Readonly<Record<string, unknown>>
}

function responseOf(response: EndpointResponse, schemas: NamedSchemas) {
  const { description, schema, contentType = 'application/json', example, headers } = response
  return {
    description,
    headers: headersOf(headers),
    ...(schema && {
      content: { [contentType]: { schema: schemas.write(schema), ...(example !== undefined && { example }) } },
    }),
  }
}

/** Adds one problem per status, and a second content where the status has an answer of its own. */
function withProblems(responses: Readonly<Record<string, ResponseObject>>, codes: readonly ErrorCode[]) {
  const all: Record<string, ResponseObject> = { ...responses }
  for (const status of new Set(codes.map((code) => errors[code].status))) {
    const problem = problemResponse(codes.filter((code) => errors[code].status === status))
    const own = responses[status]
    all[status] = own
      ? {
          description: `${own.description}, or a problem. ${problem.description}`,
          headers: { ...own.headers, ...problem.headers },
          content: { ...own.content, ...problem.content },
        }
      : problem
  }
  return all
}

function problemResponse(codes: readonly ErrorCode[]): ResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code].message}.`).join(' '),
    headers: headersOf(problemHeadersOf(codes)),
    content: {
      [PROBLEM_MEDIA_TYPE]: {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}

/** A problem of each code that one of the endpoints answers. */
function problemExamples(endpoints: readonly Endpoint[]) {
  const answered = new Set(endpoints.flatMap(codesOf))
  return Object.fromEntries(
    [...answered].map((code) => [
      code,
      { summary: errors[code].title, value: problemOf(new Refusal(code, EXAMPLE_DETAILS[code]), 'checkout-77') },
    ]),
  )
}

const EXAMPLE_DETAILS: Partial<Record<ErrorCode, ConstructorParameters<typeof Refusal>[1]>> = {
  validation_error: {
    message: 'limit must be at most 100',
    fields: [{ field: 'limit', code: 'out_of_range', message: 'limit must be at most 100' }],
  },
  duplicate_external_id: {
    existing: { id: '0198c0de-7a11-7000-8000-5f1d3c2b1a09', status: 'PENDING', samePayload: true },
  },
  events_erased: { readFrom: { cursor: CURSOR_EXAMPLE, position: 1_043 } },
  cursor_unknown: { readFrom: { cursor: 'djE6MDo', position: 1 } },
  partner_refused: { existing: { id: '0198c0de-7a11-7000-8000-5f1d3c2b1a09', status: 'FAILED' } },
}

const problemSchema = {
  title: 'Problem',
  description: 'Every error: RFC 9457, with a stable `code` to decide on.',
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'message', 'correlationId', 'errors'],
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'Where the code is documented.' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(errors) },
    message: { type: 'string', description: 'The same as `detail`.' },
    correlationId: { type: 'string', maxLength: limits.correlationIdMaxLength },
    errors: {
      type: 'array',
      description: 'What is wrong with which field.',
      items: {
        title: 'FieldError',
        type: 'object',
        required: ['field', 'code', 'message'],
        properties: {
          field: { type: 'string', description: 'A path such as `transaction.value` or `events[0]`.' },
          code: { type: 'string' },
          message: { type: 'string' },
        },
      },
    },
    existing: {
      title: 'ExistingOperation',
      type: 'object',
      description: 'The operation that exists, where a create was refused because of it or after storing it.',
      required: ['id', 'status'],
      properties: {
        id: { type: 'string', format: 'uuid' },
        status: { type: 'string' },
        samePayload: { type: 'boolean', description: 'Whether this very body made it.' },
      },
    },
    limit: {
      title: 'ExceededLimit',
      type: 'object',
      description: 'The limit that would be exceeded.',
      required: ['name', 'owner', 'maxCents', 'usedCents', 'freesAt'],
      properties: {
        name: { type: 'string', enum: ['payment', 'hour', 'day', 'night', 'new_recipient'] },
        owner: { type: 'string', enum: ['api_key', 'service'], description: 'Of this API key, or of all that leaves.' },
        maxCents: { type: 'integer', format: 'int64', minimum: 0 },
        usedCents: { type: 'integer', format: 'int64', minimum: 0, description: 'What of it is used now.' },
        freesAt: {
          type: ['string', 'null'],
          format: 'date-time',
          description: 'When this would fit, were nothing else used meanwhile; `null`: waiting is no help.',
        },
      },
    },
    readFrom: {
      title: 'ReadFrom',
      type: 'object',
      description: 'From where the feed of events can be read.',
      required: ['cursor', 'position'],
      properties: {
        cursor: { type: 'string', maxLength: 64, description: 'To be sent as `cursor`.' },
        position: { type: 'integer', format: 'int64', minimum: 1, description: 'Of the first event that follows it.' },
      },
    },
  },
}

const correlationIdParameter = {
  name: 'X-Correlation-ID',
  in: 'header',
  required: false,
  description:
    'Follows this request through your systems and ours: 1 to 256 printable ASCII characters come back as they are; anything else is replaced by a new one and fails nothing.',
  schema: { type: 'string' },
  example: 'checkout-77',
}

const securitySchemes = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key that has the scope.' },
  adminToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The token of an operator whose role is enough, or the administrative token of this installation as long as there is no named admin.',
  },
  partnerSignature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Partner-Signature',
    description: '`sha256=` and the hexadecimal HMAC-SHA-256 of the raw body.',
  },
  partnerTimestamp: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Partner-Timestamp',
    description: 'When the event was sent; at most 300 s from now.',
  },
}

/** Who may call: the scope of the key, or the least role of the operator, stands where OpenAPI has those of OAuth. */
function securityOf(endpoint: Endpoint): readonly Readonly<Record<string, readonly string[]>>[] {
  switch (endpoint.auth) {
    case 'api-key':
      return [{ apiKey: [endpoint.scope] }]
    case 'admin':
      return neededRoles(endpoint.role).map((role) => ({ adminToken: [role] }))
    case 'partner':
      return [{ partnerSignature: [], partnerTimestamp: [] }]
    case 'none':
      return []
  }
}
