import assert from 'node:assert/strict'
import test from 'node:test'
import { type Endpoint, getMetrics, limits, listApiKeys, Refusal } from '@pixgate/spec'
import { operatorTokenFormat } from '../../src/access/credentials.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { capturedLog } from '../support/captured-log.ts'
import { ADMIN_TOKEN, databaseWith, METRICS_TOKEN, operatorAuthenticator } from './operator-fixture.ts'

const START = Date.parse('2026-11-21T13:00:00Z')

/** The operator's door on a clock that the test moves. */
function operatorDoor() {
  let time = START
  const log = capturedLog()
  const refused: string[] = []
  const authenticate = operatorAuthenticator(
    { now: () => time },
    { logger: log.logger, onRefused: (credential, reason) => refused.push(`${credential} ${reason}`) },
  )
  async function outcome(token: string | undefined, remoteAddress: string, endpoint: Endpoint): Promise<string> {
    try {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      await authenticate({ headers, remoteAddress, endpoint })
      return '200'
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return [error.code, error.retryAfterSeconds].filter((part) => part !== undefined).join(' ')
    }
  }
  return {
    lines: log.lines,
    refused,
    advance: (ms: number) => {
      time += ms
    },
    right: (address = '203.0.113.7') => outcome(ADMIN_TOKEN, address, listApiKeys),
    wrong: (address = '203.0.113.7') => outcome(`${ADMIN_TOKEN}?`, address, listApiKeys),
    none: (address = '203.0.113.7') => outcome(undefined, address, listApiKeys),
    scrape: (token: string, address = '203.0.113.7') => outcome(token, address, getMetrics),
  }
}

async function outcomes(count: number, one: (index: number) => Promise<string>): Promise<string[]> {
  const all: string[] = []
  for (let index = 0; index < count; index++) all.push(await one(index))
  return all
}

test('[api-keys.7] after five wrong tokens an address gets 429 for wrong ones, and the right one passes', async () => {
  const door = operatorDoor()
  assert.deepEqual(await outcomes(5, () => door.wrong()), Array(5).fill('unauthorized'))
  assert.equal(await door.wrong(), 'rate_limited 12')
  assert.equal(await door.right(), '200')
  assert.equal(await door.wrong('203.0.113.8'), 'unauthorized')
})

test('[api-keys.7] every 12 s one more may be tried, and after a minute five', async () => {
  const door = operatorDoor()
  await outcomes(5, () => door.wrong())
  door.advance(11_001)
  assert.equal(await door.wrong(), 'rate_limited 1')
  door.advance(999)
  assert.deepEqual(await outcomes(2, () => door.wrong()), ['unauthorized', 'rate_limited 12'])
  door.advance(60_000)
  assert.deepEqual(await outcomes(6, () => door.wrong()), [...Array(5).fill('unauthorized'), 'rate_limited 12'])
})

test('[api-keys.7] right tokens, however many, and what is no bearer token are not counted', async () => {
  const door = operatorDoor()
  assert.deepEqual(await outcomes(100, () => door.right()), Array(100).fill('200'))
  assert.deepEqual(await outcomes(100, () => door.none()), Array(100).fill('unauthorized'))
  assert.deepEqual(await outcomes(5, () => door.wrong()), Array(5).fill('unauthorized'))
})

test('[api-keys.7] after thirty wrong ones from anywhere a wrong one is 429; the right one passes in the midst of a thousand', async () => {
  const door = operatorDoor()
  const address = (index: number) => `203.0.113.${index}`
  assert.deepEqual(await outcomes(30, (at) => door.wrong(address(at))), Array(30).fill('unauthorized'))
  assert.equal(await door.wrong(address(30)), 'rate_limited 2')
  for (let guess = 0; guess < 1_000; guess++) {
    await door.wrong(address(guess % 200))
    assert.equal(await door.right(address(guess % 200)), '200')
  }
  door.advance(2_000)
  assert.deepEqual(await outcomes(2, (at) => door.wrong(`198.51.100.${at}`)), ['unauthorized', 'rate_limited 2'])
})

test('[api-keys.7] one address is stopped long before it reaches the limit of all, and so is one that owns a /64', async () => {
  const door = operatorDoor()
  await outcomes(1_000, () => door.wrong())
  assert.equal(await door.wrong('203.0.113.8'), 'unauthorized')
  await outcomes(1_000, (at) => door.wrong(`2001:db8::${at.toString(16)}`))
  assert.equal(await door.wrong('203.0.113.9'), 'unauthorized')
})

test('[metrics.4] wrong tokens of whoever scrapes take nothing from the operator’s, and the right one always passes', async () => {
  const door = operatorDoor()
  const wrong = await outcomes(1_000, () => door.scrape('a-token-of-before'))
  assert.equal(wrong.at(-1), 'rate_limited 12')
  assert.equal(await door.scrape(METRICS_TOKEN), '200')
  assert.equal(await door.scrape(ADMIN_TOKEN), '200')
  assert.equal(await door.right(), '200')
  assert.deepEqual(await outcomes(5, () => door.wrong()), Array(5).fill('unauthorized'))
})

test('[logs.3] [metrics.8] wrong tokens are counted by reason, and are one line however many', async () => {
  const door = operatorDoor()
  await outcomes(limits.adminFailuresPerMinuteAndAddress + 100, () => door.wrong())
  await door.none()
  assert.deepEqual(
    door.lines.map(({ level, reason, address }) => ({ level, reason, address })),
    [
      { level: 'warn', reason: 'unknown', address: '203.0.113.7' },
      { level: 'warn', reason: 'throttled', address: '203.0.113.7' },
    ],
  )
  const count = (reason: string) => door.refused.filter((one) => one === `operator ${reason}`).length
  assert.deepEqual(['unknown', 'throttled', 'malformed'].map(count), [5, 100, 1])
})

test('[api-keys.7] [operators.2] a named operator gets in while well-formed wrong tokens flood the process, each at no question of its own', async () => {
  const token = operatorTokenFormat.format('sandbox', Buffer.alloc(32, 7))
  const { database, asked } = databaseWith({ id: 'ana', name: 'Ana', role: 'operator', hash: sha256(token) })
  const authenticate = operatorAuthenticator({ now: () => START }, { database })
  const request = (shown: string) =>
    authenticate({
      headers: { authorization: `Bearer ${shown}` },
      remoteAddress: '203.0.113.7',
      endpoint: listApiKeys,
    })
  const wrong = (index: number) => {
    const secret = Buffer.alloc(32)
    secret.writeUInt32BE(index)
    return operatorTokenFormat.format('sandbox', secret)
  }
  const flood = Array.from({ length: 3_000 }, (_, index) => request(wrong(index)).then(() => assert.fail(), String))
  const { id, name, role } = await request(token)
  assert.deepEqual({ id, name, role }, { id: 'ana', name: 'Ana', role: 'operator' })
  await Promise.all(flood)
  assert.ok(asked() <= 3, `${asked()} questions`)
})
