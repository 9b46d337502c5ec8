import assert from 'node:assert/strict'
import test from 'node:test'
import { isEndToEndId, isReturnId } from '@pixgate/brcode'
import { becomes, moves, PAYOUT, PAYOUT_ID, settledEvents, startBank } from './support/bank.ts'
import { steppedClock } from './support/clocks.ts'
import { startService } from './support/receiving-gateway.ts'

const path = `/payouts/${PAYOUT_ID}`
const control = `/control${path}`
const recipient = { name: 'Ana Lima', document: '93541134780', ispb: '99999028' }
const paidTo = { ...recipient, pixKey: PAYOUT.recipient.pixKey }

test('[partner-protocol] a payout returns 202 with the requested order and moves no money yet', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ cashOut: 'manual' })
  const { status, body } = await bank.payout()
  assert.equal(status, 202)
  const { transactionId, ...echo } = body
  assert.match(transactionId, /^[0-9a-f]{32}$/)
  assert.deepEqual(echo, { id: PAYOUT_ID, status: 'PROCESSING', valueCents: 4_000, recipient: paidTo, returns: [] })
  assert.deepEqual((await bank.call('GET', path)).body, body)
  assert.deepEqual(await moves(bank), [[], 0])
})

test('[partner-protocol] a confirmed payout is debited and reported by an event', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: service.url, clock: steppedClock() })
  await bank.behave({ cashOut: 'manual' })
  const { transactionId } = (await bank.payout()).body
  const { status, body } = await bank.call('POST', `${control}/confirm`)
  const { endToEndId } = body
  assert.deepEqual([status, body], [202, { accepted: true, endToEndId }])
  assert.ok(isEndToEndId(endToEndId))
  assert.ok(endToEndId.startsWith('E99999001202611211315'), endToEndId)
  const occurredAt = '2026-11-21T13:15:30.000Z'
  const moved = { endToEndId, valueCents: 4_000, occurredAt }
  assert.deepEqual((await bank.call('GET', path)).body, {
    id: PAYOUT_ID,
    transactionId,
    status: 'CONFIRMED',
    ...moved,
    recipient: paidTo,
    returns: [],
  })
  const { entries, closingCents } = (await bank.call('GET', '/statement')).body
  assert.deepEqual(entries, [{ kind: 'PAYOUT_SENT', sign: '-', reference: PAYOUT_ID, ...moved }])
  assert.equal(closingCents, -4_000)
  const [arrival] = await service.arrived(1)
  assert.equal(arrival?.path, '/api/webhooks/pix/cash-out')
  const { eventId: _, ...event } = arrival.event
  const named = { event: 'CashOut', transactionId, externalId: PAYOUT_ID }
  assert.deepEqual(event, { ...named, status: 'CONFIRMED', ...moved, recipient })
})

test('[partner-protocol] a failed payout moves no money, and an event reports the reason', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: service.url, clock: steppedClock() })
  await bank.behave({ cashOut: 'manual' })
  const { transactionId } = (await bank.payout()).body
  assert.deepEqual(await bank.call('POST', `${control}/fail`), { status: 202, body: { accepted: true } })
  const failure = { errorCode: 'AC07', errorMessage: 'the account of the recipient is closed' }
  const known = { id: PAYOUT_ID, transactionId, status: 'FAILED', valueCents: 4_000, recipient: paidTo, returns: [] }
  assert.deepEqual((await bank.call('GET', path)).body, { ...known, ...failure })
  assert.deepEqual(await moves(bank), [[], 0])
  const [arrival] = await service.arrived(1)
  assert.equal(arrival?.path, '/api/webhooks/pix/cash-out')
  const { eventId: _, ...event } = arrival.event
  assert.deepEqual(event, {
    event: 'CashOut',
    transactionId,
    externalId: PAYOUT_ID,
    status: 'FAILED',
    endToEndId: null,
    valueCents: 4_000,
    ...failure,
    occurredAt: '2026-11-21T13:15:30.000Z',
  })
})

