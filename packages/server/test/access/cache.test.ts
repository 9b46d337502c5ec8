import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createCredentialCache } from '../../src/access/credentials.ts'
import { sha256Hex } from '../../src/platform/crypto.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { databaseKnowing, KEY, OTHER_KEY } from './key-fixture.ts'

const [HASH, OTHER_HASH] = [sha256Hex(KEY), sha256Hex(OTHER_KEY)]

/** A cache on a clock that the test moves. */
function cacheOf(database: Database, credentialsMax = 10) {
  let time = 10_000
  const cache = createCredentialCache(database, { now: () => time }, credentialsMax)
  return { ...cache, advance: (ms: number) => (time += ms) }
}

test('[api-keys.4] [operators.5] a credential is fresh for less than 5 s after its look-up, and then looked up again', async () => {
  const cache = cacheOf(databaseKnowing(KEY).database)
  await cache.lookUp(HASH)
  cache.advance(4_999)
  assert.equal(cache.get(HASH)?.isFresh, true)
  cache.advance(1)
  assert.equal(cache.get(HASH)?.isFresh, false)
  await cache.lookUp(HASH)
  assert.equal(cache.get(HASH)?.isFresh, true)
})

test('[api-keys.4] the number of cached credentials is capped; the least recently used is dropped', async () => {
  const cache = cacheOf(databaseKnowing(KEY, OTHER_KEY).database, 1)
  await cache.lookUp(HASH)
  await cache.lookUp(OTHER_HASH)
  assert.deepEqual([cache.get(HASH), cache.get(OTHER_HASH)?.isFresh], [undefined, true])
})

test('[api-keys.6] a cleared cache drops results of look-ups under way, and nobody waits for those', async () => {
  const answers: (() => void)[] = []
  const { database } = databaseKnowing(KEY)
  const slow = {
    rows: (...query: Parameters<Database['rows']>) =>
      new Promise((resolve) => answers.push(() => resolve(database.rows(...query)))),
  } as unknown as Database
  const cache = cacheOf(slow)
  const look = cache.lookUp(HASH)
  while (answers.length === 0) await setImmediate()
  assert.equal(cache.underWay(HASH), look)
  cache.clear()
  assert.equal(cache.underWay(HASH), undefined)
  answers[0]?.()
  await look
  assert.equal(cache.get(HASH), undefined)
})
