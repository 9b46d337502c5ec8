import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { getBalance, getMetrics, Refusal } from '@pixgate/spec'
import { auditLogins } from '../../src/audit/logins.ts'
import { auditLimits } from '../../src/audit/trail.ts'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import type { IncomingRequest } from '../../src/platform/http/handler.ts'
import { createIds } from '../../src/platform/ids.ts'
import { openTestDatabase, testDatabase } from '../support/database.ts'
import { steppedClock } from '../support/stepped-clock.ts'
import { wallNow } from '../support/wall-clock.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

const request = (remoteAddress: string, given: Partial<IncomingRequest> = {}): IncomingRequest => ({
  endpoint: getBalance,
  correlationId: 'test',
  headers: { authorization: 'Bearer right' },
  remoteAddress,
  ...given,
})

const wrong = (address: string) => request(address, { headers: { authorization: 'Bearer wrong' } })

/** A database with processes in front of it that let in who is right. */
async function audited(t: TestContext) {
  const { url, database } = await testDatabase(t)
  const clock = steppedClock({ stands: true })
  clock.observe(wallNow())
  const ids = createIds(clock)
  let isAway = false
  const process = () => {
    let asked = 0
    const { rows, transaction, ...rest } = database
    const away = () => {
      asked += 1
      if (isAway) throw new DatabaseUnavailable('away', false)
    }
    const watched = {
      ...rest,
      rows: async (...query: Parameters<typeof rows>) => {
        away()
        return rows(...query)
      },
      transaction: async (...work: Parameters<typeof transaction>) => {
        away()
        return transaction(...work)
      },
    } as typeof database
    const authenticate = async ({ headers }: IncomingRequest) => {
      if (headers.authorization !== 'Bearer right') throw new Refusal('unauthorized')
      return { credential: 'admin', id: 'admin', name: 'Ana' } as const
    }
    return { ...auditLogins(authenticate, { database: watched, clock, ids }), asked: () => asked }
  }
  return {
    url,
    database,
    clock,
    ids,
    process,
    leave: (away: boolean) => {
      isAway = away
    },
    rows: async () => {
      const text = `SELECT actor || coalesce(' ' || actor_name, '') || ' ' || action || ' ' || address || ' ' || facts AS row
                      FROM audit a JOIN audit_chain c ON c.audit_id = a.id ORDER BY c.seq`
      return (await database.rows<[], { row: string }>({ name: 'test.rows', text }, [])).map(({ row }) => row)
    },
  }
}

const loggedIn = (address: string) => `admin Ana operator.logged_in ${address} {}`

test('[audit.7] a log-in is a row once a day and address, whichever process is asked, and costs one query', async (t) => {
  const { process, rows, clock } = await audited(t)
  const [one, other] = [process(), process()]
  for (let times = 0; times < 3; times++) await one.authenticate(request('203.0.113.7'))
  await other.authenticate(request('203.0.113.7'))
  await one.authenticate(request('203.0.113.8'))
  assert.deepEqual(await rows(), ['203.0.113.7', '203.0.113.8'].map(loggedIn))
  assert.deepEqual([one.asked(), other.asked()], [2, 1])
  clock.advance(DAY_MS - 1)
  await other.authenticate(request('203.0.113.7'))
  assert.equal((await rows()).length, 2)
  clock.advance(1)
  await other.authenticate(request('203.0.113.7'))
  await one.authenticate(request('203.0.113.7'))
  assert.equal((await rows()).length, 3)
})

