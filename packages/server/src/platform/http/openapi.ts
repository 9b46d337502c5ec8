import {
  type Credential,
  CURSOR_EXAMPLE,
  type Endpoint,
  type EndpointResponse,
  type ErrorCode,
  type EventType,
  errors,
  errorsOf,
  eventExamples,
  eventSchemas,
  eventTypes,
  FIRST_CURSOR,
  limits,
  neededRoles,
  PUBLISHED,
  publishedPatterns,
  Refusal,
  type ResponseHeader,
  responseHeaders,
  tags,
} from '@pixgate/spec'
import { Type } from 'typebox'
import type { EndpointTable } from './handler.ts'
import { PROBLEM_MEDIA_TYPE, problemOf, RETRY_STATUSES } from './problem.ts'

export interface OpenApiInfo {
  readonly title: string
  readonly version: string
  readonly description: string
  readonly license: string
  /** Host and port of a sandbox with default settings. */
  readonly defaultHost: string
}

export interface OpenApiServer {
  readonly url: string
  readonly description: string
  readonly variables?: Readonly<Record<string, { readonly default: string }>>
}

export type OpenApiDocument = Readonly<Record<string, unknown>>

/**
 * The OpenAPI 3.1 document of all endpoints and notifications.
 * @param operators server of the operator's endpoints, if it differs
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

/** The endpoint's own errors, and the one for other methods on its path, which has no other place in the document. */
function codesOf(endpoint: Endpoint): readonly ErrorCode[] {
  return [...errorsOf(endpoint), 'method_not_allowed']
}

/** Extension by which viewers show a call. */
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

/** The parameter carries the description. A named schema keeps its own, as it is shared. */
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

const TEXT = { title: 'TextFile', type: 'string' }

const BINARY = { title: 'BinaryFile', type: 'string', format: 'binary' }

function responseOf(response: EndpointResponse, schemas: NamedSchemas) {
  const { description, schema, contentType = 'application/json', otherContentTypes = [], example, headers } = response
  return {
    description,
    headers: headersOf(headers),
    ...(schema && {
      content: {
        [contentType]: { schema: schemas.write(schema), ...(example !== undefined && { example }) },
        ...Object.fromEntries(
          otherContentTypes.map((type) => [
            type,
            { schema: schemas.write(type.startsWith('text/') ? TEXT : BINARY), example: 'the bytes' },
          ]),
        ),
      },
    }),
  }
}

/** Adds one problem per status, and a second content type where the status has an answer of its own. */
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
  cursor_unknown: { readFrom: { cursor: FIRST_CURSOR, position: 1 } },
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
      description:
        'The operation that exists, where a request was refused because of its status, or a create because of it.',
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

/** The required scope or role, listed where OpenAPI lists OAuth scopes. */
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

export interface NamedSchemas {
  readonly write: (schema: unknown) => unknown
  readonly components: () => Readonly<Record<string, unknown>>
}

/**
 * Collects the components of a document by the titles of its schemas.
 * @throws Error when two different schemas have the same title
 */
