import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Endpoint,
  type ErrorCode,
  endpoints,
  errorHelp,
  errorHelpPtBr,
  errorsOf,
  eventExamples,
  eventTypes,
  testEventSchema,
} from '@pixgate/spec'
import { openApiDocument } from '../../packages/server/src/platform/http/openapi.ts'
import { apiInfo } from '../../packages/server/src/reference/info.ts'
import { GENERATED, type GeneratedDocument, json } from './document.ts'
import { type SdkMethod, surfaces } from './sdk-surface.ts'

const FOLDER = 'packages/sdk/src/generated'

/** TypeScript samples of `/docs`. */
const SAMPLES = 'packages/server/src/reference/sdk-samples.json'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly format?: string
  readonly description?: string
  readonly default?: unknown
}

interface Operation {
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly schema: Schema
    readonly description?: string
    readonly required: boolean
  }[]
  readonly requestBody?: {
    readonly required: boolean
    readonly content: { readonly 'application/json': { readonly schema: Schema } }
  }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>
  >
}

const document = JSON.parse(JSON.stringify(openApiDocument(endpoints, apiInfo))) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** Generated sources of the SDK, and its samples in the reference. */
export function sdkSources(): GeneratedDocument[] {
  const types = new Types()
  const merchant = methodsSource('merchant', types)
  const operator = methodsSource('operator', types)
  return [
    source('methods', merchant),
    source('operator-methods', operator),
    source('errors', errorsSource()),
    source('operator-errors', operatorErrorsSource()),
    source('examples', examplesSource()),
    source('types', types.source()),
    json(SAMPLES, samplesByOperation()),
  ]
}

function source(name: string, text: string): GeneratedDocument {
  return { path: `${FOLDER}/${name}.ts`, content: `// ${GENERATED}\n\n${text.trim()}\n` }
}

/** TypeScript of the schemas that methods name, and of those that they name in turn. */
class Types {
  readonly #wanted = new Set<string>()
  readonly #own = new Map<string, string>()

  of(schema: Schema): string {
    if (schema.$ref !== undefined) return this.named(schema.$ref.replace(/^.*\//, ''))
    if (schema.anyOf) return schema.anyOf.map((one) => this.of(one)).join(' | ')
    if (schema.const !== undefined) return literal(schema.const)
    if (schema.enum) return schema.enum.map(literal).join(' | ')
    if (Array.isArray(schema.type)) return schema.type.map((type) => this.of({ ...schema, type })).join(' | ')
    switch (schema.type) {
      case 'object':
        return this.#object(schema)
      case 'array':
        return `readonly ${parenthesised(this.of(schema.items ?? {}))}[]`
      case 'integer':
        return 'number'
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return schema.type
      default:
        return 'unknown'
    }
  }

  named(name: string): string {
    if (document.components.schemas[name] === undefined) throw new Error(`no schema has the title ${name}`)
    this.#wanted.add(name)
    return name
  }

  /** Adds a type that is no schema of the document. */
  add(name: string, text: string): string {
    this.#own.set(name, text)
    return name
  }

  /** Fields of an object, one a line. */
  fields({ properties = {}, required = [] }: Schema, indent = '  '): string {
    return Object.entries(properties)
      .map(([name, schema]) => this.field(name, schema, required.includes(name), indent))
      .join('')
  }

  field(name: string, schema: Schema, isRequired: boolean, indent = '  '): string {
    const isMoney = /(?:C|_c)ents$/.test(name) || (schema.type === 'number' && schema.format === 'double')
    const type = isMoney ? this.of({ ...schema, format: '' }).replace('number', 'Cents') : this.of(schema)
    // The sentence is about reais; `Cents` says the rest.
    const text = isMoney && schema.format === 'double' ? undefined : schema.description
    return `${text === undefined ? '' : comment([text], indent)}${indent}readonly ${name}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'}\n`
  }

  /** Every name that a method may use. */
  names(): readonly string[] {
    return [...this.#wanted, ...this.#own.keys()]
  }

  source(): string {
    for (const type of eventTypes) this.named(notificationOf(type))
    this.named('Problem')
    this.add('WebhookTest', `export interface WebhookTest ${this.of(JSON.parse(JSON.stringify(testEventSchema)))}`)
    this.add(
      'Notification',
      `/** Body of a notification, by \`event_type\`. */\nexport type Notification = ${eventTypes.map(notificationOf).join(' | ')}`,
    )
    const written = new Map(this.#own)
    for (let missing = this.#missing(written); missing.length > 0; missing = this.#missing(written)) {
      for (const name of missing) written.set(name, this.#declaration(name))
    }
    const all = [...written].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, text]) => text)
    return ["import type { Cents } from '../money.ts'", ...all].join('\n\n')
  }

  #missing(written: ReadonlyMap<string, string>): string[] {
    return [...this.#wanted].filter((name) => !written.has(name))
  }

  #declaration(name: string): string {
    const schema = document.components.schemas[name] ?? {}
    const text = schema.description === undefined ? '' : comment([schema.description])
    return schema.type === 'object' && schema.properties
      ? `${text}export interface ${name} {\n${this.fields(schema)}}`
      : `${text}export type ${name} = ${this.of(schema)}`
  }

  #object(schema: Schema): string {
    if (schema.properties) return `{\n${this.fields(schema, '    ')}  }`
    const [values] = Object.values(schema.patternProperties ?? {})
    return `Readonly<Record<string, ${values ? this.of(values) : 'unknown'}>>`
  }
}

