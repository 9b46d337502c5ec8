import assert from 'node:assert/strict'
import test from 'node:test'
import { buildDynamicBrCode, buildStaticBrCode } from '@pixgate/brcode'
import { becomes, ID, moves, PAYOUT_ID, settledEvents, startBank, TERMS, type TestBank } from './support/bank.ts'
import { steppedClock } from './support/clocks.ts'
import { startService } from './support/receiving-gateway.ts'

const merchant = { merchantName: 'Padaria Sol', merchantCity: 'Recife' }

test('[partner-protocol] a static code is decoded to its content', async (t) => {
  const bank = await startBank(t)
  const full = buildStaticBrCode({ ...merchant, pixKey: '11144477735', amountCents: 1_999n, txid: 'PEDIDO1' })
  const { status, body } = await decode(bank, full)
  const { decodeId, ...asked } = body
  assert.match(decodeId, /^[0-9a-f-]{36}$/)
  assert.deepEqual(
    [status, asked],
    [
      200,
      {
        status: 'ACTIVE',
        valueCents: 1_999,
        txid: 'PEDIDO1',
        recipient: { name: 'Padaria Sol', document: '11144477735', pixKey: '11144477735' },
      },
    ],
  )
  const open = (await decode(bank, buildStaticBrCode({ ...merchant, pixKey: 'sol@exemplo.com.br' }))).body
  assert.deepEqual([open.valueCents, open.txid, open.recipient.document], [undefined, '***', '39053344705'])
})

test('[partner-protocol] a static code can be paid repeatedly, with a decoding id of this code', async (t) => {
  const bank = await startBank(t)
  const pixCode = buildStaticBrCode({ ...merchant, pixKey: '11144477735', amountCents: 500n })
  for (const id of ['one', 'two']) {
    const { decodeId } = (await decode(bank, pixCode)).body
    assert.equal((await bank.payout(id, { valueCents: 500, pixCode, decodeId })).status, 202)
    const { recipient } = await becomes(bank, `/payouts/${id}`, 'CONFIRMED')
    const pixKey = '11144477735'
    assert.deepEqual(recipient, { name: 'Padaria Sol', document: pixKey, ispb: '99999028', pixKey })
  }
  const { decodeId } = (await decode(bank, pixCode)).body
  const refusal = async (order: object) => {
    const { status, body } = await bank.payout('refused', { valueCents: 500, pixCode, decodeId, ...order })
    return [status, body.errorCode]
  }
  assert.deepEqual(await refusal({ valueCents: 499 }), [422, 'amount_mismatch'])
  assert.deepEqual(await refusal({ decodeId: 'another' }), [422, 'unknown_decoding'])
  const other = buildStaticBrCode({ ...merchant, pixKey: '11144477735' })
  assert.deepEqual(await refusal({ pixCode: other }), [422, 'unknown_decoding'])
  assert.deepEqual(await moves(bank), [['PAYOUT_SENT -500', 'PAYOUT_SENT -500'], -1_000])
})

test('[partner-protocol] a charge of this bank is decoded and paid by a payout, and events report both sides', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: service.url, clock: steppedClock() })
  await bank.behave({ cashOut: 'manual' })
  const { pixCode, transactionId } = (await bank.charge()).body
  const { decodeId, ...asked } = (await decode(bank, pixCode)).body
  assert.deepEqual(asked, {
    status: 'ACTIVE',
    valueCents: 15_000,
    txid: transactionId,
    expiresAt: TERMS.expiresAt,
    recipient: { name: 'Loja Exemplo', document: '11222333000181', pixKey: 'loja@exemplo.com.br' },
  })
  await bank.payout(PAYOUT_ID, { valueCents: 15_000, pixCode, decodeId })
  const { endToEndId } = (await bank.call('POST', `/control/payouts/${PAYOUT_ID}/confirm`)).body
  const charge = (await bank.call('GET', `/charges/${ID}`)).body
  assert.equal(charge.status, 'PAID')
  assert.deepEqual(charge.payments, [
    {
      endToEndId,
      valueCents: 15_000,
      occurredAt: '2026-11-21T13:15:30.000Z',
      payer: { name: 'Loja Pixgate', document: '11222333000181', ispb: '99999001' },
      returns: [],
    },
  ])
  assert.deepEqual(await moves(bank), [['PAYOUT_SENT -15000', 'PAYMENT_RECEIVED +15000'], 0])
  const reported = (await settledEvents(bank)).map((event) => [event.event, event.externalId, event.endToEndId])
  assert.deepEqual(reported, [
    ['CashOut', PAYOUT_ID, endToEndId],
    ['CashIn', ID, endToEndId],
  ])
  assert.equal((await bank.refund(endToEndId, 1)).status, 202)
})

