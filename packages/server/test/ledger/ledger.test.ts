import assert from 'node:assert/strict'
import test from 'node:test'
import { type World, world } from '../support/world.ts'

interface Entry {
  readonly id: string
  readonly type: string
  readonly operation: string
  readonly amountCents: number
  readonly balanceAfterCents: number
  readonly referenceId: string
  readonly createdAt: string
}

const LEDGER = '/api/pix/ledger'

async function list(pix: World, query = ''): Promise<{ data: Entry[]; pagination: Record<string, unknown> }> {
  const { status, body } = await pix.call('GET', `${LEDGER}${query && `?${query}`}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** A charge of some reais that was paid: two entries where there is a fee, otherwise one. @returns its id */
async function paid(pix: World, value: string): Promise<string> {
  const { id } = await pix.charge(value, { description: `Pedido de ${value}` })
  await pix.bank('POST', `/control/charges/${id}/pay`)
  await pix.becomes(id, 'PAID')
  return id
}

const WITH_FEE = { PIXGATE_FEE_CASH_IN_CENTS: '10' }
const STEPPED = { isStepped: true }

test('[ledger.entries] [ledger.get] an entry shows what moved, the balance after it, and whose it is', async (t) => {
  const pix = await world(t, WITH_FEE, STEPPED)
  const id = await paid(pix, '150.25')
  const detail = await pix.read(id)
  const { data, pagination } = await list(pix)
  assert.deepEqual(pagination, { limit: 20, hasMore: false, nextCursor: null })
  const common = {
    currency: 'BRL',
    referenceId: id,
    externalId: 'order-1',
    transactionId: detail.providerTransactionId,
    endToEndId: detail.endToEndId,
    description: 'Pedido de 150.25',
  }
  assert.deepEqual(
    data.map(({ id: _, createdAt, ...entry }) => entry),
    [
      { type: 'DEBIT', operation: 'FEE', amountCents: 10, balanceAfterCents: 15015, ...common },
      { type: 'CREDIT', operation: 'CASH_IN', amountCents: 15025, balanceAfterCents: 15025, ...common },
    ],
  )
  for (const entry of data) {
    assert.deepEqual((await pix.call('GET', `${LEDGER}/${entry.id}`)).body, entry)
    assert.deepEqual((await pix.call('GET', `${LEDGER}/${entry.id.toUpperCase()}`)).body, entry)
  }
})

test('[ledger.entries] a fee of zero is no entry; the sum of all entries is the balance', async (t) => {
  const pix = await world(t, {}, STEPPED)
  for (const value of ['1.00', '2.50', '0.01']) await paid(pix, value)
  const { data } = await list(pix)
  assert.deepEqual(
    data.map(({ operation, amountCents, balanceAfterCents }) => [operation, amountCents, balanceAfterCents]),
    [
      ['CASH_IN', 1, 351],
      ['CASH_IN', 250, 350],
      ['CASH_IN', 100, 100],
    ],
  )
  const { body: balance } = await pix.call('GET', '/organization/balance')
  assert.equal(balance[0].amount, 3.51)
})

test('[ledger.get] an id that names no entry is 404, a made-up one too', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const reference = await paid(pix, '1.00')
  const [entry] = (await list(pix)).data
  const ids = [
    reference,
    '1',
    'ffffffff-ffff-8fff-bfff-ffffffffffff',
    entry?.id.replace(/.$/, (digit) => (digit === '2' ? '3' : '2')) ?? '',
    "' OR 1=1",
  ]
  for (const id of ids) {
    const { status, body } = await pix.call('GET', `${LEDGER}/${encodeURIComponent(id)}`)
    assert.deepEqual([status, body.code], [404, 'not_found'], id)
  }
})

test('[ledger.list] pages show each entry once, newest first, also while others are written', async (t) => {
  const pix = await world(t, WITH_FEE, STEPPED)
  for (let charge = 0; charge < 5; charge++) await paid(pix, '1.00')
  const before = (await list(pix)).data
  const seen: Entry[] = []
  let query = 'limit=3'
  for (;;) {
    const { data, pagination } = await list(pix, query)
    seen.push(...data)
    assert.equal(pagination.limit, 3)
    assert.equal(pagination.hasMore, pagination.nextCursor !== null)
    if (!pagination.hasMore) break
    assert.equal(data.length, 3)
    query = `limit=3&cursor=${pagination.nextCursor}`
    await paid(pix, '1.00')
  }
  assert.deepEqual(seen, before)
  assert.equal((await list(pix, 'limit=100')).data.length, 16)
})

test('[ledger.list] a last page that is exactly full has nothing behind it', async (t) => {
  const pix = await world(t, WITH_FEE, STEPPED)
  await paid(pix, '1.00')
  const { pagination } = await list(pix, 'limit=2')
  assert.deepEqual(pagination, { limit: 2, hasMore: false, nextCursor: null })
  const { data } = await list(await world(t, {}, STEPPED))
  assert.deepEqual(data, [])
})

test('[ledger.list] filters narrow the list, alone and together, and pages go through what is left', async (t) => {
  const pix = await world(t, WITH_FEE, STEPPED)
  const [one, other] = [await paid(pix, '1.00'), await paid(pix, '2.00')]
  const found = async (query: string) =>
    (await list(pix, query)).data.map(({ operation, referenceId }) => [operation, referenceId === one ? 1 : 2])
  assert.deepEqual(await found('type=CREDIT'), [
    ['CASH_IN', 2],
    ['CASH_IN', 1],
  ])
  assert.deepEqual(await found('type=DEBIT'), [
    ['FEE', 2],
    ['FEE', 1],
  ])
  assert.deepEqual(await found('operation=FEE&type=CREDIT'), [])
  assert.deepEqual(await found('operation=CASH_OUT'), [])
  assert.deepEqual(await found(`reference_id=${one}`), [
    ['FEE', 1],
    ['CASH_IN', 1],
  ])
  assert.deepEqual(await found(`reference_id=${other.toUpperCase()}&operation=CASH_IN`), [['CASH_IN', 2]])
  assert.deepEqual(await found('reference_id=0198c0de-7a11-7000-8000-5f1d3c2b1a09'), [])
  const first = await list(pix, 'operation=FEE&limit=1')
  assert.deepEqual(await found(`operation=FEE&limit=1&cursor=${first.pagination.nextCursor}`), [['FEE', 1]])
})

test('[ledger.list] [lists.2] days are UTC days, both inclusive', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await paid(pix, '1.00')
  const [entry] = (await list(pix)).data
  const day = entry?.createdAt.slice(0, 10) ?? ''
  const beside = (days: number) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)
  const found = async (query: string) => (await list(pix, query)).data.length
  assert.equal(await found(`start_date=${day}`), 1)
  assert.equal(await found(`end_date=${day}`), 1)
  assert.equal(await found(`start_date=${day}&end_date=${day}`), 1)
  assert.equal(await found(`start_date=${beside(-1)}&end_date=${beside(1)}`), 1)
  assert.equal(await found(`end_date=${beside(-1)}`), 0)
  assert.equal(await found(`start_date=${beside(1)}`), 0)
})

test('[ledger.list] [lists.1] [lists.2] what is malformed, unknown, repeated or inverted is named', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const encoded = (text: string) => Buffer.from(text).toString('base64url')
  const wrong: Record<string, string> = {
    'limit=0': 'limit',
    'limit=101': 'limit',
    'limit=1.0e1': 'limit',
    'type=credit': 'type',
    'operation=PIX': 'operation',
    'reference_id=order-1': 'reference_id',
    'start_date=2026-02-30': 'start_date',
    'start_date=2026-1-1': 'start_date',
    'end_date=today': 'end_date',
    'start_date=2026-11-22&end_date=2026-11-21': 'end_date',
    'type=CREDIT&type=CREDIT': 'type',
    'page=1': 'page',
    'cursor=': 'cursor',
    'cursor=12': 'cursor',
    [`cursor=${encoded('12')}`]: 'cursor',
    [`cursor=${encoded('v2:12')}`]: 'cursor',
    [`cursor=${encoded('v1:-1')}`]: 'cursor',
    [`cursor=${encoded('v1:1x')}`]: 'cursor',
    [`cursor=${encoded(`v1:${'9'.repeat(19)}`)}`]: 'cursor',
    [`cursor=${'A'.repeat(65)}`]: 'cursor',
  }
  for (const [query, field] of Object.entries(wrong)) {
    const { status, body } = await pix.call('GET', `${LEDGER}?${query}`)
    assert.deepEqual([status, body.code], [400, 'validation_error'], query)
    assert.deepEqual(
      body.errors.map((error: { field: string }) => error.field),
      [field],
      query,
    )
  }
})
