import assert from 'node:assert/strict'
import test from 'node:test'
import { endpoints, errors } from '@pixgate/spec'
import { errorEntries } from '../../src/reference/error-entries.ts'

const entries = errorEntries(Object.values(endpoints))
const entryOf = (code: string) => entries.find((entry) => entry.code === code)

test('[reference.3] every code has its cause and its cure, in whole sentences', () => {
  assert.deepEqual(
    entries.map(({ code }) => code),
    Object.keys(errors),
  )
  for (const { code, cause, cure } of entries) {
    for (const text of [cause, cure]) {
      assert.match(text, /^[A-Z0-9`].*\.$/, code)
      assert.equal((text.match(/`/g) ?? []).length % 2, 0, `${code}: code that does not end`)
    }
    assert.notEqual(cause, cure)
  }
})

test('[reference.3] an error says who answers it: by name, or by the set that they are', () => {
  assert.deepEqual(entryOf('version_conflict')?.answeredBy, ['PUT /operator/cash-out-switch'])
  assert.equal(entryOf('internal_error')?.answeredBy, 'every endpoint')
  assert.equal(entryOf('rate_limited')?.answeredBy, 'every endpoint that asks for a token')
  assert.deepEqual(entryOf('method_not_allowed')?.answeredBy, ['every path, for the methods that it does not have'])
  assert.ok(entryOf('not_found')?.answeredBy.includes('GET /api/pix/cash-in/{id}'))
})
