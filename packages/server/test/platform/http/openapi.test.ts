import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, endpoints, errors, errorsOf, eventSchemas, eventTypes } from '@pixgate/spec'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { TSchema } from 'typebox'
import { closed } from '../../../../spec/test/support/closed.ts'
import type { EndpointTable } from '../../../src/platform/http/handler.ts'
import { openApiDocument } from '../../../src/platform/http/openapi.ts'
import { formats, idempotencyKeyOf } from '../../../src/platform/http/request.ts'
import { compilerOf, withoutReferences } from '../../fuzz/document.ts'
import { endpoints as things } from './thing-server.ts'

const info = {
  title: 'Things',
  version: '1.0.0',
  description: 'x',
  license: 'Apache-2.0',
  defaultHost: '127.0.0.1:8080',
}
const all: readonly Endpoint[] = Object.values(endpoints)

/** Every operation of paths or webhooks. */
function operationsOf(...tables: readonly object[]): Operation[] {
  return tables.flatMap((table) => Object.values(table).flatMap((methods) => Object.values(methods as object)))
}

interface Operation {
  readonly operationId: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly requestBody: object
  readonly responses: object
}

/** The document as a reader gets it. */
function written(table: EndpointTable) {
  return JSON.parse(JSON.stringify(openApiDocument(table, info)))
}

async function faults(document: unknown): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended'] })
  const found = await lintFromString({ source: JSON.stringify(document), config })
  return found.map(({ ruleId, message }) => `${ruleId}: ${message}`)
}

test('[http.2] the document of every endpoint has no fault and no warning', async () => {
  assert.deepEqual(await faults(written(endpoints)), [])
  assert.deepEqual(await faults(written(things)), [])
})

test('[http.2] the linter is awake', async () => {
  const document = written(things)
  delete document.info.license
  delete document.components.securitySchemes.apiKey
  document.paths['/things'].get.parameters[0].schema = { type: 'nonsense' }
  const found = (await faults(document)).map((fault) => fault.split(':')[0])
  for (const rule of ['info-license', 'security-defined', 'struct']) assert.ok(found.includes(rule), rule)
})

test('[http.2] every endpoint is an operation under its path and method', () => {
  const { paths } = written(endpoints)
  for (const { id, path, method, tag, summary } of all) {
    const operation = paths[path][method.toLowerCase()]
    assert.equal(operation.operationId, id)
    assert.deepEqual(operation.tags, [tag])
    assert.equal(operation.summary, summary)
  }
})

test('[http.2] every status an endpoint can answer is there, each problem with every code it may have', () => {
  const { paths, components } = written(endpoints)
  for (const endpoint of all) {
    const { responses } = paths[endpoint.path][endpoint.method.toLowerCase()]
    const codes = errorsOf(endpoint)
    const own = Object.keys(endpoint.responses)
    const statuses = new Set([...own, ...codes.map((code) => `${errors[code].status}`), '405'])
    assert.deepEqual(Object.keys(responses).toSorted(), [...statuses].toSorted())
    for (const code of codes) {
      const { content, headers } = responses[errors[code].status]
      assert.equal(content['application/problem+json'].examples[code].$ref, `#/components/examples/${code}`)
      const { value } = components.examples[code]
      assert.equal(value.code, code)
      const [fault] = value.errors
      assert.equal(value.message, code === 'validation_error' ? fault.message : errors[code].message)
      assert.equal(value.status, errors[code].status)
      assert.ok('X-Correlation-ID' in headers)
      assert.equal('Retry-After' in headers, [429, 503].includes(errors[code].status))
    }
  }
})

test('[http.2] a status with an answer of its own keeps it beside the problem', () => {
  const { content } = written(things).paths['/healthz'].get.responses[503]
  assert.deepEqual(Object.keys(content), ['application/json', 'application/problem+json'])
})

test('[http.2] parameters are in their places, required where they are', () => {
  const { paths } = written(things)
  const places = (path: string, method: string) =>
    paths[path][method].parameters.map((parameter: Record<string, unknown>) =>
      parameter.$ref ? 'correlation id' : `${parameter.in} ${parameter.name} ${parameter.required}`,
    )
  assert.deepEqual(places('/things/{id}', 'get'), ['path id true', 'correlation id'])
  assert.deepEqual(places('/things', 'get'), [
    'query limit false',
    'query active false',
    'query kind false',
    'query name false',
    'correlation id',
  ])
})