function namedSchemas(): NamedSchemas {
  const components = new Map<string, unknown>()

  /** @param known title of an object or enumeration without one, from the schema that has it */
  function write(schema: unknown, known?: string): unknown {
    if (Array.isArray(schema)) return schema.map((one) => write(one, known))
    if (typeof schema !== 'object' || schema === null) return schema
    if (PUBLISHED in schema) return write(schema[PUBLISHED], known)
    const shown = published(schema)
    const title = typeof shown.title === 'string' ? shown.title : isNamed(shown) ? known : undefined
    const { title: _, ...written } = Object.fromEntries(
      Object.entries(shown).map(([key, value]) => [
        key,
        key === 'properties' ? fields(value, title) : write(value, known),
      ]),
    )
    return title === undefined ? written : name(title, { ...written, ...constantNames(title, shown) })
  }

  function fields(properties: unknown, title: string | undefined): object {
    const titleOf = (field: string) => (title === undefined ? undefined : title + capitalized(field))
    return Object.fromEntries(
      Object.entries(properties as object).map(([key, value]) => [key, write(value, titleOf(key))]),
    )
  }

  function name(title: string, written: unknown): unknown {
    const known = components.get(title)
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(written)) {
      throw new Error(`two different schemas have the title ${title}`)
    }
    components.set(title, written)
    return { $ref: `#/components/schemas/${title}` }
  }

  return {
    write,
    components: () => Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

interface JsonSchema {
  readonly title?: unknown
  readonly enum?: unknown
  readonly const?: unknown
  readonly type?: unknown
  readonly pattern?: unknown
  readonly properties?: unknown
  readonly anyOf?: unknown
}

/** Objects and enumerations have names, so that generated clients do not invent them. */
function isNamed({ type, properties, enum: values }: JsonSchema): boolean {
  return (type === 'object' && properties !== undefined) || (Array.isArray(values) && values.length > 1)
}

/** Names of constants: without a prefix, those of two enumerations are the same in Go. */
function constantNames(title: string, { enum: values }: JsonSchema): object {
  if (!Array.isArray(values)) return {}
  return {
    'x-enum-varnames': values.map(
      (value) =>
        title +
        String(value)
          .split(/[^A-Za-z0-9]+/)
          .map(capitalized)
          .join(''),
    ),
  }
}

function capitalized(word: string): string {
  const rest = word.slice(1)
  return word.slice(0, 1).toUpperCase() + (/[a-z]/.test(word) ? rest : rest.toLowerCase())
}

/** The schema of a text, number or boolean that may be null, which has a shorter form than `anyOf`. */
function valueOrNull({ anyOf }: JsonSchema): JsonSchema | undefined {
  const [value, none] = Array.isArray(anyOf) && anyOf.length === 2 ? (anyOf as JsonSchema[]) : []
  const isPlain = value?.title === undefined && ['string', 'integer', 'number', 'boolean'].includes(String(value?.type))
  return isPlain && none?.type === 'null' ? value : undefined
}

/** Adds types to enumerations and portable patterns, and leaves out constants that are no text: generators need it. */
function published(schema: JsonSchema): JsonSchema {
  if (typeof schema.const === 'boolean') return { type: 'boolean' }
  const value = valueOrNull(schema)
  if (value) return { ...published(value), type: [value.type, 'null'] }
  const { enum: values, type, pattern } = schema
  const isText = Array.isArray(values) && type === undefined && values.every((value) => typeof value === 'string')
  const known = typeof pattern === 'string' ? (publishedPatterns[pattern] ?? pattern).replaceAll(SURROGATES, '') : ''
  return { ...(isText && { type: 'string' }), ...schema, ...(known && { pattern: known }) }
}

/** Many tools cannot read them in a pattern, and no text in UTF-8 has them. */
const SURROGATES = '\\ud800-\\udfff'

/** Headers of every answer, or of every answer in production. */
const ON_EVERY_ANSWER: readonly ResponseHeader[] = [
  'X-Correlation-ID',
  'Cache-Control',
  'X-Content-Type-Options',
  'Strict-Transport-Security',
]

/**
 * Headers of an answer.
 * @param own headers beyond those of every answer
 * @source rules#reference.8
 */
function headersOf(own: readonly ResponseHeader[] = []): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    [...ON_EVERY_ANSWER, ...own].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
}

/** Additional headers of problems with these codes. @source rules#http.9 */
function problemHeadersOf(codes: readonly ErrorCode[]): readonly ResponseHeader[] {
  return [
    ...(codes.some((code) => RETRY_STATUSES.includes(errors[code].status)) ? (['Retry-After'] as const) : []),
    ...(codes.some((code) => CHALLENGING.includes(code)) ? (['WWW-Authenticate'] as const) : []),
    ...(codes.includes('method_not_allowed') ? (['Allow'] as const) : []),
  ]
}

/** Codes whose answer says how to authenticate. */
const CHALLENGING: readonly ErrorCode[] = ['unauthorized', 'insufficient_scope']

function headerComponents(paths: unknown, schemas: NamedSchemas): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(paths)
  const used = Object.entries(responseHeaders).filter(([name]) => text.includes(`"#/components/headers/${name}"`))
  return Object.fromEntries(
    used.map(([name, { isAlwaysThere, schema, ...header }]) => [
      name,
      { ...header, required: isAlwaysThere, schema: schemas.write(schema) },
    ]),
  )
}

/**
 * The notifications as operations of their receiver, with the published schemas.
 * @source rules#events.2, rules#webhooks.8
 */
function webhooksOf(schemas: NamedSchemas): Readonly<Record<string, unknown>> {
  return Object.fromEntries(eventTypes.map((type) => [type, { post: webhookOf(type, schemas) }]))
}

function webhookOf(type: EventType, schemas: NamedSchemas) {
  const { description } = eventSchemas[type] as { readonly description?: string }
  return {
    operationId: `receive_${type}`,
    tags: ['Notifications'],
    summary: SUMMARIES[type],
    description: `${description} The same event may come more than once, and before or after others.`,
    security: [],
    parameters: webhookHeaders.map((header) => ({ in: 'header', ...header })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemas.write(eventSchemas[type]), example: eventExamples[type] } },
    },
    responses: {
      200: { description: 'Accepted: any 2xx within 5 seconds, whatever the body' },
      204: { description: 'Accepted' },
      401: { description: 'The signature does not verify; sent again, signed anew' },
      500: { description: 'Not accepted; sent again, as after every 5xx and every timeout' },
    },
  }
}

