import assert from 'node:assert/strict'
import test from 'node:test'
import { copyOperations, oldestCashIn } from '../support/books.ts'
import { world } from '../support/world.ts'

type Item = Record<string, unknown>

const references = ({ data }: { data: Item[] }) => data.map(({ externalId }) => externalId)

test('[cash-in.list.1] the list has the newest charge first, page by page, each exactly once', async (t) => {
  const pix = await world(t)
  for (let charge = 0; charge < 5; charge++) await pix.charge('1.00')
  const { status, body: first } = await pix.call('GET', '/api/pix/cash-in?limit=2')
  assert.equal(status, 200)
  assert.deepEqual(references(first), ['order-5', 'order-4'])
  const { nextCursor, ...pagination } = first.pagination
  assert.deepEqual(pagination, { page: 1, limit: 2, total: 5, totalPages: 3, hasMore: true })
  assert.equal(typeof nextCursor, 'string')
  const { body: last } = await pix.call('GET', '/api/pix/cash-in?limit=2&page=3')
  assert.deepEqual(references(last), ['order-1'])
  assert.equal(last.pagination.hasMore, false)
  const { body: detail } = await pix.call('GET', `/api/pix/cash-in/${last.data[0].id}`)
  assert.deepEqual(last.data[0], detail)
})

test('[cash-in.list.2] [EX-5] an overdue charge is listed and counted as EXPIRED before a worker expires it', async (t) => {
  const pix = await world(t)
  const short = await pix.charge('1.00', { expirationTime: 1 })
  await pix.charge('2.00')
  const paid = await pix.charge('3.00')
  await pix.call('POST', `/sandbox/cash-in/${paid.id}/pay`)
  await pix.becomes(paid.id, 'PAID')
  // Past its expiry, but not so far that a worker looks at it.
  pix.clock.advance(1_500)
  const of = async (status: string) => (await pix.call('GET', `/api/pix/cash-in?status=${status}`)).body
  const expired = await of('EXPIRED')
  assert.deepEqual(references(expired), [short.externalId])
  assert.equal(expired.data[0].status, 'EXPIRED')
  assert.equal(expired.pagination.total, 1)
  assert.deepEqual(references(await of('PENDING')), ['order-2'])
  assert.deepEqual(references(await of('PAID')), ['order-3'])
  for (const status of ['FAILED', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED']) {
    assert.deepEqual(references(await of(status)), [])
  }
})

test('[cash-in.list.3] references match exactly', async (t) => {
  const pix = await world(t)
  await pix.charge('1.00')
  const paid = await pix.charge('2.00')
  const { body: ordered } = await pix.call('POST', `/sandbox/cash-in/${paid.id}/pay`)
  await pix.becomes(paid.id, 'PAID')
  const { body: byReference } = await pix.call('GET', '/api/pix/cash-in?external_id=order-1')
  assert.deepEqual(references(byReference), ['order-1'])
  const { body: byPayment } = await pix.call('GET', `/api/pix/cash-in?end_to_end_id=${ordered.endToEndId}&status=PAID`)
  assert.deepEqual(references(byPayment), ['order-2'])
  const { body: neither } = await pix.call('GET', '/api/pix/cash-in?external_id=order')
  assert.deepEqual(references(neither), [])
})

test('[cash-in.list.4] totals are exact up to 10,000 and null beyond; hasMore is always right', async (t) => {
  const pix = await world(t)
  await pix.charge('1.00')
  await copyOperations(pix.database, 9_999)
  const list = async (query: string) => {
    const { nextCursor, ...pagination } = (await pix.call('GET', `/api/pix/cash-in?limit=100${query}`)).body.pagination
    assert.equal(nextCursor !== null, pagination.hasMore)
    return pagination
  }
  assert.deepEqual(await list(''), { page: 1, limit: 100, total: 10_000, totalPages: 100, hasMore: true })
  assert.equal((await list('&page=100')).hasMore, false)
  await pix.charge('1.00')
  assert.deepEqual(await list(''), { page: 1, limit: 100, total: null, totalPages: null, hasMore: true })
  assert.deepEqual(await list('&page=101'), { page: 101, limit: 100, total: null, totalPages: null, hasMore: false })
})

test('[cash-in.list.5] both aggregated paths are the same list and name the operation', async (t) => {
  const pix = await world(t)
  await pix.charge('1.00')
  const { body: list } = await pix.call('GET', '/api/pix/cash-in')
  for (const path of ['/api/transactions/cash-in', '/transactions/cash-in']) {
    const { status, body } = await pix.call('GET', path)
    assert.equal(status, 200)
    assert.deepEqual(body, { ...list, data: list.data.map((item: Item) => ({ operation: 'cash_in', ...item })) })
  }
})

test('[lists.1] [lists.2] bounds, days and unknown or repeated parameters are refused by name', async (t) => {
  const pix = await world(t)
  const wrong: Record<string, string> = {
    'limit=101': 'limit',
    'limit=0': 'limit',
    'limit=ten': 'limit',
    'page=0': 'page',
    'page=1.5': 'page',
    'status=PAYED': 'status',
    'status=PAID&status=FAILED': 'status',
    'start_date=2026-02-30': 'start_date',
    'start_date=21/11/2026': 'start_date',
    'start_date=2026-11-22&end_date=2026-11-21': 'end_date',
    'paid_from=2026-02-30': 'paid_from',
    'paid_from=2026-11-22&paid_to=2026-11-21': 'paid_to',
    'unknown=1': 'unknown',
  }
  for (const [query, field] of Object.entries(wrong)) {
    const { status, body } = await pix.call('GET', `/api/pix/cash-in?${query}`)
    assert.equal(status, 400, query)
    assert.equal(body.code, 'validation_error')
    assert.deepEqual(
      body.errors.map((error: Item) => error.field),
      [field],
      query,
    )
  }
})

test('[lists.2] both days are UTC days and inclusive', async (t) => {
  const pix = await world(t)
  const { generateTime } = await pix.charge('1.00')
  const day = generateTime.slice(0, 10)
  const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
  const before = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10)
  const found = async (query: string) => (await pix.call('GET', `/api/pix/cash-in?${query}`)).body.data.length
  assert.equal(await found(`start_date=${day}&end_date=${day}`), 1)
  assert.equal(await found(`start_date=${before}`), 1)
  assert.equal(await found(`end_date=${before}`), 0)
  assert.equal(await found(`start_date=${next}`), 0)
})

