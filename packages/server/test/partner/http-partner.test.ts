import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createHttpPartner } from '../../src/partner/http-partner.ts'
import { CHARGE, ID, PAYMENT, REQUEST } from './charges.ts'
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

test('[partner.1] a charge is asked for under our id, in integer centavos, the same on every attempt', async (t) => {
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

test('[partner.3] what is optional is left out where it was not given', async (t) => {
  const partner = await partnerOf(t, [201, CHARGE])
  const { valueCents, expiresAt, merchant } = REQUEST
  await partner.createCharge(ID, { valueCents, expiresAt, merchant })
  assert.deepEqual(Object.keys(JSON.parse(partner.received[0]?.body ?? '')).sort(), [
    'expiresAt',
    'merchant',
    'valueCents',
  ])
})

test('[partner.3] the whole range of amounts survives the journey', async (t) => {
  const valueCents = 999_999_999_999n
  const partner = await partnerOf(t, [201, { ...CHARGE, valueCents: Number(valueCents) }])
  const accepted = await partner.createCharge(ID, { ...REQUEST, valueCents })
  assert.equal(accepted.kind === 'ACCEPTED' && accepted.charge.valueCents, valueCents)
})

for (const [name, reply, kind] of [
  ['refused', [422, { errorCode: 'invalid_key' }], 'REJECTED'],
  ['no answer', undefined, 'UNKNOWN'],
  ['another amount', [201, { ...CHARGE, valueCents: 1 }], 'CONTRADICTED'],
  ['bad credentials', [401, {}], 'UNKNOWN'],
] as const) {
  test(`[partner.3] create, ${name}: ${kind}`, async (t) => {
    const partner = await partnerOf(t, reply && [...reply])
    assert.equal((await partner.createCharge(ID, REQUEST)).kind, kind)
    assert.equal(partner.received.length, 1)
  })
}

test('[partner.3] nobody listens: every call is NOT_SENT', async (t) => {
  const partner = createHttpPartner(linkTo(t, await closedPort()))
  const answers = [partner.createCharge(ID, REQUEST), partner.getCharge(ID, REQUEST), partner.cancelCharge(ID)] as const
  for (const { kind } of await Promise.all(answers)) assert.equal(kind, 'NOT_SENT')
})

for (const [name, known, kind] of [
  ['the charge as asked', [200, { ...CHARGE, payments: [] }], 'ACCEPTED'],
  ['it, paid', [200, { ...CHARGE, status: 'PAID', payments: [PAYMENT] }], 'FINAL'],
  ['another amount', [200, { ...CHARGE, valueCents: 1 }], 'CONTRADICTED'],
  ['nothing', [404, { errorCode: 'not_found' }], 'REJECTED'],
  ['no answer', undefined, 'UNKNOWN'],
] as const) {
  test(`[partner.3] a conflict is asked about first; the bank has ${name}: ${kind}`, async (t) => {
    const partner = await partnerOf(t, [409, { errorCode: 'conflict' }], known && [...known])
    assert.equal((await partner.createCharge(ID, REQUEST)).kind, kind)
    assert.deepEqual(
      partner.received.map(({ method }) => method),
      ['PUT', 'GET'],
    )
  })
}

test('[partner.3] a conflict that could not be asked about is unknown, not unsent', async (t) => {
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

test('[partner.3] a query tells the payments, or that the bank never saw the id', async (t) => {
  const partner = await partnerOf(
    t,
    [200, { ...CHARGE, status: 'PAID', payments: [PAYMENT] }],
    [404, { errorCode: 'not_found' }],
  )
  const paid = await partner.getCharge(ID, REQUEST)
  assert.equal(paid.kind === 'FINAL' && paid.charge.payments[0]?.endToEndId, PAYMENT.endToEndId)
  assert.deepEqual(await partner.getCharge(ID, REQUEST), { kind: 'NOT_FOUND' })
  assert.deepEqual([partner.received[0]?.method, partner.received[0]?.path], ['GET', `/charges/${ID}`])
})

test('[partner.3] [EX-6] a cancelled charge is CANCELLED, one that was paid REJECTED', async (t) => {
  const partner = await partnerOf(t, [200, { status: 'CANCELLED' }], [409, { errorCode: 'already_paid' }])
  assert.deepEqual(await partner.cancelCharge(ID), { kind: 'CANCELLED' })
  assert.equal((await partner.cancelCharge(ID)).kind, 'REJECTED')
  assert.deepEqual([partner.received[0]?.method, partner.received[0]?.path], ['DELETE', `/charges/${ID}`])
})
