import assert from 'node:assert/strict'
import test from 'node:test'
import { endpoints, errors } from '@pixgate/spec'
import { errorEntries } from '../../src/reference/pages.ts'

const entries = errorEntries(Object.values(endpoints), 'en')
const inPortuguese = errorEntries(Object.values(endpoints), 'pt-BR')
const entryOf = (code: string) => entries.find((entry) => entry.code === code)

test('[reference.3] every code has its cause and its cure', () => {
  assert.deepEqual(
    entries.map(({ code }) => code),
    Object.keys(errors),
  )
  for (const { code, cause, cure } of [...entries, ...inPortuguese]) {
    for (const text of [cause, cure]) {
      assert.notEqual(text, '', code)
      assert.equal((text.match(/`/g) ?? []).length % 2, 0, `${code}: code that does not end`)
    }
    assert.notEqual(cause, cure)
  }
})

test('[reference.3] both languages name the same code, and nothing is left in the other one', () => {
  const codeOf = (text: string) => (text.match(/`[^`]+`/g) ?? []).sort()
  for (const [index, { code, cause, cure, status, answeredBy }] of entries.entries()) {
    const other = inPortuguese[index]
    assert.deepEqual([other?.code, other?.status], [code, status])
    assert.deepEqual(codeOf(`${other?.cause} ${other?.cure}`), codeOf(`${cause} ${cure}`), code)
    assert.notEqual(other?.cause, cause)
    if (typeof answeredBy === 'string') assert.notEqual(other?.answeredBy, answeredBy)
  }
})

test('[reference.3] [http.9] only who gets `Retry-After` is told to heed it', () => {
  for (const { code, status, cure } of entries) {
    assert.equal(cure.includes('`Retry-After`'), [429, 503].includes(status) && code !== 'cash_out_suspended', code)
  }
})

test('[reference.3] an error says who answers it: by name, or by the set that they are', () => {
  assert.deepEqual(entryOf('version_conflict')?.answeredBy, ['PUT /operator/cash-out-switch'])
  assert.equal(entryOf('internal_error')?.answeredBy, 'every endpoint')
  assert.equal(entryOf('rate_limited')?.answeredBy, 'every endpoint that asks for credentials')
  assert.deepEqual(entryOf('method_not_allowed')?.answeredBy, ['every path, for the methods that it does not have'])
  assert.ok(entryOf('not_found')?.answeredBy.includes('GET /api/pix/cash-in/{id}'))
})
