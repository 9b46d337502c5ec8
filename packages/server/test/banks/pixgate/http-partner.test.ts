import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createHttpPartner } from '../../../src/banks/pixgate/bank.ts'
import { CHARGE, ID, PAYMENT, REQUEST } from './charges.ts'
import * as payouts from './payouts.ts'
import { QR_CODE } from './qr-codes.ts'
import * as refunds from './refunds.ts'
import { answer, closedPort, linkTo, scriptedBank } from './scripted-bank.ts'

/** A bank that gives each call the next of these answers; `undefined` resets the connection. */
async function partnerOf(t: TestContext, ...answers: ([status: number, body: unknown] | undefined)[]) {
  const bank = await scriptedBank(t, (response) => {
    const next = answers.shift()
    if (next) answer(response, ...next)
    else response.socket?.resetAndDestroy()
  })
  return { ...createHttpPartner(bank.link), received: bank.received }
}

test('[partner.1] a charge is requested under our id, in integer centavos, the same on every attempt', async (t) => {
  const partner = await partnerOf(t, [201, CHARGE], [200, CHARGE])
  assert.equal((await partner.createCharge(ID, REQUEST)).kind, 'ACCEPTED')
  assert.equal((await partner.createCharge(ID, REQUEST)).kind, 'ACCEPTED')
  const [first, second] = partner.received
  assert.deepEqual([first?.method, first?.path], ['PUT', `/charges/${ID}`])
  assert.deepEqual(JSON.parse(first?.body ?? ''), {
    valueCents: 15_000,
    expiresAt: '2026-11-22T13:00:00.123Z',
    description: 'Pedido 1',
    payer: { name: 'Maria da Silva', document: '52998224725' },
    merchant: { pixKey: 'loja@exemplo.com.br', name: 'Loja', city: 'SAO PAULO' },
  })
  assert.equal(first?.body, second?.body)
})

test('[partner.3] optional members are left out', async (t) => {
  const partner = await partnerOf(t, [201, CHARGE])
  const { valueCents, expiresAt, askedAt, merchant } = REQUEST
  await partner.createCharge(ID, { valueCents, expiresAt, askedAt, merchant })
  assert.deepEqual(Object.keys(JSON.parse(partner.received[0]?.body ?? '')).sort(), [
    'expiresAt',
    'merchant',
    'valueCents',
  ])
})

test('[partner.3] the whole range of amounts is transmitted exactly', async (t) => {
  const valueCents = 999_999_999_999n
  const partner = await partnerOf(t, [201, { ...CHARGE, valueCents: Number(valueCents) }])
  const accepted = await partner.createCharge(ID, { ...REQUEST, valueCents })
  assert.equal(accepted.kind === 'ACCEPTED' && accepted.charge.valueCents, valueCents)
})

test('[partner.3] no listener: every call is NOT_SENT', async (t) => {
  const partner = createHttpPartner(linkTo(t, await closedPort()))
  const answers = await Promise.all([
    partner.createCharge(ID, REQUEST),
    partner.getCharge(ID, REQUEST),
    partner.cancelCharge(ID),
    partner.sendPayout(payouts.ID, payouts.REQUEST),
    partner.getPayout(payouts.ID, payouts.REQUEST),
    partner.decodeQrCode('000201'),
    partner.sendRefund(refunds.ID, refunds.REQUEST),
    partner.getRefund(refunds.ID, refunds.REQUEST),
    partner.readStatement({ from: 0, to: 1, cursor: null }),
    partner.readBalance(),
  ])
  for (const { kind } of answers) assert.equal(kind, 'NOT_SENT')
})

for (const [name, known, kind] of [
  ['the charge as asked', [200, { ...CHARGE, payments: [] }], 'ACCEPTED'],
  ['it, paid', [200, { ...CHARGE, status: 'PAID', payments: [PAYMENT] }], 'FINAL'],
  ['another amount', [200, { ...CHARGE, valueCents: 1 }], 'CONTRADICTED'],
  ['nothing', [404, { errorCode: 'not_found' }], 'REJECTED'],
  ['no answer', undefined, 'UNKNOWN'],
] as const) {
  test(`[partner.3] a conflict causes a query first; the bank has ${name}: ${kind}`, async (t) => {
    const partner = await partnerOf(t, [409, { errorCode: 'conflict' }], known && [...known])
    assert.equal((await partner.createCharge(ID, REQUEST)).kind, kind)
    assert.deepEqual(
      partner.received.map(({ method }) => method),
      ['PUT', 'GET'],
    )
  })
}

test('[partner.3] a conflict whose query fails is unknown, not unsent', async (t) => {
  const deadline = new AbortController()
  const bank = await scriptedBank(t, (response) => answer(response, 409, { errorCode: 'conflict' }))
  const link = {
    ...bank.link,
    exchange: async (...call: Parameters<typeof bank.link.exchange>) => {
      const outcome = await bank.link.exchange(...call)
      deadline.abort()
      return outcome
    },
  }
  const unknown = await createHttpPartner(link).createCharge(ID, REQUEST, deadline.signal)
  assert.equal(unknown.kind, 'UNKNOWN')
  assert.equal(bank.received.length, 1)
})