test('[partner-protocol] a payout is returned in parts, each with its own ReturnId and event', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: service.url, clock: steppedClock() })
  await bank.behave({ cashOut: 'manual' })
  const { transactionId } = (await bank.payout()).body
  const { endToEndId } = (await bank.call('POST', `${control}/confirm`)).body
  const first = await bank.call('POST', `${control}/reverse`, { valueCents: 1_500 })
  assert.deepEqual([first.status, first.body.accepted], [202, true])
  assert.equal((await bank.call('GET', path)).body.status, 'CONFIRMED')
  assert.equal((await bank.call('POST', `${control}/reverse`, { valueCents: 2_501 })).status, 409)
  const second = await bank.call('POST', `${control}/reverse`)
  assert.equal((await bank.call('POST', `${control}/reverse`)).status, 409)

  const { status, returns } = (await bank.call('GET', path)).body
  const occurredAt = '2026-11-21T13:15:30.000Z'
  const expected = [
    { returnId: first.body.returnId, valueCents: 1_500, occurredAt },
    { returnId: second.body.returnId, valueCents: 2_500, occurredAt },
  ]
  assert.deepEqual([status, returns], ['RETURNED', expected])
  for (const { returnId } of expected) assert.ok(isReturnId(returnId))
  assert.notEqual(first.body.returnId, second.body.returnId)
  assert.deepEqual(await moves(bank), [['PAYOUT_SENT -4000', 'PAYOUT_RETURNED +1500', 'PAYOUT_RETURNED +2500'], 0])

  const [, ...reversals] = await settledEvents(bank)
  const common = { event: 'CashOutReversal', transactionId, externalId: PAYOUT_ID, status: 'CONFIRMED', endToEndId }
  assert.deepEqual(
    reversals.map(({ eventId: _, ...event }) => event),
    expected.map((returned) => ({ ...common, ...returned })),
  )
  assert.ok(service.received.every(({ path }) => path === '/api/webhooks/pix/cash-out'))
})

test('[partner-protocol] on request, the bank confirms another amount, charges a fee or confirms a failed payout', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: service.url })
  await bank.behave({ cashOut: 'manual' })
  await bank.payout()
  await bank.call('POST', `${control}/confirm`, { valueCents: 4_001, feeCents: 120 })
  const { valueCents, feeCents } = (await bank.call('GET', path)).body
  assert.deepEqual([valueCents, feeCents], [4_001, 120])

  await bank.payout('failed')
  await bank.call('POST', '/control/payouts/failed/fail')
  assert.equal((await bank.call('POST', '/control/payouts/failed/confirm')).status, 409)
  assert.equal((await bank.call('POST', '/control/payouts/failed/confirm', { despiteFailure: true })).status, 202)
  const late = (await bank.call('GET', '/payouts/failed')).body
  assert.deepEqual([late.status, late.errorCode], ['CONFIRMED', undefined])
  assert.equal((await bank.call('POST', '/control/payouts/failed/confirm', { despiteFailure: true })).status, 409)

  assert.deepEqual(await moves(bank), [['PAYOUT_SENT -4001', 'TARIFF -120', 'PAYOUT_SENT -4000'], -8_121])
  const [confirmed] = await settledEvents(bank)
  assert.deepEqual([confirmed.valueCents, confirmed.feeCents], [4_001, 120])
})

test('[partner-protocol] the sandbox actions get 404 for an unknown payout and 409 for a settled one', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ cashOut: 'manual' })
  const refusal = async (action: string) => {
    const { status, body } = await bank.call('POST', `${control}/${action}`)
    return [status, body.errorCode]
  }
  for (const action of ['confirm', 'fail', 'reverse']) assert.deepEqual(await refusal(action), [404, 'not_found'])
  await bank.payout()
  assert.deepEqual(await refusal('reverse'), [409, 'not_possible'])
  await bank.call('POST', `${control}/confirm`)
  for (const action of ['confirm', 'fail']) assert.deepEqual(await refusal(action), [409, 'not_possible'])
  await bank.payout('failed')
  await bank.call('POST', '/control/payouts/failed/fail')
  for (const action of ['confirm', 'fail', 'reverse']) {
    assert.equal((await bank.call('POST', `/control/payouts/failed/${action}`)).status, 409, action)
  }
  assert.deepEqual(await moves(bank), [['PAYOUT_SENT -4000'], -4_000])
})

test('[partner-protocol] a key that is a CPF or CNPJ is its holder’s document; other keys have the default recipient', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ cashOut: 'manual' })
  const holderOf = async (key: string, pixKeyType: string) => {
    const { recipient } = (await bank.payout(key, { valueCents: 1, recipient: { pixKey: key, pixKeyType } })).body
    const { pixKey, ...holder } = recipient
    assert.equal(pixKey, key)
    return holder
  }
  const somebody = { name: 'João Pereira', document: '39053344705', ispb: '99999028' }
  assert.deepEqual(await holderOf('52998224725', 'cpf'), { ...somebody, document: '52998224725' })
  assert.deepEqual(await holderOf('12ABC34501DE35', 'cnpj'), { ...somebody, document: '12ABC34501DE35' })
  assert.deepEqual(await holderOf('+5511987654321', 'phone'), somebody)
})