test('[cash-in.list.6] charges by when they were paid: UTC days, both inclusive, or instants, of which the end is not', async (t) => {
  const pix = await world(t)
  const { paidAt } = await pix.paid('1.00')
  await pix.charge('1.00')
  const at = (ms: number) => new Date(Date.parse(paidAt) + ms).toISOString()
  const [day, before, next] = [0, -86_400_000, 86_400_000].map((ms) => at(ms).slice(0, 10))
  const found = async (query: string, path = '/api/pix/cash-in') => {
    const { data, pagination } = (await pix.call('GET', `${path}?${query}`)).body
    assert.equal(pagination.total, data.length)
    return data.length
  }
  assert.equal(await found(`paid_from=${day}&paid_to=${day}`), 1)
  assert.equal(await found(`paid_from=${before}`, '/transactions/cash-in'), 1)
  assert.equal(await found(`paid_to=${before}`), 0)
  assert.equal(await found(`paid_from=${next}`), 0)
  assert.equal(await found(`paid_from=${paidAt}&paid_to=${at(1)}&status=PAID`), 1)
  assert.equal(await found(`paid_to=${paidAt}`), 0)
  assert.equal(await found(`paid_from=${paidAt}&status=PENDING`), 0)
})

test('[cash-in.list.6] [lists.3] charges by when they were paid are in that order, each once by cursor', async (t) => {
  const pix = await world(t)
  const [one, two, three] = [await pix.charge('1.00'), await pix.charge('1.00'), await pix.charge('1.00')]
  for (const { id } of [two, three, one]) {
    pix.clock.advance(1_000)
    await pix.call('POST', `/sandbox/cash-in/${id}/pay`)
    await pix.becomes(id, 'PAID')
  }
  const told: unknown[] = []
  for (let more = ''; ; ) {
    const { data, pagination } = (await pix.call('GET', `/api/pix/cash-in?paid_from=2000-01-01&limit=1${more}`)).body
    told.push(...references({ data }))
    if (pagination.nextCursor === null) break
    more = `&cursor=${pagination.nextCursor}`
  }
  const paidLast = [one, three, two].map(({ externalId }) => externalId)
  assert.deepEqual(told, paidLast)
  const { body } = await pix.call('GET', '/api/pix/cash-in?paid_from=2000-01-01&limit=2&page=2')
  assert.deepEqual(references(body), paidLast.slice(2))
})