test('[partner.3] a query names our id, and reports how the order ended or that the bank never saw it', async (t) => {
  const ended = [{ ...CHARGE, status: 'PAID', payments: [PAYMENT] }, payouts.CONFIRMED, refunds.CONFIRMED]
  const known = await partnerOf(t, ...ended.map((body): [number, object] => [200, body]))
  const never = await partnerOf(t, ...ended.map((): [number, object] => [404, { errorCode: 'not_found' }]))
  for (const [partner, kind] of [
    [known, 'FINAL'],
    [never, 'NOT_FOUND'],
  ] as const) {
    assert.equal((await partner.getCharge(ID, REQUEST)).kind, kind)
    assert.equal((await partner.getPayout(payouts.ID, payouts.REQUEST)).kind, kind)
    assert.equal((await partner.getRefund(refunds.ID, refunds.REQUEST)).kind, kind)
    assert.deepEqual(
      partner.received.map(({ method, path }) => `${method} ${path}`),
      [`GET /charges/${ID}`, `GET /payouts/${payouts.ID}`, `GET /refunds/${refunds.ID}`],
    )
  }
})

test('[partner.3] [EX-6] a cancelled charge is CANCELLED, one that was paid REJECTED', async (t) => {
  const partner = await partnerOf(t, [200, { status: 'CANCELLED' }], [409, { errorCode: 'already_paid' }])
  assert.deepEqual(await partner.cancelCharge(ID), { kind: 'CANCELLED' })
  assert.equal((await partner.cancelCharge(ID)).kind, 'REJECTED')
  assert.deepEqual([partner.received[0]?.method, partner.received[0]?.path], ['DELETE', `/charges/${ID}`])
})

test('[partner.1] a payout is sent under our id, in integer centavos, the same on every attempt', async (t) => {
  const partner = await partnerOf(t, [202, payouts.PROCESSING], [202, payouts.PROCESSING])
  assert.equal((await partner.sendPayout(payouts.ID, payouts.REQUEST)).kind, 'ACCEPTED')
  assert.equal((await partner.sendPayout(payouts.ID, payouts.REQUEST)).kind, 'ACCEPTED')
  const [first, second] = partner.received
  assert.deepEqual([first?.method, first?.path], ['PUT', `/payouts/${payouts.ID}`])
  assert.deepEqual(JSON.parse(first?.body ?? ''), {
    valueCents: 15_000,
    description: 'Repasse 1',
    recipient: { pixKey: '52998224725', pixKeyType: 'cpf', name: 'Maria da Silva', document: '52998224725' },
  })
  assert.equal(first?.body, second?.body)
})

test('[partner.1] [QR-6] a payout for a QR code carries the code and its decoding, on every attempt', async (t) => {
  const partner = await partnerOf(t, undefined, [202, payouts.PROCESSING])
  assert.equal((await partner.sendPayout(payouts.ID, payouts.QR_CODE_REQUEST)).kind, 'UNKNOWN')
  assert.equal((await partner.sendPayout(payouts.ID, payouts.QR_CODE_REQUEST)).kind, 'ACCEPTED')
  for (const { path, body } of partner.received) {
    assert.equal(path, `/payouts/${payouts.ID}`)
    assert.deepEqual(JSON.parse(body), { valueCents: 15_000, pixCode: '00020101021226', decodeId: 'decode-1' })
  }
  assert.equal(partner.received.length, 2)
})

test('[partner.1] a refund is sent under our id and names the payment', async (t) => {
  const partner = await partnerOf(t, [202, refunds.PROCESSING])
  assert.equal((await partner.sendRefund(refunds.ID, refunds.REQUEST)).kind, 'ACCEPTED')
  const [sent] = partner.received
  assert.deepEqual([sent?.method, sent?.path], ['PUT', `/refunds/${refunds.ID}`])
  assert.deepEqual(JSON.parse(sent?.body ?? ''), {
    endToEndId: 'E9999901020261121131500aB3dE5fG7',
    valueCents: 5_000,
    reason: 'Devolvido',
  })
})

for (const [name, reply, kind] of [
  ['refused', [422, { errorCode: 'invalid_key' }], 'REJECTED'],
  ['no answer', undefined, 'UNKNOWN'],
  [
    'another amount',
    [202, { id: payouts.ID, transactionId: 'b', status: 'PROCESSING', valueCents: 1 }],
    'CONTRADICTED',
  ],
  ['a proxy in between', [502, {}], 'UNKNOWN'],
  ['bad credentials', [401, { errorCode: 'unauthorized' }], 'UNKNOWN'],
  ['too many calls', [429, { errorCode: 'slow_down' }], 'UNKNOWN'],
  ['confirmed without proof', [202, { ...payouts.PROCESSING, status: 'CONFIRMED' }], 'UNKNOWN'],
] as const) {
  test(`[partner.3] [CO-11] [CO-12] [CO-15] a payout is sent, ${name}: ${kind}`, async (t) => {
    const partner = await partnerOf(t, reply && [...reply])
    const answer = await partner.sendPayout(payouts.ID, payouts.REQUEST)
    assert.equal(answer.kind, kind)
    if (answer.kind === 'UNKNOWN') assert.equal(answer.httpStatus, reply?.[0])
    assert.equal(partner.received.length, 1)
  })
}

