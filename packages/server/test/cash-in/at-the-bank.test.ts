import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import test from 'node:test'
import { answer, type Received, scriptedBank } from '../banks/pixgate/scripted-bank.ts'
import { balances } from '../support/books.ts'
import { cases, cashIns, notifiedStatuses } from '../support/evidence.ts'
import { underOurIds } from '../support/order-ids.ts'
import { failedEvent, paidEvent, postEvent } from '../support/partner-events.ts'
import { type World, world } from '../support/world.ts'
import { PIX_CODE } from './fixture.ts'

/** Short, yet longer than a busy machine takes for an answer that does come. */
const SHORT = { PIXGATE_PARTNER_TIMEOUT_MS: '1000', PIXGATE_PARTNER_CREATE_BUDGET_MS: '1000' }
const STEPPED = { isStepped: true }

const behave = (pix: World, behavior: object) => pix.bank('PUT', '/control/behavior', behavior)
const chargesAtBank = async (pix: World) => (await pix.bank('GET', '/control/book')).body.charges

test('[cash-in.create.6] [CI-5] a refusal is 422 with `existing`; the externalId is used up, the merchant notified once', async (t) => {
  const pix = await world(t)
  await behave(pix, { cashIn: 'reject' })
  const create = () => pix.call('POST', '/api/pix/cash-in', { transaction: { value: 1, externalId: 'a' } })
  const { status, body } = await create()
  assert.deepEqual([status, body.code, body.existing.status], [422, 'partner_refused', 'FAILED'])
  const detail = await pix.read(body.existing.id)
  assert.deepEqual([detail.status, detail.failureCode], ['FAILED', 'charge_refused'])
  const again = await create()
  assert.deepEqual(
    [again.status, again.body.existing],
    [409, { id: detail.id, status: 'FAILED', samePayload: true }],
    'also now that the bank would not be asked any more',
  )
  await pix.receiver.arrived(1)
  const { event } = JSON.parse(String(pix.receiver.received[0]?.body))
  assert.deepEqual([event.id, event.status, event.end_to_end_id], [detail.id, 'FAILED', null])
  await pix.assertBooksAgree()
})

for (const behavior of ['timeout', 'lost-response'] as const) {
  test(`[cash-in.create.5] [cash-in.unknown.1] [CI-6] [CI-7] after a ${behavior} the result is unknown until the bank is asked`, async (t) => {
    const pix = await world(t, SHORT, STEPPED)
    await behave(pix, { cashIn: behavior })
    const created = await pix.charge('10.00')
    assert.equal(created.status, 'PENDING')
    assert.equal('pixCode' in created, false)
    assert.equal((await pix.read(created.id)).status, 'PROVIDER_RESULT_UNKNOWN')
    await behave(pix, { cashIn: 'answer' })
    await pix.later(4_000)
    assert.equal((await pix.read(created.id)).status, 'PROVIDER_RESULT_UNKNOWN', 'nobody has asked yet')
    await pix.later(1_001)
    const settled = await pix.read(created.id)
    assert.equal(settled.status, 'PENDING')
    assert.match(settled.pixCode, /^000201/)
    assert.equal((await chargesAtBank(pix)).length, 1)
    assert.deepEqual(await notifiedStatuses(pix.database), [])
    await pix.assertBooksAgree()
  })
}

test('[cash-in.unknown.4] a payment of a charge whose answer was lost makes it PAID', async (t) => {
  const pix = await world(t, SHORT, STEPPED)
  await behave(pix, { cashIn: 'lost-response' })
  const { id } = await pix.charge('10.00')
  await pix.call('POST', `/sandbox/cash-in/${id}/pay`)
  await pix.becomes(id, 'PAID')
  await pix.later(10_000)
  assert.equal((await pix.read(id)).status, 'PAID')
  await pix.assertBooksAgree()
})

