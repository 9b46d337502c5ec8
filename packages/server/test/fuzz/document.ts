import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { closed } from '../../../spec/test/support/closed.ts'
import type { DeclaredHeaders } from './header-faults.ts'

/** The OpenAPI document as its reader understands it. Nothing else is known of the service. */

/** A JSON Schema, as far as the document uses the language. */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null'
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
}

/** Whose credentials an operation wants. */
export type Credential = 'apiKey' | 'adminToken' | 'partnerSignature' | 'none'

/** One operation of the document. */
export interface Operation {
  readonly id: string
  readonly method: string
  /** With `{name}` for its parameters. */
  readonly path: string
  readonly credential: Credential
  readonly pathParameters: readonly string[]
  readonly query: Readonly<Record<string, Schema>>
  readonly requiredQuery: readonly string[]
  /** The request headers that the document names, in lower case. */
  readonly headers: readonly string[]
  readonly body: { readonly schema: Schema; readonly isValid: Validate } | undefined
  readonly isValidQuery: Validate
  /** By status. */
  readonly answers: ReadonlyMap<number, DocumentedAnswer>
}

/** What the document says of one status. */
export interface DocumentedAnswer {
  /** By media type; none where there is no body. A field that the document does not name is a fault here. */
  readonly contents: ReadonlyMap<string, Validate>
  /** The codes of its problems. */
  readonly codes: ReadonlySet<string>
  readonly headers: DeclaredHeaders
}

/** Judges a value. Its `errors` tell what was wrong with the last one. */
export type Validate = ValidateFunction

interface DocumentText {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationText>>>>
}

interface OperationText {
  readonly operationId: string
  readonly security: readonly Readonly<Record<string, unknown>>[]
  readonly parameters: readonly ParameterText[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
  readonly responses: Readonly<Record<string, ResponseText>>
}

interface ParameterText {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

interface ResponseText {
  readonly content?: Readonly<Record<string, ContentText>>
  readonly headers?: DeclaredHeaders
}

interface ContentText {
  readonly schema: Schema
  readonly examples?: Readonly<Record<string, unknown>>
}

const DAY = /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/

const FORMATS = {
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  date: (text: string) => DAY.test(text) && new Date(`${text}T00:00:00Z`).getUTCDate() === Number(text.slice(8)),
  'date-time': INSTANT,
  'uri-reference': /^[!-~]+$/,
  int64: true as const,
}

/** Reads a document. @throws Error where one of its schemas is at fault */
export function readDocument(text: string): readonly Operation[] {
  const { paths } = withoutReferences(JSON.parse(text)) as DocumentText
  const compile = compilerOf(new Ajv2020({ strict: false, logger: false, allErrors: true, formats: FORMATS }))
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(path, method, operation, compile)),
  )
}

type Compile = (schema: object) => Validate

/** Compiles each schema once: most answers are the same problem. */
export function compilerOf(ajv: Ajv2020): Compile {
  const compiled = new Map<string, Validate>()
  return (schema) => {
    const text = JSON.stringify(schema)
    const known = compiled.get(text) ?? ajv.compile(schema)
    compiled.set(text, known)
    return known
  }
}

/** A document with what it refers to in the places of the references. None of them leads back to itself. */
export function withoutReferences(document: unknown): unknown {
  const inline = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(inline)
    const { $ref } = value as { readonly $ref?: string }
    if (typeof $ref === 'string') return inline(componentOf(document, $ref))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inline(inner)]))
  }
  return inline(document)
}

function operationOf(path: string, method: string, text: OperationText, compile: Compile) {
  const named = (place: string) => text.parameters.filter((parameter) => parameter.in === place)
  const query = Object.fromEntries(named('query').map(({ name, schema }) => [name, schema]))
  const requiredQuery = named('query').flatMap(({ name, required }) => (required ? [name] : []))
  const schema = text.requestBody?.content['application/json'].schema
  return {
    id: text.operationId,
    method: method.toUpperCase(),
    path,
    credential: Object.keys(text.security[0] ?? { none: [] })[0] as Credential,
    pathParameters: named('path').map(({ name }) => name),
    query,
    requiredQuery,
    headers: named('header').map(({ name }) => name.toLowerCase()),
    body: schema && { schema, isValid: compile(schema) },
    isValidQuery: compile({
      type: 'object',
      properties: query,
      required: requiredQuery,
      additionalProperties: false,
    }),
    answers: new Map(
      Object.entries(text.responses).map(([status, response]) => [Number(status), answerOf(response, compile)]),
    ),
  }
}

/** What a reference such as `#/components/schemas/Problem` leads to. */
function componentOf(document: unknown, reference: string): unknown {
  let found = document
  for (const name of reference.slice(2).split('/'))
    found = (found as Readonly<Record<string, unknown>> | undefined)?.[name]
  if (found === undefined) throw new Error(`the document has no ${reference}`)
  return found
}

function answerOf({ content = {}, headers = {} }: ResponseText, compile: Compile): DocumentedAnswer {
  return {
    contents: new Map(
      Object.entries(content).map(([type, { schema }]) => [type.split(';')[0] ?? type, compile(closed(schema))]),
    ),
    codes: new Set(Object.values(content).flatMap(({ examples = {} }) => Object.keys(examples))),
    headers,
  }
}