for (const [name, known, kind] of [
  ['the payout as told', [200, payouts.PROCESSING], 'ACCEPTED'],
  ['it, confirmed', [200, payouts.CONFIRMED], 'FINAL'],
  ['another amount', [200, { ...payouts.CONFIRMED, valueCents: 1 }], 'CONTRADICTED'],
  ['no answer', undefined, 'UNKNOWN'],
] as const) {
  test(`[partner.3] [CO-14] a conflict of a payout causes a query first; the bank has ${name}: ${kind}`, async (t) => {
    const partner = await partnerOf(t, [409, { errorCode: 'conflict' }], known && [...known])
    assert.equal((await partner.sendPayout(payouts.ID, payouts.REQUEST)).kind, kind)
    assert.deepEqual(
      partner.received.map(({ method }) => method),
      ['PUT', 'GET'],
    )
  })
}

test('[CO-14] [P6] a conflict about an id that the bank never saw releases no money', async (t) => {
  const replies = [
    [409, { errorCode: 'conflict' }],
    [404, { errorCode: 'not_found' }],
  ] as [number, object][]
  const partner = await partnerOf(t, ...replies, ...replies)
  const unknown = { kind: 'UNKNOWN', reason: 'a duplicate of an id never seen', httpStatus: 409 }
  assert.deepEqual(await partner.sendPayout(payouts.ID, payouts.REQUEST), unknown)
  assert.deepEqual(await partner.sendRefund(refunds.ID, refunds.REQUEST), unknown)
})

test('[partner.3] a QR code is decoded, in integer centavos and instants', async (t) => {
  const partner = await partnerOf(t, [200, QR_CODE])
  assert.deepEqual(await partner.decodeQrCode('000201'), {
    kind: 'DECODED',
    qrCode: { ...QR_CODE, valueCents: 15_000n, expiresAt: Date.parse(QR_CODE.expiresAt) },
  })
  const [asked] = partner.received
  assert.deepEqual([asked?.method, asked?.path, asked?.body], ['POST', '/qr-codes/decode', '{"pixCode":"000201"}'])
})

test('[partner.3] a QR code may leave the amount to the payer and have no end', async (t) => {
  const { valueCents, expiresAt, ...open } = QR_CODE
  const partner = await partnerOf(t, [200, open])
  assert.deepEqual(await partner.decodeQrCode('000201'), {
    kind: 'DECODED',
    qrCode: { ...open, valueCents: undefined, expiresAt: undefined },
  })
})

for (const [name, reply, kind] of [
  ['not payable', [422, { errorCode: 'not_payable' }], 'REJECTED'],
  ['a 422 of a proxy', [422, '<html>'], 'UNKNOWN'],
  ['a 400', [400, { errorCode: 'invalid_request' }], 'UNKNOWN'],
  ['a 404', [404, { errorCode: 'not_found' }], 'UNKNOWN'],
  ['bad credentials', [401, { errorCode: 'unauthorized' }], 'UNKNOWN'],
  ['a 503', [503, { errorCode: 'busy' }], 'UNKNOWN'],
  ['half an answer', [200, { ...QR_CODE, decodeId: undefined }], 'UNKNOWN'],
  ['a status nobody knows', [200, { ...QR_CODE, status: 'PERHAPS' }], 'UNKNOWN'],
  ['no answer', undefined, 'UNKNOWN'],
] as const) {
  test(`[partner.3] [QR-2] a QR code to decode, ${name}: ${kind}`, async (t) => {
    const partner = await partnerOf(t, reply && [...reply])
    assert.equal((await partner.decodeQrCode('000201')).kind, kind)
  })
}

test('[CO-40] a payout or a refund whose window is over is not sent', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 500, {}))
  const partner = createHttpPartner(bank.link)
  const window = { isOver: () => true }
  assert.equal((await partner.sendPayout(payouts.ID, payouts.REQUEST, window)).kind, 'NOT_SENT')
  assert.equal((await partner.sendRefund(refunds.ID, refunds.REQUEST, window)).kind, 'NOT_SENT')
  assert.deepEqual(bank.received, [])
})

test('[partner.8] a bank whose orders are not idempotent lacks that, and nothing else', async (t) => {
  const link = linkTo(t, await closedPort())
  const { capabilities } = createHttpPartner(link)
  const without = createHttpPartner(link, false).capabilities
  assert.deepEqual([...capabilities].filter((name) => !without.has(name)).sort(), [
    'idempotent-payout',
    'idempotent-refund',
  ])
})
