import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, endpoints, errors, errorsOf } from '@pixgate/spec'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import type { EndpointTable } from '../../../src/platform/http/handler.ts'
import { openApiDocument } from '../../../src/platform/http/openapi.ts'
import { compileValidator } from '../../../src/platform/http/validation.ts'
import { endpoints as things } from './thing-server.ts'

const info = {
  title: 'Things',
  version: '1.0.0',
  description: 'x',
  license: 'Apache-2.0',
  defaultHost: '127.0.0.1:8080',
}
const all: readonly Endpoint[] = Object.values(endpoints)

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
  const { paths } = written(endpoints)
  for (const endpoint of all) {
    const { responses } = paths[endpoint.path][endpoint.method.toLowerCase()]
    const codes = errorsOf(endpoint)
    const statuses = new Set([...Object.keys(endpoint.responses), ...codes.map((code) => `${errors[code].status}`)])
    assert.deepEqual(Object.keys(responses).toSorted(), [...statuses].toSorted())
    for (const code of codes) {
      const { content, headers } = responses[errors[code].status]
      const { value } = content['application/problem+json'].examples[code]
      assert.equal(value.code, code)
      assert.equal(value.message, errors[code].message)
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

test('[http.2] examples match the schemas they stand beside', () => {
  for (const { id, body, auth, example, responses } of all) {
    if (body && auth !== 'partner') assert.deepEqual(compileValidator(body)(example), [], id)
    for (const response of Object.values(responses)) {
      if (response.schema) assert.deepEqual(compileValidator(response.schema)(response.example), [], id)
    }
  }
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

test('[http.2] each credential has its scheme', () => {
  const { paths, components } = written(things)
  assert.deepEqual(paths['/things'].get.security, [{ apiKey: [] }])
  assert.deepEqual(paths['/touch'].post.security, [{ adminToken: [] }])
  assert.deepEqual(paths['/events'].post.security, [{ partnerSignature: [], partnerTimestamp: [] }])
  assert.deepEqual(paths['/key'].get.security, [])
  assert.equal(components.securitySchemes.partnerSignature.name, 'X-Partner-Signature')
})

test('[http.2] an answer of text has its content type', () => {
  const { paths } = written(things)
  assert.deepEqual(Object.keys(paths['/key'].get.responses[200].content), ['application/x-pem-file'])
  assert.equal(paths['/things/{id}'].delete.responses[204].content, undefined)
})
