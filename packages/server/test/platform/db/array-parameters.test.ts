import assert from 'node:assert/strict'
import test from 'node:test'
import { statement } from '../../../src/platform/db/database.ts'
import { testDatabase } from '../../support/database.ts'

const echo = statement<[ones: readonly number[], others: readonly number[], texts: readonly string[]], object>(
  'test.echo_arrays',
  'SELECT $1::integer[] AS ones, $2::integer[] AS others, $3::text[] AS texts',
)

function arraysOf(seed: number) {
  return {
    ones: Array.from({ length: 100 }, (_, index) => seed + index),
    others: Array.from({ length: 100 }, (_, index) => 1_000_000 - seed - index),
    texts: Array.from({ length: 100 }, (_, index) => `${seed} ${index}`),
  }
}

test('arrays of one statement, and of many at once, are each what was given', async (t) => {
  const { database } = await testDatabase(t)
  const given = Array.from({ length: 50 }, (_, index) => arraysOf(index * 1_000))
  const told = await Promise.all(given.map(({ ones, others, texts }) => database.rows(echo, [ones, others, texts])))
  assert.deepEqual(told.flat(), given)
})

test('statements that wait for the same connection are each sent with their own arrays', async (t) => {
  const { database } = await testDatabase(t)
  const given = Array.from({ length: 10 }, (_, index) => arraysOf(index * 1_000))
  const told = await database.transaction((queries) =>
    Promise.all(given.map(({ ones, others, texts }) => queries.rows(echo, [ones, others, texts]))),
  )
  assert.deepEqual(told.flat(), given)
})

test('an array that takes more than there is room for is sent as well', async (t) => {
  const { database } = await testDatabase(t)
  const given = { ones: [1], others: [2], texts: ['x'.repeat(600 * 1_024), 'ü'.repeat(300 * 1_024)] }
  assert.deepEqual(await database.rows(echo, [given.ones, given.others, given.texts]), [given])
})
