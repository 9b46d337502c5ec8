import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import { type Authenticate, databaseKnowing, KEY, keyAuthenticator, OTHER_KEY, UNKNOWN_KEY } from './key-fixture.ts'

const START = Date.parse('2026-11-21T13:00:00Z')

function clockOfTest() {
  let time = START
  return {
    now: () => time,
    advance: (ms: number) => {
      time += ms
    },
  }
}

/** An authenticator that knows two keys, as one process has it. */
function processWith(clock: { now(): number }, rateLimitPerMinute: number): Authenticate {
  return keyAuthenticator(databaseKnowing(KEY, OTHER_KEY).database, clock, { rateLimitPerMinute })
}

/** `200`, or the code of the refusal with the seconds to wait. */
async function outcome(authenticate: Authenticate, authorization: string | undefined, address = '203.0.113.7') {
  try {
    await authenticate({ headers: authorization === undefined ? {} : { authorization }, remoteAddress: address })
    return '200'
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return [error.code, error.retryAfterSeconds].filter((part) => part !== undefined).join(' ')
  }
}

const bearer = (token: string) => `Bearer ${token}`

async function outcomes(count: number, one: (index: number) => Promise<string>): Promise<string[]> {
  const all: string[] = []
  for (let index = 0; index < count; index++) all.push(await one(index))
  return all
}

test('[http.12] of 600 requests a minute a key has 100 at once, then one every 100 ms', async () => {
  const clock = clockOfTest()
  const authenticate = processWith(clock, 600)
  const request = () => outcome(authenticate, bearer(KEY))
  assert.deepEqual(await outcomes(100, request), Array(100).fill('200'))
  assert.equal(await request(), 'rate_limited 1')
  clock.advance(100)
  assert.deepEqual(await outcomes(2, request), ['200', 'rate_limited 1'])
  clock.advance(60_000)
  assert.deepEqual(await outcomes(101, request), [...Array(100).fill('200'), 'rate_limited 1'])
})

test('[http.12] Retry-After is in whole seconds, rounded up, and holds what it says', async () => {
  const clock = clockOfTest()
  const authenticate = processWith(clock, 7)
  const request = () => outcome(authenticate, bearer(KEY))
  assert.deepEqual(await outcomes(2, request), ['200', 'rate_limited 9'])
  clock.advance(8_000)
  assert.equal(await request(), 'rate_limited 1')
  clock.advance(1_000)
  assert.equal(await request(), '200')
})

test('[http.12] one key does not use up another', async () => {
  const authenticate = processWith(clockOfTest(), 6)
  assert.deepEqual(await outcomes(4, (at) => outcome(authenticate, bearer(at % 2 === 0 ? KEY : OTHER_KEY))), [
    '200',
    '200',
    'rate_limited 10',
    'rate_limited 10',
  ])
})

test('[http.12] each process counts for itself', async () => {
  const clock = clockOfTest()
  const processes = [processWith(clock, 6), processWith(clock, 6)]
  for (const authenticate of processes) {
    assert.deepEqual(await outcomes(2, () => outcome(authenticate, bearer(KEY))), ['200', 'rate_limited 10'])
  }
})

test('[http.12] what is no known key is 401, however often', async () => {
  const authenticate = processWith(clockOfTest(), 6)
  for (const authorization of [bearer(UNKNOWN_KEY), bearer('junk'), undefined]) {
    assert.deepEqual(await outcomes(3, () => outcome(authenticate, authorization)), Array(3).fill('unauthorized'))
  }
})

test('[http.12] 0 switches the limit off', async () => {
  const authenticate = processWith(clockOfTest(), 0)
  assert.deepEqual(await outcomes(1_000, () => outcome(authenticate, bearer(KEY))), Array(1_000).fill('200'))
})
