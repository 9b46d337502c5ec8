import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import test, { type TestContext } from 'node:test'
import { answer, type Received, scriptedBank } from '../banks/pixgate/scripted-bank.ts'
import { bankWithout } from '../support/bank-without.ts'
import { balances } from '../support/books.ts'
import { cases, notifiedStatuses } from '../support/evidence.ts'
import { ADMIN_TOKEN, type Answer, request, type World, world } from '../support/world.ts'
import { PIX_CODE } from './fixture.ts'

/** A merchant cancels charges, over HTTP. */

const STEPPED = { isStepped: true }
const SHORT = { PIXGATE_PARTNER_TIMEOUT_MS: '1000', PIXGATE_PARTNER_CREATE_BUDGET_MS: '1000' }

const cancel = (pix: World, id: string) => pix.call('POST', `/api/pix/cash-in/${id}/cancel`)

function assertRefused({ status, body }: Answer, id: string, existing: string): void {
  assert.deepEqual([status, body.code, body.existing], [409, 'not_possible_in_state', { id, status: existing }])
}

test('[cash-in.cancel.3] a charge is cancelled at the bank: 200, FAILED, one notification, and the same again', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id } = await pix.charge('10.00')
  const { status, body } = await cancel(pix, id)
  assert.deepEqual(
    [status, body.status, body.failureCode, body.pixCode],
    [200, 'FAILED', 'cancelled_by_merchant', null],
  )
  assert.notEqual(body.cancelRequestedAt, null)
  const [charge] = (await pix.bank('GET', '/control/book')).body.charges
  assert.equal(charge.status, 'CANCELLED')
  const again = await cancel(pix, id)
  assert.deepEqual([again.status, again.body], [200, body])
  assert.deepEqual(await pix.read(id), body)
  assert.deepEqual(await notifiedStatuses(pix.database), ['FAILED'])
  await pix.assertBooksAgree()
})

test('[cash-in.cancel.5] what is unknown is 404; what is paid, expired, failed or contradicted stays so: 409', async (t) => {
  const pix = await world(t, {}, STEPPED)
  for (const id of ['0198c0de-7a11-7000-8000-5f1d3c2b1a09', 'none']) {
    const { status, body } = await cancel(pix, id)
    assert.deepEqual([status, body.code], [404, 'not_found'])
  }
  const paid = await pix.paid('10.00')
  assertRefused(await cancel(pix, paid.id), paid.id, 'PAID')
  const expired = await pix.charge('10.00', { expirationTime: 60 })
  const contradicted = await pix.charge('10.00')
  await pix.bank('POST', `/control/charges/${contradicted.id}/pay`, { valueCents: 1 })
  await pix.becomes(contradicted.id, 'RECONCILIATION_REQUIRED')
  assertRefused(await cancel(pix, contradicted.id), contradicted.id, 'RECONCILIATION_REQUIRED')
  await pix.later(60_001)
  assertRefused(await cancel(pix, expired.id), expired.id, 'EXPIRED')
  await pix.behave({ cashIn: 'reject' })
  const { existing } = (await pix.call('POST', '/api/pix/cash-in', { transaction: { value: 1, externalId: 'x' } })).body
  assertRefused(await cancel(pix, existing.id), existing.id, 'FAILED')
  assert.deepEqual([(await pix.read(paid.id)).status, (await pix.read(expired.id)).status], ['PAID', 'EXPIRED'])
})

test('[cash-in.cancel.3] the scope is that which creates charges', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id } = await pix.charge('10.00')
  const as = async (scope: string) => {
    const made = await request(`${pix.url}/api-key/generate`, ADMIN_TOKEN, 'POST', { name: scope, scopes: [scope] })
    return request(`${pix.url}/api/pix/cash-in/${id}/cancel`, made.body.apiKey, 'POST')
  }
  const { status, body } = await as('read')
  assert.deepEqual([status, body.code], [403, 'insufficient_scope'])
  assert.equal((await as('charge')).status, 200)
})

test('[cash-in.cancel.5] [partner.10] a bank that does not cancel charges: 422, and the charge can be paid', async (t) => {
  const pix = await world(t, {}, { ...STEPPED, ...bankWithout('cancel-charge') })
  const { id } = await pix.charge('10.00')
  const { status, body } = await cancel(pix, id)
  assert.deepEqual([status, body.code], [422, 'not_supported_by_bank'])
  assert.equal((await pix.read(id)).cancelRequestedAt, null)
})

