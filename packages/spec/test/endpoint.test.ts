import assert from 'node:assert/strict'
import test from 'node:test'
import { parseBrCode } from '@pixgate/brcode'
import type { TSchema } from 'typebox'
import { type Endpoint, endpoints, errors, errorsOf } from '../src/index.ts'
import { ajv } from './support/ajv.ts'
import { closed } from './support/closed.ts'

const all: readonly [name: string, definition: Endpoint][] = Object.entries(endpoints)

for (const [name, { id, body, example, path, params, responses }] of all) {
  test(`${name} is named by its key`, () => {
    assert.equal(id, name)
  })

  test(`${name} declares the parameters of its path`, () => {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)
    assert.deepEqual(Object.keys((params as { properties?: object } | undefined)?.properties ?? {}), named)
  })

  if (body !== undefined) {
    test(`${name} accepts its own example`, () => {
      assertMatches(body, example)
    })
  }

  for (const [status, { schema, example: answer }] of Object.entries(responses)) {
    if (schema !== undefined) {
      test(`${name} answers ${status} as its example shows`, () => {
        assertMatches(closed(schema), answer)
      })
    }
  }
}

test('no two endpoints share a method and a path', () => {
  const routes = all.map(([, { method, path }]) => `${method} ${path.replace(/\{\w+\}/g, '{}')}`)
  assert.deepEqual([...new Set(routes)], routes)
})

test('[http.2] every error an endpoint may answer exists, once', () => {
  for (const [name, definition] of all) {
    const codes = errorsOf(definition)
    assert.deepEqual([...new Set(codes)], codes, name)
    for (const code of codes) assert.ok(code in errors, `${name}: ${code}`)
    // The log-in checks a credential of its own.
    const isChecked = definition.auth !== 'none' || definition === endpoints.startSession
    assert.equal(codes.includes('unauthorized'), isChecked, name)
    const isJudged = definition.body !== undefined && definition.auth !== 'partner'
    assert.equal(codes.includes('malformed_json'), isJudged, name)
    assert.equal(codes.includes('rate_limited'), isChecked, name)
  }
})

test('[cash-in.create.1] the Pix code of the example can be read', () => {
  assert.ok(parseBrCode(endpoints.createCashIn.responses[201].example.pixCode))
})

function assertMatches(schema: TSchema, value: unknown): void {
  assert.ok(ajv.validate(schema, value), ajv.errorsText())
}