test('[lists.3] by cursor a list is read to its end, each row once, whatever is created meanwhile', async (t) => {
  const pix = await world(t)
  for (let charge = 0; charge < 5; charge++) await pix.charge('1.00')
  const told: unknown[] = []
  const pages: unknown[] = []
  let cursor = ''
  do {
    const { status, body } = await pix.call('GET', `/api/pix/cash-in?limit=2${cursor}`)
    assert.equal(status, 200)
    told.push(...references(body))
    pages.push([body.pagination.page, body.pagination.total, body.pagination.hasMore])
    cursor = body.pagination.nextCursor && `&cursor=${body.pagination.nextCursor}`
    await pix.charge('1.00')
  } while (cursor)
  assert.deepEqual(told, ['order-5', 'order-4', 'order-3', 'order-2', 'order-1'])
  assert.deepEqual(pages, [
    [1, 5, true],
    [2, 6, true],
    [3, 7, false],
  ])
})

test('[lists.3] rows of one instant are listed once each, and filters hold behind a cursor', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const made = new Set<unknown>()
  for (let charge = 0; charge < 5; charge++) made.add((await pix.charge('1.00')).id)
  const told: Item[] = []
  for (let cursor = ''; ; ) {
    const { body } = await pix.call('GET', `/api/pix/cash-in?limit=2&status=PENDING&end_date=9999-12-31${cursor}`)
    told.push(...body.data)
    const { nextCursor } = body.pagination
    if (nextCursor === null) break
    cursor = `&cursor=${nextCursor}`
    const { body: none } = await pix.call('GET', `/api/pix/cash-in?status=PAID${cursor}`)
    assert.deepEqual(none.data, [])
  }
  assert.equal(new Set(told.map(({ createdAt }) => createdAt)).size, 1)
  assert.equal(told.length, 5)
  assert.deepEqual(new Set(told.map(({ id }) => id)), made)
})

test('[lists.3] [http.7] an invalid cursor, or one beside a page, is 400 and names its field', async (t) => {
  const pix = await world(t)
  for (let charge = 0; charge < 2; charge++) await pix.charge('1.00')
  const { nextCursor } = (await pix.call('GET', '/api/pix/cash-in?limit=1')).body.pagination
  for (const [query, field] of [
    ['cursor=abc', 'cursor'],
    ['cursor=', 'cursor'],
    ['cursor=!', 'cursor'],
    [`cursor=${nextCursor}A`, 'cursor'],
    [`cursor=Ag${nextCursor.slice(2)}`, 'cursor'],
    [`cursor=${nextCursor}&page=2`, 'page'],
  ] as const) {
    for (const path of ['/api/pix/cash-in', '/api/pix/cash-out', '/api/pix/refund']) {
      const { status, body } = await pix.call('GET', `${path}?${query}`)
      assert.deepEqual([status, body.code, body.errors[0].field], [400, 'validation_error', field], query)
    }
  }
})

test('[lists.4] deep pages are all answered, however many at once, and are right', async (t) => {
  const pix = await world(t)
  await pix.charge('1.00')
  await copyOperations(pix.database, 1_200)
  const oldest = await oldestCashIn(pix.database)
  const pages = await Promise.all(
    Array.from({ length: 40 }, () => pix.call('GET', '/api/pix/cash-in?limit=100&page=13')),
  )
  for (const { status, body } of pages) {
    assert.equal(status, 200)
    assert.deepEqual(
      body.data.map(({ id }: Item) => id),
      [oldest],
    )
    assert.deepEqual(body.pagination, {
      page: 13,
      limit: 100,
      total: 1_201,
      totalPages: 13,
      hasMore: false,
      nextCursor: null,
    })
  }
})
