import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import { type Authenticate, createAdminAuthenticator } from '../../src/api-keys/authenticate.ts'
import { ADMIN_TOKEN, databaseKnowing, KEY, keyAuthenticator, OTHER_KEY, UNKNOWN_KEY } from './fixture.ts'

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

/** The administrator's door on a clock that the test moves. */
function adminDoor() {
  const clock = clockOfTest()
  const authenticate = createAdminAuthenticator({ adminToken: ADMIN_TOKEN, clock })
  return {
    advance: clock.advance,
    right: (address?: string) => outcome(authenticate, bearer(ADMIN_TOKEN), address),
    wrong: (address?: string) => outcome(authenticate, bearer(`${ADMIN_TOKEN}?`), address),
    none: (address?: string) => outcome(authenticate, undefined, address),
  }
}

test('[api-keys.7] after five wrong tokens an address is refused, also with the right one; another one is not', async () => {
  const door = adminDoor()
  assert.deepEqual(await outcomes(5, () => door.wrong()), Array(5).fill('unauthorized'))
  assert.equal(await door.wrong(), 'rate_limited 12')
  assert.equal(await door.right(), 'rate_limited 12')
  assert.equal(await door.right('203.0.113.8'), '200')
})

test('[api-keys.7] every 12 s one more may be tried, and after a minute five', async () => {
  const door = adminDoor()
  await outcomes(5, () => door.wrong())
  door.advance(11_001)
  assert.equal(await door.right(), 'rate_limited 1')
  door.advance(999)
  assert.deepEqual(await outcomes(2, () => door.wrong()), ['unauthorized', 'rate_limited 12'])
  door.advance(12_000)
  assert.equal(await door.right(), '200')
  door.advance(60_000)
  assert.deepEqual(await outcomes(6, () => door.wrong()), [...Array(5).fill('unauthorized'), 'rate_limited 12'])
})

test('[api-keys.7] right tokens, however many, and what is no bearer token are not counted', async () => {
  const door = adminDoor()
  assert.deepEqual(await outcomes(100, () => door.right()), Array(100).fill('200'))
  assert.deepEqual(await outcomes(100, () => door.none()), Array(100).fill('unauthorized'))
  assert.deepEqual(await outcomes(5, () => door.wrong()), Array(5).fill('unauthorized'))
})

test('[api-keys.7] after thirty wrong ones from anywhere a wrong one is refused, the right one is not', async () => {
  const door = adminDoor()
  const address = (index: number) => `203.0.113.${index}`
  assert.deepEqual(await outcomes(30, (at) => door.wrong(address(at))), Array(30).fill('unauthorized'))
  assert.equal(await door.wrong(address(30)), 'rate_limited 2')
  assert.equal(await door.right(address(31)), '200')
  door.advance(2_000)
  assert.deepEqual(await outcomes(2, (at) => door.wrong(address(32 + at))), ['unauthorized', 'rate_limited 2'])
})

test('[api-keys.7] one address is stopped long before it reaches the limit of all', async () => {
  const door = adminDoor()
  await outcomes(1_000, () => door.wrong())
  assert.equal(await door.wrong('203.0.113.8'), 'unauthorized')
})
