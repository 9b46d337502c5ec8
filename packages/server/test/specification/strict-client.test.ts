import assert from 'node:assert/strict'
import test from 'node:test'
import { buildStaticBrCode } from '@pixgate/brcode'
import { ADMIN_TOKEN, type World, world } from '../support/world.ts'
import { bodies, differences, notifications } from './field-tables.ts'

/**
 * A client that was written from the specification's field tables alone. What differs from them stands in the open points,
 * and nowhere here.
 */

/** Without what is switched on beyond the specification. */
const AS_SPECIFIED = { PIXGATE_PAYMENT_PAGE: 'false' }

type Call = keyof typeof bodies

/** Calls an endpoint and returns its body; the test fails where that is not as the table shows it. */
function strictClient(pix: World) {
  return async (call: Call, id = '', body?: unknown, headers: Record<string, string> = {}) => {
    const [method = '', path = ''] = call.split(' ')
    const answer = await pix.call(method, path.replace('{id}', id), body, headers)
    assert.equal(answer.status, method === 'POST' ? 201 : 200, `${call}: ${JSON.stringify(answer.body)}`)
    assert.deepEqual(differences(bodies[call], answer.body), [], `${call}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
}

const EVERYTHING = { description: 'Invoice 77', expirationTime: 3_600, generateQrCode: true }
const NOTHING = { description: null, expirationTime: null, generateQrCode: null }
const PAYER = { fullName: 'Maria da Silva', document: '529.982.247-25' }
const RECIPIENT = { name: 'João Souza', document: '111.444.777-35', pixKey: 'joao@example.com', pixKeyType: 'email' }
const BAKERY = { pixKey: 'padaria@example.com', merchantName: 'Padaria Central', merchantCity: 'Recife' }

/** The answers to one operation's GET once it has ended. */
async function ended(pix: World, path: string, status: string): Promise<void> {
  await pix.until(path, (body) => body.status === status)
}

test('[cash-in.create.5] [cash-out.create.5] [balance.1] every success body is as the specification’s tables show it', async (t) => {
  const pix = await world(t, AS_SPECIFIED)
  const client = strictClient(pix)
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  await client('POST /api-key/generate', '', undefined, admin)
  await client('GET /public-key')
  await client('POST /webhook', '', { url: `${pix.receiver.url}more`, events: ['pix_cash_in'] })
  await client('GET /webhook')

  const transaction = { value: 150.25, externalId: 'order-1', ...EVERYTHING }
  const charge = await client('POST /api/pix/cash-in', '', { transaction, payer: PAYER })
  const bare = { transaction: { value: 1, externalId: 'order-2', ...NOTHING }, payer: null }
  await client('POST /api/pix/cash-in', '', bare)
  await pix.bankAction(`charges/${charge.id}/pay`)
  await ended(pix, `/api/pix/cash-in/${charge.id}`, 'PAID')
  for (const call of ['GET /api/pix/cash-in', 'GET /api/transactions/cash-in'] as const) await client(call)
  await client('GET /api/pix/cash-in/{id}', charge.id)

  const payout = await client('POST /api/pix/cash-out', '', {
    transaction: { value: 30, externalId: 'payout-1', description: 'Invoice 77' },
    recipient: RECIPIENT,
  })
  await client('GET /api/pix/cash-out/{id}', payout.id)
  const pixCode = buildStaticBrCode({ ...BAKERY, amountCents: 150n })
  await client('POST /api/pix/cash-out-qrcode', '', {
    transaction: { pixCode, externalId: 'payout-2', description: 'Bread' },
  })
  await client('GET /api/pix/cash-out')

  const refund = await client('POST /api/pix/refund-in/{id}', charge.id, { refundValue: 10, reason: null })
  await client('GET /api/pix/refund/{id}', refund.id)
  await client('GET /api/pix/refund')
  const { data } = await client('GET /api/pix/ledger')
  await client('GET /api/pix/ledger/{id}', data[0].id)
})

test('[balance.1] [cash-out.unknown.3] the balance has two fields more, and a cash-out two states more, than the tables', async (t) => {
  const pix = await world(t, { ...AS_SPECIFIED, PIXGATE_PARTNER_TIMEOUT_MS: '100' })
  await pix.balance(100_00)
  assert.deepEqual(differences(bodies['GET /organization/balance'], await pix.get('/organization/balance')), [
    '/0 must NOT have additional properties: reservedCents',
    '/0 must NOT have additional properties: receivableCents',
  ])
  await pix.behave({ cashOut: 'timeout' })
  const { id } = await pix.cashOut()
  await ended(pix, `/api/pix/cash-out/${id}`, 'PROVIDER_RESULT_UNKNOWN')
  assert.deepEqual(differences(bodies['GET /api/pix/cash-out/{id}'], await pix.get(`/api/pix/cash-out/${id}`)), [
    '/status must be equal to one of the allowed values',
  ])
})

test('[events.2] [events.5] every notification of what succeeded is as the specification’s tables show it', async (t) => {
  const pix = await world(t, AS_SPECIFIED)
  const { id: cashInId } = await pix.paid('100.00')
  const payout = await pix.cashOut()
  await ended(pix, `/api/pix/cash-out/${payout.id}`, 'CONFIRMED')
  await pix.bankAction(`payouts/${payout.id}/reverse`)
  const refund = await pix.refundIn(cashInId, 10)
  await ended(pix, `/api/pix/refund/${refund.id}`, 'CONFIRMED')
  await pix.receiver.arrived(4)
  assert.deepEqual(differencesOfNotifications(pix), {
    'pix_cash_in PAID': [],
    'pix_cash_in_reversal CONFIRMED': [],
    'pix_cash_out CONFIRMED': [],
    'pix_cash_out_reversal REVERSED': [],
  })
})

/** In what each notification that arrived differs from the tables, by its type and status, in their order. */
function differencesOfNotifications(pix: World): Readonly<Record<string, readonly string[]>> {
  const entries = pix.receiver.received.map(({ body }) => {
    const notification = JSON.parse(body.toString())
    const { event_type: type, event } = notification
    return [`${type} ${event.status}`, differences(notifications[type] ?? {}, notification)] as const
  })
  return Object.fromEntries(entries.toSorted(([one], [other]) => one.localeCompare(other)))
}

/** Fields that the specification does not have: why something failed. */
const WHY = ['failure_code', 'failure_reason'].map((name) => `/event must NOT have additional properties: ${name}`)

test('[events.5] [events.6] of what failed only the ids that do not exist, and a payer that nobody is, are null', async (t) => {
  const pix = await world(t, AS_SPECIFIED)
  const { id: cashInId } = await pix.paid('100.00')
  const { id: chargeId } = await pix.charge('1.00')
  await pix.bankAction(`charges/${chargeId}/fail`)
  await pix.behave({ cashOut: 'fail', refundIn: 'reject' })
  await pix.cashOut()
  await pix.refundIn(cashInId, 10)
  await pix.receiver.arrived(4)
  assert.deepEqual(differencesOfNotifications(pix), {
    'pix_cash_in FAILED': [...WHY, '/event/end_to_end_id must be string', '/event/payer_name must be string'],
    'pix_cash_in PAID': [],
    'pix_cash_in_reversal FAILED': WHY,
    'pix_cash_out FAILED': [...WHY, '/event/end_to_end_id must be string'],
  })
})

test('[cash-in.create.5] [cash-out.create.5] of what is not known or was not given, and of nothing else, the 201s have no field', async (t) => {
  const pix = await world(t, {
    ...AS_SPECIFIED,
    PIXGATE_PARTNER_TIMEOUT_MS: '100',
    PIXGATE_PARTNER_CREATE_BUDGET_MS: '100',
  })
  await pix.balance(100_00)
  await pix.behave({ cashIn: 'timeout' })
  assert.deepEqual(differences(bodies['POST /api/pix/cash-in'], await pix.charge('1.00')), [
    "must have required property 'providerTransactionId'",
  ])
  assert.deepEqual(differences(bodies['POST /api/pix/cash-out'], await pix.cashOut()), [
    "must have required property 'description'",
    "/recipient must have required property 'name'",
  ])
})