test('[audit.7] an IPv6 network is one address, and of more than 20 new addresses in a minute the rest is one row with how often', async (t) => {
  const { process, rows, leave, clock } = await audited(t)
  const { authenticate, flush, asked } = process()
  for (let place = 1; place <= 50; place++) await authenticate(request(`2001:db8::${place.toString(16)}`))
  assert.deepEqual(await rows(), [loggedIn('2001:db8::1')])
  for (let place = 0; place < 1_000; place++) await authenticate(request(`198.18.${place >> 8}.${place & 255}`))
  assert.equal((await rows()).length, 20)
  assert.equal(asked(), 20, 'what is only counted costs no query')
  leave(true)
  await assert.rejects(flush(), DatabaseUnavailable)
  leave(false)
  await authenticate(request('203.0.113.7'))
  await flush()
  await flush()
  assert.deepEqual((await rows()).slice(20), ['admin Ana operator.logged_in other addresses {"count": 982}'])
  clock.advance(60_000)
  await authenticate(request('203.0.113.7'))
  assert.equal((await rows()).at(-1), loggedIn('203.0.113.7'))
})

test('[audit.7] nobody is let in whose log-in could not be written, but to read the metrics', async (t) => {
  const { process, leave, rows } = await audited(t)
  const { authenticate } = process()
  leave(true)
  for (let times = 0; times < 30; times++) {
    await assert.rejects(authenticate(request('203.0.113.7')), DatabaseUnavailable)
  }
  assert.equal((await authenticate(request('203.0.113.7', { endpoint: getMetrics }))).id, 'admin')
  leave(false)
  assert.deepEqual(await rows(), [])
  await Promise.all(Array.from({ length: 30 }, () => authenticate(request('203.0.113.7'))))
  assert.deepEqual(await rows(), [loggedIn('203.0.113.7')])
})

const refused = (address: string, count: number) => `unknown operator.login_refused ${address} {"count": ${count}}`

test('[audit.7] what was refused is a row for each address and minute with how often; a flood costs no query each and no row each', async (t) => {
  const { process, rows } = await audited(t)
  const { authenticate, flush, asked } = process()
  const guess = (address: string) => assert.rejects(authenticate(wrong(address)), { code: 'unauthorized' })
  for (let guesses = 0; guesses < 3; guesses++) await guess('203.0.113.7')
  await assert.rejects(authenticate(request('203.0.113.9', { headers: {} })), { code: 'unauthorized' })
  assert.equal(asked(), 0)
  await flush()
  await flush()
  assert.deepEqual(await rows(), [refused('203.0.113.7', 3)])
  for (let guesses = 0; guesses < 1_000; guesses++) await guess(`2001:db8::${guesses.toString(16)}`)
  await flush()
  const told = (await rows()).slice(1)
  assert.equal(told.length, 21)
  assert.deepEqual([told[0], told[20]], [refused('2001:db8::0', 1), refused('other addresses', 980)])
})

test('[audit.7] what could not be told while the database was away is told with the next', async (t) => {
  const { process, leave, rows } = await audited(t)
  const { authenticate, flush } = process()
  const guess = () => assert.rejects(authenticate(wrong('203.0.113.7')), { code: 'unauthorized' })
  await guess()
  leave(true)
  await assert.rejects(flush(), DatabaseUnavailable)
  leave(false)
  await guess()
  await flush()
  assert.deepEqual(await rows(), [refused('203.0.113.7', 2)])
})

test('[audit.8] limits that differ from those of the last start are a row with both, one of several processes that start', async (t) => {
  const { url, clock, ids, rows } = await audited(t)
  const start = async (limits: Record<string, string | null>) => {
    const database = openTestDatabase(url, 1)
    t.after(() => database.close())
    await auditLimits({ database, clock, ids }, limits)
  }
  await Promise.all([start({ max: '100', daily: null }), start({ max: '100', daily: null })])
  await start({ daily: null, max: '100' })
  clock.advance(1)
  await start({ max: null, daily: null })
  await start({ max: null, daily: null })
  const told = (await rows()).map((row) => row.replace(/limits.configured \S+/, 'limits'))
  assert.deepEqual(told, [
    'configuration limits {"before": null, "limits": {"max": "100", "daily": null}}',
    'configuration limits {"before": {"max": "100", "daily": null}, "limits": {"max": null, "daily": null}}',
  ])
})