test('[http.2] the first server is the sandbox as it answers, over plain HTTP; the other one is behind TLS', () => {
  const [sandbox, production] = written(things).servers
  assert.equal(sandbox.url, 'http://127.0.0.1:8080')
  assert.equal(sandbox.variables, undefined)
  assert.equal(production.url, 'https://{host}')
  assert.ok(production.variables.host.default)
})

test('[http.2] a body is required unless an empty one will do', () => {
  const { paths } = written(things)
  assert.equal(paths['/things'].post.requestBody.required, true)
  assert.equal(paths['/mood'].put.requestBody.required, false)
  assert.equal(paths['/touch'].post.requestBody, undefined)
})

test('[http.2] [api-keys.8] [operators.3] each credential has its scheme, with the scope or the role', () => {
  const { paths, components } = written(things)
  assert.deepEqual(paths['/things'].get.security, [{ apiKey: ['charge'] }])
  assert.deepEqual(paths['/touch'].post.security, [{ adminToken: ['admin'] }])
  assert.deepEqual(paths['/events'].post.security, [{ partnerSignature: [], partnerTimestamp: [] }])
  assert.deepEqual(paths['/key'].get.security, [])
  assert.equal(components.securitySchemes.partnerSignature.name, 'X-Partner-Signature')
})

test('[http.2] an answer of text has its content type', () => {
  const { paths } = written(things)
  assert.deepEqual(Object.keys(paths['/key'].get.responses[200].content), ['application/x-pem-file'])
  assert.equal(paths['/things/{id}'].delete.responses[204].content, undefined)
})

/** Everything in the document that has a schema and may have an example, with where it stands. */
function contentsOf(value: unknown, place = ''): readonly { place: string; content: Content }[] {
  if (typeof value !== 'object' || value === null) return []
  const own = Object.entries(value).flatMap(([key, inner]) => contentsOf(inner, `${place}/${key}`))
  return 'schema' in value ? [{ place, content: value as Content }, ...own] : own
}

interface Content {
  readonly name?: string
  readonly schema: unknown
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

const bodiesOf = (document: unknown) => contentsOf(document).filter(({ place }) => place.includes('/content/'))

test('[reference.4] every body has a name, which generators call its type by', () => {
  for (const { place, content } of bodiesOf(written(endpoints))) {
    assert.match((content.schema as { $ref?: string }).$ref ?? '', /^#\/components\/schemas\/[A-Z]\w+$/, place)
  }
})

test('[reference.4] every body has an example, and every example in the document is what its schema says', () => {
  const document = withoutReferences(written(endpoints))
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats })
  ajv.addFormat('uri-reference', /^[!-~]+$/)
  const compile = compilerOf(ajv)
  let count = 0
  for (const { place, content } of contentsOf(document)) {
    const { schema, example, examples = {} } = content
    const given = [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)]
    if (place.includes('/content/')) assert.ok(given.length > 0, `${place} has no example`)
    for (const value of given) {
      const isRequest = place.includes('/requestBody/')
      const isValid = compile((isRequest ? schema : closed(schema)) as object)
      assert.ok(isValid(value), `${place}: ${ajv.errorsText(isValid.errors)}`)
      count += 1
    }
  }
  assert.ok(count > 300, String(count))
})

/** A cursor stands in place of the page: tools send all examples together. */
const excludesPage = ({ name, parameters }: { name: string; parameters: readonly Parameter[] }) =>
  name === 'cursor' && parameters.some((other) => other.name === 'page')

test('[reference.4] every parameter has a description, and an example that may stand beside all others', () => {
  const { paths, webhooks, components } = withoutReferences(written(endpoints)) as ReturnType<typeof written>
  const all = operationsOf(paths, webhooks).flatMap(({ operationId, parameters }) =>
    parameters.map((parameter) => ({
      ...parameter,
      place: `${parameter.name} of ${operationId}`,
      isAlone: excludesPage({ name: parameter.name, parameters }),
    })),
  )
  assert.ok(all.length > 60)
  for (const { place, description, example, isAlone = false } of [
    ...all,
    ...Object.values<Parameter & { place: string; isAlone?: boolean }>(components.parameters),
  ]) {
    assert.ok(description, `${place} has no description`)
    assert.equal(example === undefined, isAlone, `the example of ${place}`)
  }
})

