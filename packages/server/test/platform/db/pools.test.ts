import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type Database, statement, withPools } from '../../../src/platform/db/database.ts'

/** A database that notes what it is asked and answers when the test says so. */
function noting() {
  const asked: { name: string; answer: PromiseWithResolvers<never[]> }[] = []
  const database = {
    rows: (query, _, isWanted) => {
      if (isWanted?.() === false) return Promise.reject(new Error('not wanted'))
      const answer = Promise.withResolvers<never[]>()
      asked.push({ name: query.name, answer })
      return answer.promise
    },
  } as Database
  return { database, asked, names: () => asked.map(({ name }) => name) }
}

const long = (name: string) => statement<[]>(name, '', { isLong: true })
const short = statement<[]>('short', '')

test('[lists.4] long statements run elsewhere, one at a time and in their order; short ones run beside them', async () => {
  const [here, elsewhere] = [noting(), noting()]
  const database = withPools(here.database, { keyed: noting().database, long: elsewhere.database })
  const answers = ['a', 'b', 'c'].map((name) => database.rows(long(name), []))
  void database.rows(short, [])
  await setImmediate()
  assert.deepEqual([here.names(), elsewhere.names()], [['short'], ['a']])
  elsewhere.asked[0]?.answer.reject(new Error('away'))
  await assert.rejects(answers[0] ?? Promise.resolve(), /away/)
  await setImmediate()
  assert.deepEqual(elsewhere.names(), ['a', 'b'], 'one that failed stops nobody')
  elsewhere.asked[1]?.answer.resolve([])
  await answers[1]
  await setImmediate()
  elsewhere.asked[2]?.answer.resolve([])
  assert.deepEqual(await answers[2], [])
})

test('[database.8] what finds all it reads by keys runs where plans are made once', async () => {
  const [here, keyed] = [noting(), noting()]
  const database = withPools(here.database, { keyed: keyed.database, long: noting().database })
  void database.rows(statement<[]>('keyed', '', { isKeyed: true }), [])
  void database.rows(short, [])
  assert.deepEqual([here.names(), keyed.names()], [['short'], ['keyed']])
})

test('[lists.4] an abandoned long statement is not executed', async () => {
  const elsewhere = noting()
  const database = withPools(noting().database, { keyed: noting().database, long: elsewhere.database })
  const first = database.rows(long('first'), [])
  let isWanted = true
  const left = database.rows(long('left'), [], () => isWanted)
  const last = database.rows(long('last'), [])
  isWanted = false
  await setImmediate()
  elsewhere.asked[0]?.answer.resolve([])
  await first
  await assert.rejects(left, /not wanted/)
  await setImmediate()
  elsewhere.asked[1]?.answer.resolve([])
  await last
  assert.deepEqual(elsewhere.names(), ['first', 'last'])
})
