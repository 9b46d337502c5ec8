import assert from 'node:assert/strict'
import test from 'node:test'
import { compileValidator } from '../../../src/platform/http/request.ts'
import { endpoints } from './thing-server.ts'

const validate = compileValidator(endpoints.createThing.body)
const codes = (value: unknown) => validate(value).map(({ field, code }) => `${field}: ${code}`)

test('[http.7] nothing is coerced', () => {
  assert.deepEqual(validate({ name: 'cup', count: 3 }), [])
  for (const count of ['3', true, [3], 3.5, null, Number.POSITIVE_INFINITY]) {
    assert.deepEqual(codes({ name: 'cup', count }), ['count: type'], String(count))
  }
  for (const name of [5, true, null, ['cup'], {}]) assert.deepEqual(codes({ name }), ['name: type'], String(name))
})

test('[http.7] nothing is removed and nothing is filled in', () => {
  const value = { name: 'cup', more: 1 }
  assert.deepEqual(codes(value), ['more: unknown_field'])
  assert.deepEqual(value, { name: 'cup', more: 1 })
})

test('[http.1] each kind of fault has its code', () => {
  assert.deepEqual(codes({}), ['name: required'])
  assert.deepEqual(codes({ name: '' }), ['name: too_short'])
  assert.deepEqual(codes({ name: 'x'.repeat(11) }), ['name: too_long'])
  assert.deepEqual(codes({ name: 'a\u0000b' }), ['name: pattern'])
  assert.deepEqual(codes({ name: 'cup', count: 0 }), ['count: out_of_range'])
  assert.deepEqual(codes({ name: 'cup', count: 11 }), ['count: out_of_range'])
  assert.deepEqual(codes({ name: 'cup', tags: [] }), ['tags: too_short'])
  assert.deepEqual(codes({ name: 'cup', tags: ['red', 'blue', 'green'] }), ['tags: too_long'])
  assert.deepEqual(codes({ name: 'cup', tags: ['red', 'red'] }), ['tags: duplicate'])
  assert.deepEqual(codes({ name: 'cup', tags: ['red', 'pink'] }), ['tags[1]: enum'])
  assert.deepEqual(codes({ name: 'cup', owner: { id: '7' } }), ['owner.id: too_short'])
  assert.deepEqual(codes({ name: 'cup', owner: { id: 'x'.repeat(36) } }), ['owner.id: format'])
  assert.deepEqual(codes({ name: 'cup', owner: { id: crypto.randomUUID(), born: '2026-02-30' } }), [
    'owner.born: format',
  ])
})

test('[http.7] a half surrogate is refused, a whole pair is a character', () => {
  assert.deepEqual(codes({ name: 'a\ud800' }), ['name: pattern'])
  assert.deepEqual(codes({ name: '😀'.repeat(10) }), [])
})

test('[http.1] a value that may be null is faulted once, as what it should be', () => {
  assert.deepEqual(codes({ name: 'cup', note: null }), [])
  assert.deepEqual(codes({ name: 'cup', note: '7' }), ['note: pattern'])
  assert.deepEqual(codes({ name: 'cup', note: 7 }), ['note: type'])
  assert.deepEqual(codes({ name: 'cup', maker: null }), [])
  assert.deepEqual(codes({ name: 'cup', maker: {} }), ['maker.name: required'])
})

test('[http.1] a union of constants is faulted once, with all that is allowed', () => {
  const [fault, ...more] = compileValidator(endpoints.listThings.query)({ kind: 'MIDDLE' })
  assert.deepEqual(fault, { field: 'kind', code: 'enum', message: 'kind must be one of BIG, SMALL' })
  assert.deepEqual(more, [])
})

test('[http.7] an unknown field is named with the nearest that is known, or with all', () => {
  const messages = (value: unknown) => validate(value).map(({ message }) => message)
  const all = 'known are name, count, tags, owner, note, maker'
  assert.deepEqual(messages({ name: 'cup', cuont: 1 }), ['cuont is not a known field; did you mean count?'])
  assert.deepEqual(messages({ name: 'cup', colour: 1 }), [`colour is not a known field; ${all}`])
  assert.deepEqual(messages({ name: 'cup', maker: { name: 'x', nmae: 'y' } }), [
    'maker.nmae is not a known field; did you mean maker.name?',
  ])
})

test('[http.1] all faulty fields are named at once, each once', () => {
  assert.deepEqual(codes({ count: 0, tags: 'red', owner: {}, x: 1 }).toSorted(), [
    'count: out_of_range',
    'name: required',
    'owner.id: required',
    'tags: type',
    'x: unknown_field',
  ])
})

test('[http.1] a body that is no object is reported as such', () => {
  for (const value of [null, 5, 'text', [], true]) {
    assert.deepEqual(validate(value), [{ field: '', code: 'type', message: 'the body must be an object' }])
  }
})

test('[http.1] an answer names at most twenty fields and repeats at most 64 characters of a key', () => {
  const unknown = Object.fromEntries([...Array(100).keys()].map((n) => [`${n}`.padEnd(500, '-'), 1]))
  const faults = validate({ name: 'cup', ...unknown })
  assert.equal(faults.length, 20)
  for (const { field } of faults) assert.equal(field.length, 64)
})

test('[http.1] keys with slashes, tildes and dots keep them', () => {
  assert.deepEqual(codes({ name: 'cup', 'a/b~c.d': 1 }), ['a/b~c.d: unknown_field'])
})