for (const [state, reach] of [
  ['paid', (bank: TestBank) => bank.call('POST', `/control/charges/${ID}/pay`)],
  ['cancelled', (bank: TestBank) => bank.call('DELETE', `/charges/${ID}`)],
  ['failed', (bank: TestBank) => bank.call('POST', `/control/charges/${ID}/fail`)],
] as const) {
  test(`[partner-protocol] the code of a ${state} charge is not payable, even if it was decoded before`, async (t) => {
    const bank = await startBank(t)
    const { pixCode } = (await bank.charge()).body
    const { decodeId } = (await decode(bank, pixCode)).body
    await reach(bank)
    for (const { status, body } of [
      await decode(bank, pixCode),
      await bank.payout(PAYOUT_ID, { valueCents: 15_000, pixCode, decodeId }),
    ]) {
      assert.deepEqual([status, body.errorCode], [422, 'pix_code_not_payable'])
    }
    assert.equal((await bank.call('GET', `/payouts/${PAYOUT_ID}`)).status, 404)
  })
}

test('[partner-protocol] an expired code of this bank or another is not payable', async (t) => {
  const clock = steppedClock()
  const bank = await startBank(t, { clock })
  await bank.behave({ cashOut: 'manual' })
  const { expiresAt } = TERMS
  const own = (await bank.charge()).body.pixCode
  const foreign = (await bank.call('POST', '/control/qr-codes', { valueCents: 15_000, expiresAt })).body.pixCode
  for (const [id, pixCode] of Object.entries({ own, foreign })) {
    clock.nowMs = Date.parse(expiresAt) - 1
    const { decodeId } = (await decode(bank, pixCode)).body
    clock.nowMs += 1
    for (const { status, body } of [
      await decode(bank, pixCode),
      await bank.payout(id, { valueCents: 15_000, pixCode, decodeId }),
    ]) {
      assert.deepEqual([status, body.errorCode], [422, 'pix_code_not_payable'], id)
    }
  }
})

test('[partner-protocol] a code of another bank is paid once; a failed payout of it can be retried', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ cashOut: 'manual' })
  const issued = await bank.call('POST', '/control/qr-codes', { valueCents: 700 })
  assert.equal(issued.status, 201)
  const { pixCode } = issued.body
  const { decodeId, txid, ...asked } = (await decode(bank, pixCode)).body
  assert.match(txid, /^[0-9a-f]{32}$/)
  assert.deepEqual(asked, {
    status: 'ACTIVE',
    valueCents: 700,
    recipient: { name: 'João Pereira', document: '39053344705', pixKey: '123e4567-e89b-12d3-a456-426614174000' },
  })
  const pay = (id: string) => bank.payout(id, { valueCents: 700, pixCode, decodeId })
  assert.equal((await pay('first')).status, 202)
  assert.equal((await pay('second')).body.errorCode, 'pix_code_not_payable')
  await bank.call('POST', '/control/payouts/first/fail')
  assert.equal((await pay('third')).status, 202)
  await bank.call('POST', '/control/payouts/third/confirm')
  await bank.call('POST', '/control/payouts/third/reverse')
  assert.equal((await pay('fourth')).body.errorCode, 'pix_code_not_payable')
  assert.equal((await pay('third')).status, 200)
  assert.deepEqual(await moves(bank), [['PAYOUT_SENT -700', 'PAYOUT_RETURNED +700'], 0])
})

test('[partner-protocol] a code whose amount changes is paid with the new amount', async (t) => {
  const bank = await startBank(t)
  const { pixCode } = (await bank.call('POST', '/control/qr-codes', { valueCents: 700, changesToCents: 731 })).body
  const { decodeId, valueCents } = (await decode(bank, pixCode)).body
  assert.equal(valueCents, 700)
  assert.equal((await bank.payout(PAYOUT_ID, { valueCents, pixCode, decodeId })).body.valueCents, 700)
  assert.equal((await becomes(bank, `/payouts/${PAYOUT_ID}`, 'CONFIRMED')).valueCents, 731)
  assert.deepEqual(await moves(bank), [['PAYOUT_SENT -731'], -731])
})

test('[partner-protocol] an invalid code gets 400; a code without a known payment gets 422', async (t) => {
  const bank = await startBank(t)
  const { pixCode, transactionId } = (await bank.charge()).body
  const withdrawal =
    '00020126630014br.gov.bcb.pix0115thalesog@me.com0210Pedido 1230308123412345204000053039865802BR5914THALES OGLIARI6015SAO MIGUEL DO O62070503***6304901C'
  for (const [code, status, errorCode] of [
    ['00020101021226', 400, 'invalid_request'],
    [pixCode.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')), 400, 'invalid_request'],
    [buildDynamicBrCode({ ...merchant, url: 'nowhere.example/qr/v2/1' }), 422, 'pix_code_not_payable'],
    [buildDynamicBrCode({ ...merchant, url: `nowhere.example/qr/v2/${transactionId}` }), 422, 'pix_code_not_payable'],
    [withdrawal, 422, 'pix_code_not_payable'],
  ] as const) {
    const answer = await decode(bank, code)
    assert.deepEqual([answer.status, answer.body.errorCode], [status, errorCode], code)
  }
})

function decode(bank: TestBank, pixCode: string) {
  return bank.call('POST', '/qr-codes/decode', { pixCode })
}
