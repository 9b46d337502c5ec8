import assert from 'node:assert/strict'
import test from 'node:test'
import { listApiKeys, Refusal } from '@pixgate/spec'
import { apiKeyFormat } from '../../src/access/credentials.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import { ADMIN_TOKEN, type Authenticate, databaseKnowing, KEY, keyAuthenticator, UNKNOWN_KEY } from './key-fixture.ts'
import { operatorAuthenticator } from './operator-fixture.ts'

const LIVE_KEY = apiKeyFormat.format('production', Buffer.alloc(32, 7))

const clock = { now: () => 0 }

/** An administrator's door at which nobody has knocked. */
function adminDoor(): Authenticate {
  const authenticate = operatorAuthenticator(clock)
  return (request) => authenticate({ ...request, endpoint: listApiKeys })
}

/** How a request with this header ends: who it is, or the code of the refusal. */
async function outcome(authenticate: Authenticate, authorization: string | undefined): Promise<string> {
  try {
    const headers = authorization === undefined ? {} : { authorization }
    const { id } = await authenticate({ headers, remoteAddress: '203.0.113.7' })
    return id
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    assert.deepEqual({ ...error }, { ...new Refusal('unauthorized') })
    return error.code
  }
}

const refused = 'unauthorized'

/** Every shape of the header, what an API key's route and the admin's make of it, and whether the database is asked. */
const shapes: [authorization: string | undefined, apiKey: string, admin: string, asked: 0 | 1][] = [
  [`Bearer ${KEY}`, 'key 1', refused, 1],
  [`bEaReR ${KEY}`, 'key 1', refused, 1],
  [`Bearer ${UNKNOWN_KEY}`, refused, refused, 1],
  [`Bearer ${ADMIN_TOKEN}`, refused, 'admin', 0],

  [undefined, refused, refused, 0],
  ['', refused, refused, 0],
  ['Bearer', refused, refused, 0],
  ['Bearer ', refused, refused, 0],
  ['Bearer pix_test_', refused, refused, 0],

  [KEY, refused, refused, 0],
  [`Basic ${KEY}`, refused, refused, 0],
  [`Basic ${Buffer.from(`${KEY}:`).toString('base64')}`, refused, refused, 0],
  [`Bearer:${KEY}`, refused, refused, 0],
  [`Bearer${KEY}`, refused, refused, 0],
  [`Bearer\t${KEY}`, refused, refused, 0],
  [`Bearer  ${KEY}`, refused, refused, 0],
  [` Bearer ${KEY}`, refused, refused, 0],
  [`Bearer ${KEY} `, refused, refused, 0],
  [`Bearer ${KEY}\n`, refused, refused, 0],
  [`Bearer ${KEY}\u0000`, refused, refused, 0],
  [`Bearer "${KEY}"`, refused, refused, 0],
  [`Bearer ${KEY}, Bearer ${KEY}`, refused, refused, 0],
  [`Bearer ${KEY.slice(0, -1)}`, refused, refused, 0],
  [`Bearer ${KEY.toUpperCase()}`, refused, refused, 0],
  [`Bearer ${KEY.replace('test', 'live')}`, refused, refused, 0],
  [`Bearer ${LIVE_KEY}`, refused, refused, 0],
  [`Bearer ${KEY}é`, refused, refused, 0],
  [`Bearer ${'0'.repeat(16_000)}`, refused, refused, 0],
  [`Bearer ${ADMIN_TOKEN}0`, refused, refused, 0],
  [`Bearer ${ADMIN_TOKEN.toUpperCase()}`, refused, refused, 0],
]

for (const [authorization, apiKey, admin, asked] of shapes) {
  const shown = JSON.stringify(authorization ?? null).slice(0, 60)
  test(`[http.6] Authorization ${shown}: ${apiKey} for the API, ${admin} for the administrator`, async () => {
    const knowing = databaseKnowing(KEY)
    const authenticate = keyAuthenticator(knowing.database, clock)
    assert.equal(await outcome(authenticate, authorization), apiKey)
    assert.equal(knowing.asked.length, asked)
    assert.equal(await outcome(adminDoor(), authorization), admin)
  })
}

test('[api-keys.2] production takes pix_live_ keys and no pix_test_ keys', async () => {
  const knowing = databaseKnowing(LIVE_KEY)
  const authenticate = keyAuthenticator(knowing.database, clock, { mode: 'production' })
  assert.equal(await outcome(authenticate, `Bearer ${LIVE_KEY}`), 'key 1')
  assert.equal(await outcome(authenticate, `Bearer ${KEY}`), refused)
  assert.equal(knowing.asked.length, 1)
})

test('[api-keys.4] a known key is asked about once, an unknown one every time', async () => {
  const knowing = databaseKnowing(KEY)
  const authenticate = keyAuthenticator(knowing.database, clock)
  for (let i = 0; i < 3; i++) await outcome(authenticate, `Bearer ${KEY}`)
  assert.equal(knowing.asked.length, 1)
  for (let i = 0; i < 3; i++) await outcome(authenticate, `Bearer ${UNKNOWN_KEY}`)
  assert.equal(knowing.asked.length, 4)
})

test('[api-keys.4] the 5 s begin with the question to the database, however long it takes to answer', async () => {
  const { database, asked } = databaseKnowing(KEY)
  let time = 0
  const slow = {
    rows: (...query: Parameters<Database['rows']>) => {
      time += 5_000
      return database.rows(...query)
    },
  } as unknown as Database
  const authenticate = keyAuthenticator(slow, { now: () => time })
  for (let i = 0; i < 2; i++) await outcome(authenticate, `Bearer ${KEY}`)
  assert.equal(asked.length, 2)
})

test('[http.6] a database that is away says nothing of a key: never 401', async () => {
  const away = new DatabaseUnavailable('away', false)
  const database = { rows: () => Promise.reject(away) } as unknown as Database
  const authenticate = keyAuthenticator(database, clock)
  const request = { headers: { authorization: `Bearer ${KEY}` }, remoteAddress: '203.0.113.7' }
  await assert.rejects(authenticate(request), away)
  assert.equal(await outcome(authenticate, 'Bearer junk'), refused)
})
