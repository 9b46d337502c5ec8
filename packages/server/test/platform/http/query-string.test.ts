import assert from 'node:assert/strict'
import test from 'node:test'
import { endpoints, good, thingServer } from './thing-server.ts'

test('[http.7] an integer has one spelling, a boolean two words', async (t) => {
  const { app } = thingServer(t)
  const asked = async (query: string) => {
    const answer = await app.inject({ url: `/things?${query}`, headers: good })
    return answer.statusCode === 200 ? answer.json().asked : answer.json().errors
  }
  assert.deepEqual(await asked('limit=20&active=true&kind=BIG&name=a+b%20c'), {
    limit: 20,
    active: true,
    kind: 'BIG',
    name: 'a b c',
  })
  assert.deepEqual(await asked('limit=0&active=false'), { limit: 0, active: false })
  assert.deepEqual(await asked('limit=-5'), { limit: -5 })
  assert.deepEqual(await asked('name=20'), { name: '20' })
  assert.deepEqual(await asked(''), {})
  for (const text of ['', 'abc', '1.5', '1e2', '0x10', '010', '-0', '%2B5', '+5', '5%20', '9007199254740993', 'true']) {
    assert.deepEqual(
      await asked(`limit=${text}`),
      [{ field: 'limit', code: 'type', message: 'limit must be an integer' }],
      text,
    )
  }
  for (const text of ['TRUE', '1', '0', 'yes', '']) {
    assert.deepEqual(
      await asked(`active=${text}`),
      [{ field: 'active', code: 'type', message: 'active must be true or false' }],
      text,
    )
  }
})

test('[http.7] a repeated parameter is refused by name, also with equal values', async (t) => {
  const { app } = thingServer(t)
  for (const query of ['limit=1&limit=2', 'limit=1&limit=1', 'limit=1&name=a&limit=', 'limit&limit']) {
    const answer = await app.inject({ url: `/things?${query}`, headers: good })
    assert.equal(answer.statusCode, 400, query)
    assert.deepEqual(answer.json().errors, [{ field: 'limit', code: 'duplicate', message: 'limit must be given once' }])
  }
})

test('[http.7] an unknown parameter is refused by name, with the nearest that is known, or all', async (t) => {
  const { app } = thingServer(t)
  const all = 'known are limit, active, kind, name'
  for (const [name, hint] of [
    ['more', all],
    ['limits', 'did you mean limit?'],
    ['Kind', 'did you mean kind?'],
    ['__proto__', all],
    ['constructor', all],
  ] as const) {
    const answer = await app.inject({ url: `/things?${name}=1`, headers: good })
    const message = `${name} is not a known parameter; ${hint}`
    assert.equal(answer.statusCode, 400, name)
    assert.deepEqual(answer.json().errors, [{ field: name, code: 'unknown_field', message }])
    assert.equal(answer.json().message, message)
  }
})

test('[http.7] an endpoint that declares no parameters refuses any, and names it', async (t) => {
  const { app } = thingServer(t)
  for (const { method, path } of [endpoints.deleteThing, endpoints.touchThing]) {
    const url = path.replace('{id}', '1')
    const answer = await app.inject({ method, url: `${url}?probe=1`, headers: good })
    assert.equal(answer.statusCode, 400, path)
    assert.equal(answer.json().code, 'validation_error')
    assert.deepEqual(answer.json().errors, [
      { field: 'probe', code: 'unknown_field', message: 'probe is not a known parameter; this call takes none' },
    ])
    const repeated = await app.inject({ method, url: `${url}?probe=1&probe=2`, headers: good })
    assert.deepEqual(repeated.json().errors, [
      { field: 'probe', code: 'duplicate', message: 'probe must be given once' },
    ])
    assert.ok((await app.inject({ method, url: `${url}?`, headers: good })).statusCode < 300, 'nothing is no parameter')
  }
})

test('[http.7] a probe may add any parameters', async (t) => {
  const { app } = thingServer(t)
  assert.equal(endpoints.getHealth.path, '/healthz')
  assert.equal((await app.inject('/healthz?probe=1&probe=2')).statusCode, 200)
})

test('[http.7] a signed event is accepted with any parameters in its address', async (t) => {
  const { app } = thingServer(t)
  const headers = { 'x-signature': 'good' }
  const answer = await app.inject({ method: 'POST', url: '/events?from=bank&from=bank', headers, payload: '{}' })
  assert.equal(answer.statusCode, 200)
})