test('[cash-in.unknown.7] [partner.5] 15 minutes without an answer make a case, which one answer closes', async (t) => {
  const pix = await world(t, SHORT, STEPPED)
  await behave(pix, { cashIn: 'timeout' })
  const { id } = await pix.charge('10.00')
  await pix.later(899_000)
  assert.equal((await pix.read(id)).status, 'PROVIDER_RESULT_UNKNOWN')
  await pix.later(61_000)
  assert.equal((await pix.read(id)).status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(await cases(pix.database), ['charge_unclear'])
  await behave(pix, { cashIn: 'answer' })
  await pix.later(60_001)
  const settled = await pix.read(id)
  assert.equal(settled.status, 'PENDING')
  assert.match(settled.pixCode, /^000201/)
  assert.deepEqual(await cases(pix.database), ['charge_unclear (closed)'])
  assert.deepEqual(await notifiedStatuses(pix.database), [])
})

/** A bank that takes every charge on, and may say something else than it should. */
function takesOn(response: ServerResponse, { method, path, body }: Received, given: object = {}): void {
  if (method === 'PUT') {
    const { valueCents, expiresAt } = JSON.parse(body)
    const id = path?.split('/').at(-1)
    const taken = { id, transactionId: 'bank-1', status: 'ACTIVE', valueCents, expiresAt, pixCode: PIX_CODE, ...given }
    answer(response, 201, taken)
  } else if (method === 'DELETE') answer(response, 200, { status: 'CANCELLED' })
  else answer(response, 404, { errorCode: 'not_found' })
}

const contradictions = {
  'another amount': { valueCents: 999 },
  'another id': { id: 'somebody else' },
  'a code that is none': { pixCode: '000201' },
}

for (const [what, echo] of Object.entries(contradictions)) {
  test(`[cash-in.states.6] [CI-10] an answer with ${what} is no charge: no code, a case, cancelled at the bank`, async (t) => {
    const bank = await scriptedBank(t, (response, request) => takesOn(response, request, echo))
    const pix = await world(t, SHORT, { ...STEPPED, bankUrl: bank.url })
    const created = await pix.charge('10.00')
    assert.equal('pixCode' in created, false)
    const detail = await pix.read(created.id)
    assert.equal(detail.status, 'RECONCILIATION_REQUIRED')
    assert.equal(detail.pixCode, null)
    assert.deepEqual(await cases(pix.database), ['charge_unclear'])
    assert.deepEqual(await notifiedStatuses(pix.database), [])
    assert.deepEqual(
      bank.received.map(({ method }) => method),
      ['PUT', 'DELETE'],
    )
  })
}

test('[restored.5] a charge that ends otherwise at the bank, as one of before a restore, is adopted with its end', async (t) => {
  const expiresAt = '2030-01-01T00:00:00.000Z'
  const bank = await scriptedBank(t, (response, request) => takesOn(response, request, { expiresAt }))
  const pix = await world(t, SHORT, { ...STEPPED, bankUrl: bank.url })
  const created = await pix.charge('10.00')
  assert.equal(created.expirationDate, expiresAt)
  const { status, pixCode, expirationDate } = await pix.read(created.id)
  assert.deepEqual([status, pixCode, expirationDate], ['PENDING', PIX_CODE, expiresAt])
})

test('[cash-in.expired.1] [CI-9] a payment that is reported before the charge was answered counts, and the answer fills in', async (t) => {
  let pix: World
  const bank = await scriptedBank(t, async (response, request) => {
    const [, id = ''] = request.path?.slice(1).split('/') ?? []
    if (request.method === 'PUT') {
      // The bank's own reference is not known to anybody yet.
      const event = paidEvent({ id, valueCents: 1000, providerTransactionId: 'bank-1' })
      assert.equal(await postEvent(pix, event), 200)
      await pix.becomes(await underOurIds(pix.database, id), 'PAID')
    }
    takesOn(response, request)
  })
  pix = await world(t, {}, { ...STEPPED, bankUrl: bank.url })
  const created = await pix.charge('10.00')
  assert.equal(created.status, 'PENDING', 'the 201 always says so')
  assert.equal(created.pixCode, PIX_CODE)
  const detail = await pix.read(created.id)
  assert.deepEqual([detail.status, detail.providerTransactionId], ['PAID', 'bank-1'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  assert.deepEqual(await balances(pix.database), { available: 1000n, settlement: -1000n })
})

test('[cash-in.failed.1] [CI-9] a failure that is reported before the charge was answered is the end; the answer is a case', async (t) => {
  let pix: World
  const bank = await scriptedBank(t, async (response, request) => {
    const [, id = ''] = request.path?.slice(1).split('/') ?? []
    if (request.method === 'GET') {
      const put = bank.received.find(({ method }) => method === 'PUT') ?? request
      return takesOn(response, put, { status: 'FAILED' })
    }
    if (request.method === 'PUT') {
      assert.equal(await postEvent(pix, failedEvent({ id, valueCents: 1000, providerTransactionId: 'bank-1' })), 200)
      // The bank, asked at once, agrees.
      await pix.becomes(await underOurIds(pix.database, id), 'FAILED')
    }
    takesOn(response, request)
  })
  pix = await world(t, {}, { ...STEPPED, bankUrl: bank.url })
  const { status, body } = await pix.call('POST', '/api/pix/cash-in', { transaction: { value: 10, externalId: 'a' } })
  assert.deepEqual([status, body.code], [422, 'partner_refused'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['FAILED'])
  const detail = await pix.read(body.existing.id)
  assert.deepEqual([detail.failureCode, detail.pixCode], ['removed_by_bank', null])
})

test('[cash-in.create.7] [partner.9] [CI-16] while the bank is away a charge is answered at once, and made when it is back', async (t) => {
  let isAway = true
  const bank = await scriptedBank(t, (response, request) => {
    if (isAway) answer(response, 500, {})
    else takesOn(response, request)
  })
  const pix = await world(t, SHORT, { ...STEPPED, bankUrl: bank.url })
  for (let charges = 0; charges < 5; charges++) await pix.charge('10.00')
  const { id, ...created } = await pix.charge('10.00')
  assert.equal(bank.received.length, 5, 'the sixth was not asked for')
  assert.deepEqual([created.status, 'pixCode' in created], ['PENDING', false])
  await pix.later(5_001)
  const { status, facts } = (await cashIns(pix.database)).find((cashIn) => cashIn.id === id) ?? {}
  assert.deepEqual([status, facts?.unsent], ['PENDING', 'proven'], 'whoever is silent: nothing was sent')
  isAway = false
  await pix.later(61_000)
  await pix.later(61_000)
  const details = await Promise.all((await cashIns(pix.database)).map((cashIn) => pix.read(cashIn.id)))
  assert.deepEqual(
    details.map(({ status, pixCode }) => [status, pixCode]),
    Array(6).fill(['PENDING', PIX_CODE]),
  )
  const ids = bank.received.filter(({ method }) => method === 'PUT').map(({ path }) => path)
  assert.equal(new Set(ids).size, 6, 'under the same ids')
})

test('[cash-in.create.7] [CI-16] a charge that was never asked for expires without the bank', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 500, {}))
  const pix = await world(t, SHORT, { ...STEPPED, bankUrl: bank.url })
  for (let charges = 0; charges < 5; charges++) await pix.charge('10.00')
  const { id } = await pix.charge('10.00', { expirationTime: 60 })
  await pix.later(62_001)
  const { status } = (await cashIns(pix.database)).find((cashIn) => cashIn.id === id) ?? {}
  assert.equal(status, 'EXPIRED')
  assert.deepEqual(await cases(pix.database), [])
})