test('[partner.1] a repeated order returns the same payout in any status; another body is a conflict', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ cashOut: 'manual' })
  const answers = await Promise.all(Array.from({ length: 50 }, () => bank.payout()))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]))
  assert.equal(new Set(answers.map(({ body }) => body.transactionId)).size, 1)
  for (const change of [
    { valueCents: 4_001 },
    { description: undefined },
    { recipient: { ...PAYOUT.recipient, name: 'X' } },
  ]) {
    const { status, body } = await bank.payout(PAYOUT_ID, { ...PAYOUT, ...change })
    assert.deepEqual([status, body.errorCode], [409, 'conflict'])
  }
  await bank.call('POST', `${control}/confirm`)
  await bank.behave({ cashOut: 'reject' })
  const known = (await bank.call('GET', path)).body
  assert.deepEqual(await bank.payout(), { status: 200, body: known })
  assert.deepEqual(await moves(bank), [['PAYOUT_SENT -4000'], -4_000])
})

const faults: [fault: string, body: unknown][] = [
  ['an amount of zero', { ...PAYOUT, valueCents: 0 }],
  ['an amount as text', { ...PAYOUT, valueCents: '4000' }],
  ['no recipient', { valueCents: 1 }],
  ['an unknown type of key', { valueCents: 1, recipient: { pixKey: 'a', pixKeyType: 'account' } }],
  ['both a key and a code', { ...PAYOUT, pixCode: '000201', decodeId: '1' }],
  ['a code that was not decoded', { valueCents: 1, pixCode: '000201' }],
  ['an unknown field', { ...PAYOUT, currency: 'BRL' }],
]
for (const [fault, body] of faults) {
  test(`[partner-protocol] a payout with ${fault} gets 400 and is not created`, async (t) => {
    const bank = await startBank(t)
    const refusal = await bank.payout(PAYOUT_ID, body as object)
    assert.deepEqual([refusal.status, refusal.body.errorCode], [400, 'invalid_request'])
    const { status, body: unknown } = await bank.call('GET', path)
    assert.deepEqual([status, unknown.errorCode], [404, 'not_found'])
  })
}

test('[sandbox.5] a payout is confirmed automatically within a second under auto and fails under fail, each once', async (t) => {
  const service = await startService(t)
  const clock = steppedClock()
  const bank = await startBank(t, { eventsUrl: service.url, clock })
  const since = clock.nowMs
  await Promise.all([bank.payout(), bank.payout()])
  assert.ok(isEndToEndId((await becomes(bank, path, 'CONFIRMED')).endToEndId))
  assert.ok(clock.nowMs - since < 1_000)
  await bank.behave({ cashOut: 'fail' })
  await bank.payout('failing')
  assert.equal((await becomes(bank, '/payouts/failing', 'FAILED')).errorCode, 'AC07')
  await settledEvents(bank)
  assert.deepEqual(
    service.received.map(({ event }) => [event.externalId, event.status]),
    [
      [PAYOUT_ID, 'CONFIRMED'],
      ['failing', 'FAILED'],
    ],
  )
  assert.deepEqual(await moves(bank), [['PAYOUT_SENT -4000'], -4_000])
})

test('[sandbox.5] reject: a payout is refused and not created', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ cashOut: 'reject' })
  const { status, body } = await bank.payout()
  assert.deepEqual([status, body.errorCode], [422, 'payout_refused'])
  assert.equal((await bank.call('GET', path)).status, 404)
})

test('[sandbox.5] lost-response: the payout is executed and the connection closes', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ cashOut: 'lost-response' })
  await assert.rejects(bank.payout(), TypeError)
  await becomes(bank, path, 'CONFIRMED')
  assert.deepEqual(await moves(bank), [['PAYOUT_SENT -4000'], -4_000])
})

test('[sandbox.5] timeout: the payout is not executed and gets no response', async (t) => {
  const bank = await startBank(t)
  await bank.behave({ cashOut: 'timeout' })
  const silence = assert.rejects(bank.payout(), TypeError)
  for (let asked = 0; asked < 20; asked++) assert.equal((await bank.call('GET', path)).status, 404)
  await bank.stop()
  await silence
})