function notificationOf(type: string): string {
  return `${type.replace('pix', '').replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}Notification`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value)
}

function parenthesised(type: string): string {
  return type.includes('|') ? `(${type})` : type
}

/** A documentation comment. */
function comment(paragraphs: readonly string[], indent = ''): string {
  const lines = paragraphs.join('\n\n').replaceAll('*/', '*\\/').split('\n')
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const CLIENTS = ['merchant', 'operator'] as const

type Client = (typeof CLIENTS)[number]

/** A class for each resource, with a method for each of its operations. */
function methodsSource(client: Client, types: Types): string {
  const resources = Map.groupBy(Object.entries(surfaces[client]), ([, { name }]) => name.split('.')[0] ?? '')
  const examples = examplesIn(client)
  const classes = [...resources].map(([resource, methods]) => {
    const texts = methods.map(([id]) => methodSource(client, id as keyof typeof endpoints, types, examples))
    return `export class ${capitalised(resource)}Methods {
  protected readonly transport: Transport

  constructor(transport: Transport) {
    this.transport = transport
  }

${texts.join('\n')}}`
  })
  const text = classes.join('\n\n')
  return [...importsOf(text, types.names()), '', text].join('\n')
}

function importsOf(text: string, types: readonly string[]): string[] {
  const code = text.replaceAll(/\/\*\*[\s\S]*?\*\//g, '')
  const used = (names: readonly string[]) => names.filter((name) => new RegExp(`\\b${name}\\b`).test(code)).sort()
  const transport = ['Created', 'List', 'RequestOptions', 'Transport']
  const typed = used(transport).map((name) => `type ${name}`)
  return [
    ...used(['reais']).map((name) => `import { ${name} } from '../money.ts'`),
    `import { ${[...typed, ...used(['part'])].join(', ')} } from '../transport.ts'`,
    `import type {\n${used(types)
      .map((name) => `  ${name},\n`)
      .join('')}} from './types.ts'`,
  ]
}

function methodSource(client: Client, id: keyof typeof endpoints, types: Types, examples: ReadonlyMap<string, string>) {
  const endpoint: Endpoint = endpoints[id]
  const line = surfaces[client][id]
  const operation = document.paths[endpoint.path]?.[endpoint.method.toLowerCase()]
  if (!line || !operation) throw new Error(`${id} is not in the document`)
  const ids = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(
    ([, name = '']) => (name === 'id' ? line.id : undefined) ?? camel(name),
  )
  const input = inputOf(endpoint, line, operation, types)
  const parameters = [...ids.map((name) => `${name}: string`), ...input.parameters, 'options?: RequestOptions']
  const { signature, call } = callOf(client, line, operation, endpoint, types)
  const described = `{ ${operationFields(endpoint, line, operation, ids).join(', ')} }`
  const [, name] = line.name.split('.')
  return `${comment(documentation(endpoint, examples.get(line.name)), '  ')}  ${name}(${parameters.join(', ')}): ${signature} {
${input.statements.map((statement) => `    ${statement}\n`).join('')}    return this.transport.${call(described, input.argument)}
  }
`
}

/** How a method takes the query or the body, and passes it on. */
interface MethodInput {
  readonly parameters: readonly string[]
  readonly statements: readonly string[]
  /** Of the transport's method. */
  readonly argument: string
}

function inputOf({ id }: Endpoint, line: SdkMethod, operation: Operation, types: Types): MethodInput {
  const query = operation.parameters.filter((parameter) => parameter.in === 'query')
  const body = operation.requestBody
  if (body) return bodyOf(id, line, body.content['application/json'].schema, body.required, types)
  if (query.length === 0) return { parameters: [], statements: [], argument: '{}' }
  const fields = query.map(({ name, schema, description, required }) =>
    types.field(name, { ...schema, ...(description !== undefined && { description }) }, required),
  )
  const type = types.add(`${capitalised(id)}Query`, `export interface ${capitalised(id)}Query {\n${fields.join('')}}`)
  const isOptional = !query.some(({ required }) => required)
  return { parameters: [`query${isOptional ? '?' : ''}: ${type}`], statements: [], argument: '{ query }' }
}

/** A `transaction` in a body is flattened: its fields stand beside the others. Reais are written from centavos. */
function bodyOf(id: string, line: SdkMethod, reference: Schema, isRequired: boolean, types: Types): MethodInput {
  const schema = resolved(reference)
  const { transaction: inner, ...others } = schema.properties ?? {}
  const transaction = inner && resolved(inner)
  const flat = {
    properties: { ...transaction?.properties, ...others },
    required: [...(transaction?.required ?? []), ...(schema.required ?? []), ...(line.demands ?? [])],
  }
  const money = Object.keys(flat.properties).filter((name) => flat.properties[name]?.format === 'double')
  const isAsItIs = money.length === 0 && transaction === undefined
  const type = isAsItIs
    ? types.of(reference)
    : types.add(`${capitalised(id)}Params`, `export interface ${capitalised(id)}Params {\n${types.fields(flat)}}`)
  const parameters = [`params${isRequired ? '' : '?'}: ${type}`]
  if (isAsItIs) return { parameters, statements: [], argument: '{ body: params }' }
  const written = (from: string) => [`...${from}`, ...money.map((name) => `${name}: reais(${from}.${name})`)].join(', ')
  if (!transaction) return { parameters, statements: [`const body = { ${written('params')} }`], argument: '{ body }' }
  const rest = Object.keys(others)
  return {
    parameters,
    statements: [
      `const { ${[...rest, '...transaction'].join(', ')} } = params`,
      `const body = { ${[`transaction: { ${written('transaction')} }`, ...rest].join(', ')} }`,
    ],
    argument: '{ body }',
  }
}

function resolved(schema: Schema): Schema {
  const { $ref } = schema
  return $ref === undefined ? schema : (document.components.schemas[$ref.replace(/^.*\//, '')] ?? schema)
}

/** The result of a method, and the call that gets it. */
function callOf(client: Client, line: SdkMethod, operation: Operation, endpoint: Endpoint, types: Types) {
  const answer = answerOf(operation, types)
  const page = pageItemOf(operation)
  if (endpoint.method === 'GET' && page) {
    const list = `${types.of(page)}, ${answer}`
    return {
      signature: `List<${list}>`,
      call: (described: string, input: string) =>
        `list<${list}>(${described}, ${input === '{}' ? 'undefined' : 'query'}, options)`,
    }
  }
  if (line.reads === undefined) {
    return {
      signature: `Promise<${answer}>`,
      call: (described: string, input: string) => `send<${answer}>(${described}, ${input}, options)`,
    }
  }
  const reader = Object.entries(surfaces[client]).find(
    ([, { name }]) => name === `${line.name.split('.')[0]}.${line.reads}`,
  )
  if (!reader) throw new Error(`no method is called ${line.reads}`)
  const { path } = endpoints[reader[0] as keyof typeof endpoints]
  const both = `${answer} | ${answerOf(document.paths[path]?.get as Operation, types)}`
  const read = `(id, rest) => this.${line.reads}(id, rest)`
  return {
    signature: `Promise<Created<${both}>>`,
    call: (described: string) => `create<${both}>(${described}, params.externalId, body, ${read}, options)`,
  }
}

function contentsOf({ responses }: Operation) {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.entries(content).slice(0, 1))
}

function isFile(operation: Operation): boolean {
  return contentsOf(operation).some(([type]) => !type.includes('json'))
}

function answerOf(operation: Operation, types: Types): string {
  if (isFile(operation)) return 'Blob'
  return [...new Set(contentsOf(operation).map(([, { schema }]) => types.of(schema)))].join(' | ') || 'void'
}

/** The item of a page that is read by cursor. */
function pageItemOf(operation: Operation): Schema | undefined {
  const [[, content] = []] = contentsOf(operation)
  const { data, pagination } = (content && resolved(content.schema).properties) ?? {}
  return pagination && resolved(pagination).properties?.nextCursor ? data?.items : undefined
}

function operationFields(endpoint: Endpoint, line: SdkMethod, operation: Operation, ids: readonly string[]): string[] {
  const left = [...ids]
  const path = endpoint.path.replaceAll(/\{\w+\}/g, () => `\${part(${left.shift()})}`)
  const isKeyed = endpoint.headers !== undefined && 'Idempotency-Key' in endpoint.headers
  return [
    `name: '${line.name}'`,
    `method: '${endpoint.method}'`,
    `path: ${ids.length > 0 ? `\`${path}\`` : `'${path}'`}`,
    ...(line.isRepeatable ? ['isRepeatable: true'] : []),
    ...(isKeyed ? ['isKeyed: true'] : []),
    ...(isFile(operation) ? ['isFile: true'] : []),
    ...(line.asks ? [`asks: '${line.asks}'`] : []),
  ]
}

function documentation(
  { summary, description, auth, scope, role, errors }: Endpoint,
  example: string | undefined,
): string[] {
  const needs =
    auth === 'api-key'
      ? `Needs the scope \`${scope}\`.`
      : auth === 'admin'
        ? `Needs the role ${[role].flat().join(' or ')}.`
        : ''
  const refusals = errors.length > 0 ? `Errors of its own: ${errors.map((code) => `\`${code}\``).join(', ')}.` : ''
  return [
    `${summary}.`,
    ...(description === undefined ? [] : [description]),
    [needs, refusals].filter((text) => text !== '').join(' '),
    ...(example === undefined ? [] : [`@example\n${example}`]),
  ].filter((text) => text !== '')
}

/** Bodies of the functions in `test/examples.ts`, which run as tests, by the method that they show. */
function examplesIn(client: Client): ReadonlyMap<string, string> {
  const path = join(import.meta.dirname, '../../packages/sdk/test', `${client}-examples.ts`)
  const functions = readFileSync(path, 'utf8').matchAll(
    /^ {2}'([\w.]+)': async \([^)]*\) => \{\n([\s\S]*?)\n {2}\},$/gm,
  )
  return new Map([...functions].map(([, name = '', body = '']) => [name, body.replaceAll(/^ {4}/gm, '')]))
}

function samplesByOperation(): Readonly<Record<string, string | undefined>> {
  const samples = CLIENTS.flatMap((client) => {
    const examples = examplesIn(client)
    return Object.entries(surfaces[client]).map(([id, { name }]) => [id, examples.get(name)] as const)
  })
  return Object.fromEntries(samples)
}

function codesOf(client: Client): ErrorCode[] {
  const answered = Object.keys(surfaces[client]).flatMap((id) => errorsOf(endpoints[id as keyof typeof endpoints]))
  return [...new Set<ErrorCode>([...answered, 'method_not_allowed'])].sort()
}

function fixesOf(name: string, codes: readonly ErrorCode[]): string {
  const text = (sentence: string) => `'${sentence.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = codes.map(
    (code) =>
      `  ${code}: {\n    en: ${text(errorHelp[code].cure)},\n    'pt-BR': ${text(errorHelpPtBr[code].cure)},\n  },\n`,
  )
  return `export const ${name} = {\n${lines.join('')}} as const`
}

function errorsSource(): string {
  const codes = codesOf('merchant')
  const others = codesOf('operator').filter((code) => !codes.includes(code))
  const union = [...codes, ...others].sort().map((code) => `\n  | '${code}'`)
  return `/** A stable code of Pixgate. */\nexport type ErrorCode =${union.join('')}\n\n/** What to do, by code. */\n${fixesOf('fixes', codes)}`
}

function operatorErrorsSource(): string {
  const known = codesOf('merchant')
  return `/** What to do, by codes that only operators get. */\n${fixesOf(
    'operatorFixes',
    codesOf('operator').filter((code) => !known.includes(code)),
  )}`
}

function examplesSource(): string {
  const test = {
    event_type: 'webhook_test',
    event: { id: '0198c0df-19f0-7000-8000-1a2b3c4d5e6f', created_at: '2026-11-21T13:20:00.031Z' },
  }
  return `/** A notification of each type. */\nexport const examples = ${JSON.stringify({ ...eventExamples, webhook_test: test }, null, 2)} as const`
}

function camel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