const SUMMARIES: Readonly<Record<EventType, string>> = {
  pix_cash_in: 'A charge was paid, or failed',
  pix_cash_out: 'A payout arrived, or failed',
  pix_cash_in_reversal: 'A refund arrived, or failed',
  pix_cash_out_reversal: 'A payout came back',
}

/**
 * Headers of a notification as parameters. They are sent in lower case; case does not matter.
 * @source rules#webhooks.8, rules#webhook-secrets.1
 */
export const webhookHeaders = [
  {
    name: 'Digital-Signature',
    description: 'Base64 of the DER form of ECDSA P-256 with SHA-256 over the exact bytes of the body.',
    schema: { type: 'string', maxLength: 96 },
    example: 'MEQCIG0g8uMwJUa3gduODyHGILSZmzIes2HUy/qrEB5/Cp29AiBFk6B2ZFtP6OM/TbJ60cw1ywmW9WHoMs3VeLpGQZwsaw==',
    required: true,
  },
  {
    name: 'Digital-Signature-Key-Id',
    description: 'Which key signed: the first 16 characters of the base64url SHA-256 of its SPKI.',
    schema: { type: 'string', maxLength: 16 },
    example: 'brBF9ATMQOcuvXdP',
    required: true,
  },
  {
    name: 'webhook-id',
    description: 'The same on every attempt to send this notification, and on no other one.',
    schema: { type: 'string', format: 'uuid' },
    example: '01a1fc89-3f0a-71a6-829e-5bdab2191d18',
    required: true,
  },
  {
    name: 'webhook-timestamp',
    description: 'When this attempt was made, in Unix seconds.',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1795238215',
    required: true,
  },
  {
    name: 'webhook-signature',
    description:
      'As Standard Webhooks says: `v1,` and the Base64 of the HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the body with a full stop between, under the secret of the receiver; one for each secret while it is exchanged, with a space between. Not there where the receiver has no secret.',
    // Four signatures of 47 characters, and the spaces.
    schema: { type: 'string', maxLength: 191 },
    example: 'v1,aRraWwSDNSYsdPwiUZGujP2fYiaIhA0IzsdCfdskswU=',
    required: false,
  },
] as const

/** Shell variables of tokens by credential. The bank signs instead. */
const TOKENS: Readonly<Partial<Record<Credential, string>>> = {
  'api-key': '$PIXGATE_API_KEY',
  admin: '$PIXGATE_ADMIN_TOKEN',
}

/**
 * The endpoint's example as a curl command, or `undefined` for endpoints of the bank. Ids are variables named after
 * their resource: `$CASH_IN_ID`.
 * @param isApart whether the operator's endpoints have their own address
 * @source rules#reference.5, rules#operators.8
 */
export function curlOf(endpoint: Endpoint, isApart = false): string | undefined {
  const { method, path, auth, params, body, example, responses } = endpoint
  if (auth === 'partner') return undefined
  const { properties = {} } = (params ?? {}) as { readonly properties?: Readonly<Record<string, Described>> }
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const resource = resourceOfId(properties[name]?.description)
    return `$${resource.replaceAll('-', '_').toUpperCase()}_ID`
  })
  const token = TOKENS[auth]
  const service = isApart && isForOperators(endpoint) ? '$PIXGATE_OPERATOR_URL' : '$PIXGATE_URL'
  return [
    `curl -sS ${method === 'GET' ? '' : `-X ${method} `}"${service}${address}"`,
    ...(token === undefined ? [] : [`-H "Authorization: Bearer ${token}"`]),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(example ?? {}))}`]),
    ...(responses[200]?.contentType === PDF ? ['-o comprovante.pdf'] : []),
  ].join(' \\\n  ')
}

const PDF = 'application/pdf'

interface Described {
  readonly description?: string
}

/** Resource of an id in a path: `UUID of the cash-in` → `cash-in`. @throws Error when the description names none */
export function resourceOfId(description = ''): string {
  const [, resource] = /^(?:UUID|Id) of the ([a-z-]+)$/.exec(description) ?? []
  if (resource === undefined) throw new Error(`«${description}» does not name the resource of the id`)
  return resource
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * Returns whether an endpoint is served at the operator's port only, if there is one. Health is served at every port.
 * @source rules#operators.8
 */
export function isForOperators({ auth, tag }: Endpoint): boolean {
  return (auth === 'admin' && tag !== 'Health') || tag === 'Console'
}