/** A bank with one charge that answers its cancellation as a test says. */
async function withCharge(
  t: TestContext,
  onDelete: (response: ServerResponse, charge: { status: string; payments: object[] }) => void,
) {
  const charge = { status: 'ACTIVE', payments: [] as object[] }
  const bank = await scriptedBank(t, (response, { method, path, body }: Received) => {
    if (method === 'DELETE') return onDelete(response, charge)
    const put = bank.received.find((one) => one.method === 'PUT')
    const { valueCents, expiresAt } = JSON.parse(put?.body ?? body)
    const id = path?.split('/').at(-1)
    answer(response, method === 'PUT' ? 201 : 200, {
      id,
      transactionId: 'bank-1',
      valueCents,
      expiresAt,
      pixCode: PIX_CODE,
      ...charge,
    })
  })
  const pix = await world(t, SHORT, { ...STEPPED, bankUrl: bank.url })
  const { id } = await pix.charge('10.00')
  const calls = () =>
    bank.received
      .filter(({ path }) => path?.startsWith('/charges/'))
      .map(({ method }) => method)
      .slice(1)
  return { pix, id, calls }
}

const PAYMENT = {
  endToEndId: 'E9999901020261121131500aB3dE5fG7',
  valueCents: 1000,
  payer: { name: 'Maria', document: '52998224725', ispb: '99999010' },
}

test('[cash-in.cancel.3] [cash-in.cancel.4] [cash-in.qrcode.3] [CI-20] a bank that does not confirm: 202, nothing is assumed, and it is asked again', async (t) => {
  let isSilent = true
  const { pix, id, calls } = await withCharge(t, (response) => {
    if (isSilent) answer(response, 503, {})
    else answer(response, 200, { status: 'CANCELLED' })
  })
  const first = await cancel(pix, id)
  assert.deepEqual([first.status, first.body.status], [202, 'PENDING'])
  const again = await cancel(pix, id)
  assert.deepEqual([again.status, again.body, calls()], [202, first.body, ['GET', 'DELETE']])
  const qrCode = await pix.call('GET', `/api/pix/cash-in/${id}/qrcode`)
  assert.equal(qrCode.status, 409, 'its code is not shown to payers any more')
  await pix.later(1_001)
  assert.deepEqual([(await pix.read(id)).status, await notifiedStatuses(pix.database)], ['PENDING', []])
  isSilent = false
  await pix.later(5_001)
  assert.deepEqual((await pix.read(id)).failureCode, 'cancelled_by_merchant')
  assert.equal((await cancel(pix, id)).status, 200)
  assert.deepEqual(await notifiedStatuses(pix.database), ['FAILED'])
})

test('[cash-in.cancel.4] [CI-20] a confirmation that was lost is found by the next query', async (t) => {
  const { pix, id, calls } = await withCharge(t, (response, charge) => {
    charge.status = 'CANCELLED'
    response.destroy()
  })
  assert.equal((await cancel(pix, id)).status, 202)
  await pix.later(1_001)
  const { status, failureCode } = await pix.read(id)
  assert.deepEqual([status, failureCode, calls()], ['FAILED', 'cancelled_by_merchant', ['GET', 'DELETE', 'GET']])
})

test('[cash-in.cancel.5] [CI-20] a payment that is faster wins: it is booked, and the answer is 409', async (t) => {
  const { pix, id } = await withCharge(t, (response, charge) => {
    charge.status = 'PAID'
    charge.payments.push({ ...PAYMENT, occurredAt: new Date(pix.clock.now()).toISOString() })
    answer(response, 409, { errorCode: 'charge_paid' })
  })
  assertRefused(await cancel(pix, id), id, 'PAID')
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  assert.deepEqual(await balances(pix.database), { available: 1000n, settlement: -1000n })
  assert.deepEqual(await cases(pix.database), [])
})

test('[cash-in.cancel.2] [CI-20] a charge that was never sent to the bank is cancelled without it', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 500, {}))
  const pix = await world(t, SHORT, { ...STEPPED, bankUrl: bank.url })
  for (let charges = 0; charges < 5; charges++) await pix.charge('10.00')
  const { id } = await pix.charge('10.00')
  const before = bank.received.length
  const { status, body } = await cancel(pix, id)
  assert.deepEqual([status, body.status, bank.received.length], [200, 'FAILED', before])
  assert.deepEqual(await notifiedStatuses(pix.database), ['FAILED'])
})
