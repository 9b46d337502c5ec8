import assert from 'node:assert/strict'
import test from 'node:test'
import { type Database, statement, withKeyedStatements } from '../../../src/platform/db/database.ts'

/** A database that answers with its name. */
function named(name: string): Database {
  return { rows: async () => [name] } as unknown as Database
}

test('[database.8] what finds all it reads by keys runs where plans are made once, everything else where it was asked', async () => {
  const database = withKeyedStatements(named('here'), named('elsewhere'))
  const asked = [statement<[], string>('keyed', '', { isKeyed: true }), statement<[], string>('other', '')]
  assert.deepEqual(await Promise.all(asked.map((query) => database.rows(query, []))), [['elsewhere'], ['here']])
})
