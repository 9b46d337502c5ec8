import assert from 'node:assert/strict'
import test from 'node:test'
import { buildDynamicBrCode, buildStaticBrCode } from '@pixgate/brcode'
import type { RequestContext } from '../../src/platform/http/handler.ts'
import { balances } from '../support/books.ts'
import { CONFIRMED, NOT_FOUND, QR_CODE, REJECTED, TIMEOUT, UNREACHABLE } from './bank-answers.ts'
import { type CashOutFixture, cashOutFixture, refusalOf } from './fixture.ts'

const MERCHANT = { merchantName: 'Padaria Central', merchantCity: 'RECIFE' }
const DYNAMIC = buildDynamicBrCode({ url: 'bank.example/qr/1', ...MERCHANT })
const STATIC = buildStaticBrCode({ pixKey: 'padaria@example.com', ...MERCHANT })

function contextOf(idempotencyKey?: string): RequestContext {
  const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
  return { headers, correlationId: 'test', caller: { id: 'caller' } } as unknown as RequestContext
}

/** Asks for a code to be paid. */
async function pay(fixture: CashOutFixture, transaction: object, more: { document?: string; key?: string } = {}) {
  const { document, key } = more
  const body = {
    transaction: { pixCode: DYNAMIC, externalId: 'payout-1', ...transaction },
    ...(document === undefined ? {} : { recipient: { document } }),
  }
  return fixture.handlers.createCashOutFromQrCode({ params: {}, query: {}, body, context: contextOf(key) } as never)
}

const refused = async (...given: Parameters<typeof pay>) => (await refusalOf(pay(...given))).code

test('[cash-out.qrcode.3] [QR-3] the bank is asked once, with nothing stored; then the payout is there', async (t) => {
  const fixture = await cashOutFixture(t)
  const { status, body } = await pay(fixture, {})
  assert.equal(status, 201)
  assert.deepEqual(
    [body?.status, body?.paymentType, body?.valueCents, body?.recipient],
    ['RESERVED', 'qrcode', 3000, { name: 'Padaria Central', pixKey: 'padaria@example.com' }],
  )
  assert.deepEqual(fixture.partner.asked, ['DECODE'])
})

test('[QR-6] however often it is sent, it is decoded once, and every attempt names that decoding', async (t) => {
  const fixture = await cashOutFixture(t, { put: TIMEOUT, query: NOT_FOUND })
  await pay(fixture, { description: 'Bread' })
  await fixture.later(0)
  for (let minute = 0; minute < 15; minute++) await fixture.later(60_000)
  fixture.partner.put = UNREACHABLE
  for (let minute = 0; minute < 15; minute++) await fixture.later(60_000)
  assert.ok(fixture.partner.requests.length >= 3)
  assert.equal(fixture.partner.asked.filter((asked) => asked === 'DECODE').length, 1)
  const order = { valueCents: 30_00n, description: 'Bread', pixCode: DYNAMIC, decodeId: 'decode-1' }
  for (const [, request] of fixture.partner.requests) assert.deepEqual(request, order)
})

test('[QR-5] a code that ended between its decoding and its payment fails at the bank, and the money is free', async (t) => {
  const fixture = await cashOutFixture(t, { put: REJECTED })
  await pay(fixture, {})
  await fixture.later(0)
  assert.deepEqual(await balances(fixture.database), { available: 100_00n, settlement: -100_00n })
  fixture.partner.put = CONFIRMED
  assert.equal((await pay(fixture, { externalId: 'payout-2' })).status, 201, 'it is no other payout’s any more')
})

test('[cash-out.qrcode.3] [QR-2] a bank that does not decode is 503 with a time to come back, and the externalId stays free', async (t) => {
  const fixture = await cashOutFixture(t)
  for (const answer of [TIMEOUT, UNREACHABLE]) {
    fixture.partner.qrCode = answer
    const refusal = await refusalOf(pay(fixture, {}))
    assert.deepEqual([refusal.code, refusal.retryAfterSeconds], ['partner_unavailable', 5])
  }
  fixture.partner.qrCode = REJECTED
  assert.equal(await refused(fixture, {}), 'pix_code_not_payable')
  fixture.partner.qrCode = { kind: 'DECODED', qrCode: QR_CODE }
  assert.equal((await pay(fixture, {})).status, 201)
})

test('[cash-out.create.2] [http.5] what is known already is answered before the bank is asked anything', async (t) => {
  const fixture = await cashOutFixture(t)
  const first = await pay(fixture, {}, { key: 'k1' })
  const again = await pay(fixture, {}, { key: 'k1' })
  assert.equal(again.body?.id, first.body?.id)
  assert.equal(again.headers?.['idempotent-replayed'], 'true')
  assert.equal(await refused(fixture, { value: 31 }, { key: 'k1' }), 'idempotency_key_reused')
  const repeated = await refusalOf(pay(fixture, {}))
  assert.deepEqual([repeated.code, repeated.existing?.samePayload], ['duplicate_external_id', true])
  assert.equal((await refusalOf(pay(fixture, { value: 31 }))).existing?.samePayload, false)
  assert.equal(await refused(fixture, { externalId: 'payout-2' }), 'pix_code_in_use')
  assert.deepEqual(fixture.partner.asked, ['DECODE'])
})

test('[cash-out.qrcode.1] [cash-out.qrcode.2] what the code alone shows needs no call to the bank, and shapes come first', async (t) => {
  const fixture = await cashOutFixture(t)
  await pay(fixture, { pixCode: STATIC, value: 30 })
  assert.equal(await refused(fixture, { pixCode: 'hello' }), 'invalid_pix_code')
  assert.equal(await refused(fixture, { value: 1.005 }), 'validation_error')
  assert.equal(await refused(fixture, { pixCode: STATIC }), 'duplicate_external_id')
  assert.equal(await refused(fixture, { pixCode: STATIC, externalId: 'payout-2' }), 'pix_code_value_mismatch')
  assert.deepEqual(fixture.partner.asked, ['DECODE'])
})

test('[cash-out.qrcode.4] [cash-out.qrcode.5] what the bank’s decoding does not agree with is refused, and nothing is stored', async (t) => {
  const fixture = await cashOutFixture(t)
  assert.equal(await refused(fixture, { value: 31 }), 'pix_code_value_mismatch')
  assert.equal(await refused(fixture, {}, { document: '529.982.247-25' }), 'pix_code_not_payable')
  assert.equal(await refused(fixture, {}, { document: 'nobody' }), 'invalid_document')
  fixture.partner.qrCode = { kind: 'DECODED', qrCode: { ...QR_CODE, status: 'PAID' } }
  assert.equal(await refused(fixture, {}), 'pix_code_not_payable')
  assert.deepEqual(await balances(fixture.database), { available: 100_00n, settlement: -100_00n })
})
