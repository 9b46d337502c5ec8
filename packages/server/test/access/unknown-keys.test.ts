import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import { apiKeyFormat } from '../../src/access/credentials.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import { type Authenticate, databaseKnowing, KEY, keyAuthenticator, OTHER_KEY } from './key-fixture.ts'

/** A clock that the test moves. */
function clockOfTest() {
  let time = Date.parse('2026-11-21T13:00:00Z')
  return {
    now: () => time,
    advance: (ms: number) => {
      time += ms
    },
  }
}

async function outcome(authenticate: Authenticate, apiKey: string, remoteAddress = '203.0.113.7'): Promise<string> {
  try {
    const { id } = await authenticate({ headers: { authorization: `Bearer ${apiKey}` }, remoteAddress })
    return id
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return [error.code, error.retryAfterSeconds].filter((part) => part !== undefined).join(' ')
  }
}

/** Well-formed keys, all different, that nobody has. */
function unknown(index: number): string {
  const secret = Buffer.alloc(32)
  secret.writeUInt32BE(index)
  return apiKeyFormat.format('sandbox', secret)
}

test('[api-keys.12] an address looks up sixty unknown keys a minute; then it is 429 and the database is not asked', async () => {
  const clock = clockOfTest()
  const { database, asked } = databaseKnowing(KEY)
  const authenticate = keyAuthenticator(database, clock)
  for (let index = 0; index < 60; index++) assert.equal(await outcome(authenticate, unknown(index)), 'unauthorized')
  for (let index = 60; index < 3_000; index++)
    assert.equal(await outcome(authenticate, unknown(index)), 'rate_limited 1')
  assert.equal(asked.length, 60)
  clock.advance(1_000)
  assert.equal(await outcome(authenticate, unknown(0)), 'unauthorized')
  assert.equal(await outcome(authenticate, unknown(0)), 'rate_limited 1')
})

test('[api-keys.12] a right key gets in while a flood goes on: from another address when it is new, from the same when it is known', async () => {
  const clock = clockOfTest()
  const authenticate = keyAuthenticator(databaseKnowing(KEY, OTHER_KEY).database, clock)
  assert.equal(await outcome(authenticate, KEY), 'key 1')
  const flood = Array.from({ length: 3_000 }, (_, index) => outcome(authenticate, unknown(index)))
  assert.equal(await outcome(authenticate, KEY), 'key 1')
  assert.equal(await outcome(authenticate, OTHER_KEY, '203.0.113.8'), 'key 2')
  await Promise.all(flood)
  // Known for longer than it is taken unasked: it is asked about again, at no budget.
  clock.advance(5_000)
  assert.equal(await outcome(authenticate, KEY), 'key 1')
})

test('[api-keys.12] right keys cost their address nothing, however many there are', async () => {
  const keys = Array.from({ length: 300 }, (_, index) => unknown(index))
  const authenticate = keyAuthenticator(databaseKnowing(...keys).database, clockOfTest())
  for (const [index, key] of keys.entries()) assert.equal(await outcome(authenticate, key), `key ${index + 1}`)
})

test('[api-keys.12] a process that begins under load asks once for a key, whoever else waits for it', async () => {
  const { database, asked } = databaseKnowing(KEY)
  const authenticate = keyAuthenticator(database, clockOfTest())
  const outcomes = await Promise.all(Array.from({ length: 500 }, () => outcome(authenticate, KEY)))
  assert.deepEqual([new Set(outcomes), asked.length], [new Set(['key 1']), 1])
})

test('[api-keys.12] keys that are looked up at the same time are one statement', async () => {
  const { database, asked, counted } = databaseKnowing(KEY, OTHER_KEY)
  const authenticate = keyAuthenticator(database, clockOfTest())
  const strangers = Array.from({ length: 50 }, (_, index) => outcome(authenticate, unknown(index)))
  const known = [outcome(authenticate, KEY), outcome(authenticate, OTHER_KEY, '203.0.113.8')]
  assert.deepEqual(await Promise.all(known), ['key 1', 'key 2'])
  await Promise.all(strangers)
  assert.deepEqual([counted.statements, asked.length], [1, 52])
})

test('[api-keys.12] one who owns a /64 is one address', async () => {
  const authenticate = keyAuthenticator(databaseKnowing(KEY).database, clockOfTest())
  for (let index = 0; index < 60; index++)
    await outcome(authenticate, unknown(index), `2001:db8::${index.toString(16)}`)
  assert.equal(await outcome(authenticate, unknown(60), '2001:db8::ffff:ffff'), 'rate_limited 1')
  assert.equal(await outcome(authenticate, unknown(60), '2001:db8:0:1::1'), 'unauthorized')
})

test('[api-keys.12] a database that is away takes nothing off the budget', async () => {
  let isAway = true
  const { database } = databaseKnowing(KEY)
  const flaky = {
    rows: (...query: Parameters<Database['rows']>) =>
      isAway ? Promise.reject(new DatabaseUnavailable('away', false)) : database.rows(...query),
  } as unknown as Database
  const authenticate = keyAuthenticator(flaky, clockOfTest())
  for (let index = 0; index < 200; index++) {
    await assert.rejects(outcome(authenticate, unknown(index)), DatabaseUnavailable)
  }
  isAway = false
  assert.equal(await outcome(authenticate, unknown(0)), 'unauthorized')
})

test('[api-keys.10] a key that has expired or was deactivated is looked up within the budget of its address', async () => {
  const clock = clockOfTest()
  const expired = { key: KEY, expiresAt: clock.now() }
  const deactivated = { key: OTHER_KEY, deactivatedAt: clock.now() }
  const { database, asked } = databaseKnowing(expired, deactivated)
  const authenticate = keyAuthenticator(database, clock)
  for (let use = 0; use < 30; use++) {
    assert.deepEqual(
      [await outcome(authenticate, KEY), await outcome(authenticate, OTHER_KEY)],
      ['unauthorized', 'unauthorized'],
    )
  }
  assert.equal(await outcome(authenticate, KEY), 'rate_limited 1')
  assert.equal(asked.length, 60)
})