test('[reference.4] no field of a request has a default: generators would make it one that must be there', () => {
  const { paths } = withoutReferences(written(endpoints)) as ReturnType<typeof written>
  for (const { operationId, requestBody } of operationsOf(paths)) {
    assert.doesNotMatch(JSON.stringify(requestBody ?? {}), /"default":/, operationId)
  }
})

/** Every schema of a document that is of this type, with where it stands. */
function schemasOf(type: string, value: unknown, place = ''): readonly { place: string; schema: IntegerSchema }[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, part]) => schemasOf(type, part, `${place}/${key}`))
  return 'type' in value && value.type === type ? [{ place, schema: value as IntegerSchema }, ...inner] : inner
}

/** Every choice between schemas in a document, with where it stands. */
function unionsOf(value: unknown, place = ''): readonly { place: string; schema: { anyOf: readonly object[] } }[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, part]) => unionsOf(part, `${place}/${key}`))
  return 'anyOf' in value ? [{ place, schema: value as { anyOf: readonly object[] } }, ...inner] : inner
}

interface IntegerSchema {
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
}

test('[reference.6] an integer that 32 bits may not hold is int64, and no other is', () => {
  const integers = schemasOf('integer', written(endpoints))
  assert.ok(integers.length > 50)
  for (const { place, schema } of integers) {
    const { format, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
    const isWide = maximum > 2 ** 31 - 1 || minimum < -(2 ** 31)
    assert.equal(format, isWide ? 'int64' : undefined, place)
  }
})

test('[reference.4] a pattern of the document is one that every language reads', () => {
  const patterns = [...JSON.stringify(written(endpoints)).matchAll(/"pattern":"((?:[^"\\]|\\.)*)"/g)].map(([, text]) =>
    JSON.parse(`"${text}"`),
  )
  assert.ok(patterns.length > 20)
  for (const pattern of patterns) {
    assert.doesNotMatch(pattern, /\\[pP]|\\u\{|\(\?[=!<]/, pattern)
    // In Java a bracket within a class begins another one.
    assert.doesNotMatch(pattern, /\[(?:[^\]\\]|\\.)*(?<!\\)\[/, pattern)
  }
})

test('[reference.4] a choice of words is an enumeration, which generators make a type of', () => {
  for (const { place, schema } of unionsOf(written(endpoints))) {
    assert.ok(!schema.anyOf.every((option) => 'const' in option), place)
  }
})

test('[cash-in.create.5] [cash-out.create.5] [refund-in.create.5] a 201 has the one status that it can have', () => {
  const { components } = written(endpoints)
  const statusOf = (name: string) => components.schemas[name].properties.status
  assert.deepEqual(statusOf('CashInCreated').enum, ['PENDING'])
  assert.deepEqual(statusOf('CashOutCreated').enum, ['RESERVED'])
  assert.deepEqual(statusOf('QrCodeCashOutCreated').enum, ['RESERVED'])
  assert.deepEqual(statusOf('RefundInCreated').enum, ['PENDING'])
})

test('[idempotency.1] the document takes the keys that the service takes, and no others', () => {
  const ajv = new Ajv2020({ strict: false })
  const texts = ['a', '"a"', '"a b"', 'a b', '"', '""', 'a"', 'a,b', '"a,b"', 'a\\', 'ç', '~!', '-', '[', ']', '#', '']
  const lengths = [255, 256].flatMap((length) => ['x'.repeat(length), `"${'x'.repeat(length)}"`])
  const { paths } = written(endpoints)
  const all = operationsOf(paths).flatMap(({ parameters }) => parameters)
  const keys = all.filter(({ name }) => name === 'Idempotency-Key')
  assert.ok(keys.length > 0)
  for (const { schema } of keys) {
    for (const text of [...texts, ...lengths]) assert.equal(ajv.validate(schema, text), isTaken(text), text)
  }
})

interface Parameter {
  readonly name: string
  readonly schema: object
  readonly description?: string
  readonly example?: unknown
}

function isTaken(key: string): boolean {
  try {
    return idempotencyKeyOf({ 'idempotency-key': key }) !== null
  } catch {
    return false
  }
}

test('[reference.7] answers and notifications may have more fields one day; a request has those that are named', () => {
  const { paths, webhooks } = withoutReferences(written(endpoints)) as ReturnType<typeof written>
  const isClosed = ({ schema }: { schema: object }) => 'additionalProperties' in schema
  for (const { operationId, requestBody, responses, tags } of operationsOf(paths)) {
    assert.deepEqual(schemasOf('object', responses).filter(isClosed), [], operationId)
    if (!tags.includes('Partner')) assert.ok(schemasOf('object', requestBody).every(isClosed), operationId)
  }
  assert.deepEqual(schemasOf('object', webhooks).filter(isClosed), [])
})

test('[reference.4] every operation has a name of its own, a description and a group that is described', () => {
  const { paths, webhooks, tags } = written(endpoints)
  const operations = operationsOf(paths, webhooks)
  const names = operations.map(({ operationId }) => operationId)
  assert.equal(new Set(names).size, names.length)
  const described = tags.map(({ name }: { name: string }) => name)
  for (const { operationId, description = '', tags: own } of operations) {
    assert.notEqual(description, '', operationId)
    for (const tag of own) assert.ok(described.includes(tag), `${operationId}: ${tag}`)
  }
})

test('[reference.4] [events.2] the four notifications are webhooks, with the published schemas', () => {
  const { webhooks } = withoutReferences(written(endpoints)) as ReturnType<typeof written>
  assert.deepEqual(Object.keys(webhooks), [...eventTypes])
  for (const type of eventTypes) {
    const { requestBody, parameters } = webhooks[type].post
    const { schema, example } = requestBody.content['application/json']
    assert.equal(schema.properties.event_type.const, type)
    assert.deepEqual(
      Object.keys(schema.properties.event.properties),
      Object.keys(eventSchemas[type].properties.event.properties),
    )
    assert.equal(example.event_type, type)
    assert.ok(parameters.some(({ name }: { name: string }) => name === 'Digital-Signature'))
  }
})

test('[reference.4] two schemas of one name are a fault, not a choice', () => {
  const named = (title: string, schema: object) =>
    ({
      ...things.getHealth,
      responses: { 200: { description: 'x', schema: { ...schema, title } as TSchema } },
    }) as Endpoint
  const table = (first: object, second: object) => ({
    a: named('Twin', first),
    b: { ...named('Twin', second), path: '/other', id: 'other' },
  })
  assert.throws(() => openApiDocument(table({ type: 'string' }, { type: 'number' }), info), /title Twin/)
  assert.doesNotThrow(() => openApiDocument(table({ type: 'string' }, { type: 'string' }), info))
})

test('[reference.12] amounts, absent fields, ids and names are what client generators need', () => {
  const { components, paths } = written(endpoints)
  const { CashInRequest, CashInRequestTransaction, CashInStatus, BankEventReceived } = components.schemas
  const { value, description } = CashInRequestTransaction.properties
  assert.partialDeepStrictEqual(value, { type: 'number', format: 'double', minimum: 0.01, maximum: 9_999_999_999.99 })
  assert.equal('multipleOf' in value, false)
  assert.equal(description.type, 'string', 'null counts as absent, and is not offered')
  assert.equal(CashInRequest.properties.transaction.$ref, '#/components/schemas/CashInRequestTransaction')
  assert.deepEqual(CashInStatus['x-enum-varnames'].slice(0, 2), ['CashInStatusPending', 'CashInStatusPaid'])
  assert.deepEqual(BankEventReceived.properties.received, { type: 'boolean' })
  const [id] = paths['/api/pix/cash-in/{id}'].get.parameters
  assert.equal(id.schema.format, 'uuid')
})

test('[reference.12] no two enumerations have a constant of the same name', () => {
  const schemas: readonly Readonly<Record<string, unknown>>[] = Object.values(written(endpoints).components.schemas)
  const names = schemas.flatMap((schema) => (schema['x-enum-varnames'] ?? []) as readonly string[])
  assert.deepEqual(names.toSorted(), [...new Set(names)].toSorted())
})
