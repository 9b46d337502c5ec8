import assert from 'node:assert/strict'
import test from 'node:test'
import { codeOf } from '../support/suspense.ts'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'

function operator(pix: World) {
  return (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    pix.call(method, `/operator/${path}`, body, { ...headers, authorization: `Bearer ${ADMIN_TOKEN}` })
}

const PAYOUT = {
  transaction: { value: 30, externalId: 'payout-1' },
  recipient: { pixKey: 'joao@example.com', pixKeyType: 'email' },
}

test('[operator.switch.1] [operator.switch.2] [CO-24] suspended payouts are 503 and store nothing; reserved ones wait', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const operate = operator(pix)
  await operate('POST', 'adjustments', { valueCents: 100_00, reason: 'Opening balance' })
  const reserved = await pix.cashOut({ externalId: 'payout-0' })

  const off = await operate('PUT', 'cash-out-switch', { enabled: false, reason: 'Incident 42' })
  assert.equal(off.status, 200)
  assert.deepEqual(off.body, { enabled: false, reason: 'Incident 42', changedAt: off.body.changedAt, version: 2 })
  assert.deepEqual((await operate('GET', 'cash-out-switch')).body, off.body)

  const refused = await pix.call('POST', '/api/pix/cash-out', PAYOUT)
  assert.deepEqual(codeOf(refused), [503, 'cash_out_suspended'])
  assert.ok(refused.headers.has('retry-after'))
  assert.equal((await pix.get('/api/pix/cash-out')).data.length, 1)
  await pix.later(60_000)
  assert.equal((await pix.get(`/api/pix/cash-out/${reserved.id}`)).status, 'RESERVED')

  assert.equal((await operate('PUT', 'cash-out-switch', { enabled: true, reason: 'over' })).status, 200)
  assert.equal((await pix.call('POST', '/api/pix/cash-out', PAYOUT)).status, 201, 'its external id was still free')
  await pix.until(`/api/pix/cash-out/${reserved.id}`, ({ status }) => status === 'CONFIRMED')
})

test('[operator.switch.2] [CO-24] a sent payout is completed while payouts are suspended', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const operate = operator(pix)
  await pix.behave({ cashOut: 'manual' })
  await operate('POST', 'adjustments', { valueCents: 100_00, reason: 'Opening balance' })
  const { id } = await pix.cashOut()
  await pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'DISPATCHED')
  await operate('PUT', 'cash-out-switch', { enabled: false, reason: 'Incident 42' })
  await pix.bankAction(`payouts/${id}/confirm`)
  await pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'CONFIRMED')
})

test('[adjustment.create.1] [adjustment.create.2] [adjustment.states.1] an operator’s adjustment is in balance and ledger, with its reason', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const operate = operator(pix)
  const added = await operate('POST', 'adjustments', { valueCents: 100_00, reason: 'Opening balance' })
  assert.equal(added.status, 201)
  const { id, createdAt } = added.body
  assert.deepEqual(added.body, { id, valueCents: 100_00, reason: 'Opening balance', createdAt })
  assert.equal((await operate('POST', 'adjustments', { valueCents: -40_00, reason: 'To the vault' })).status, 201)
  assert.deepEqual(codeOf(await operate('POST', 'adjustments', { valueCents: -60_01, reason: 'Too much' })), [
    422,
    'insufficient_balance',
  ])

  assert.equal((await pix.get('/organization/balance'))[0].amount, 60)
  const { data } = await pix.get('/api/pix/ledger')
  const shown = data.map((entry: Record<string, unknown>) => [
    entry.type,
    entry.operation,
    entry.amountCents,
    entry.balanceAfterCents,
    entry.description,
  ])
  assert.deepEqual(shown, [
    ['DEBIT', 'ADJUSTMENT', 40_00, 60_00, 'To the vault'],
    ['CREDIT', 'ADJUSTMENT', 100_00, 100_00, 'Opening balance'],
  ])
  assert.equal(data[1].referenceId, id)
})

test('[idempotency.2] [idempotency.3] an adjustment whose answer was lost is sent again by its key and booked once', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const operate = operator(pix)
  const send = (valueCents: number) =>
    operate('POST', 'adjustments', { valueCents, reason: 'Opening balance' }, { 'idempotency-key': 'opening' })
  const first = await send(100_00)
  const again = await send(100_00)
  assert.deepEqual([again.status, again.body], [201, first.body])
  assert.deepEqual(
    [first, again].map(({ headers }) => headers.get('idempotent-replayed')),
    [null, 'true'],
  )
  assert.deepEqual(codeOf(await send(1)), [422, 'idempotency_key_reused'])
  assert.equal((await pix.get('/organization/balance'))[0].amount, 100)
})

test('[operator.switch.1] [adjustment.create.1] an invalid request is 400 and names its field', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const operate = operator(pix)
  for (const [method, path, body, field] of [
    ['POST', 'adjustments', { valueCents: 0, reason: 'x' }, 'valueCents'],
    ['POST', 'adjustments', { valueCents: 0.5, reason: 'x' }, 'valueCents'],
    ['POST', 'adjustments', { valueCents: 1e12, reason: 'x' }, 'valueCents'],
    ['POST', 'adjustments', { valueCents: 1 }, 'reason'],
    ['POST', 'adjustments', { valueCents: 1, reason: 'x', externalId: 'a' }, 'externalId'],
    ['PUT', 'cash-out-switch', { enabled: false }, 'reason'],
    ['PUT', 'cash-out-switch', { enabled: false, reason: 'x'.repeat(141) }, 'reason'],
    ['PUT', 'cash-out-switch', { reason: 'x' }, 'enabled'],
    ['PUT', 'cash-out-switch', { enabled: true, reason: 'x', version: 0 }, 'version'],
    ['PUT', 'cash-out-switch', { enabled: true, reason: 'x', version: '1' }, 'version'],
  ] as const) {
    const answer = await operate(method, path, body)
    assert.deepEqual([...codeOf(answer), answer.body.errors[0].field], [400, 'validation_error', field])
  }
  assert.equal((await pix.get('/organization/balance'))[0].amount, 0)
})
