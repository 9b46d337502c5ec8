import assert from 'node:assert/strict'
import test from 'node:test'
import { ID, startBank, TERMS, WELL_BEHAVED } from './support/bank.ts'
import { steppedClock } from './support/clocks.ts'

test('[sandbox.2] pay returns 202 and the EndToEndId, with or without a body', async (t) => {
  const bank = await startBank(t)
  await bank.charge()
  for (const body of [{}, undefined, '']) {
    const answer = await bank.call('POST', `/control/charges/${ID}/pay`, body)
    assert.equal(answer.status, 202, JSON.stringify(answer.body))
    assert.equal(answer.body.accepted, true)
    assert.match(answer.body.endToEndId, /^E99999010\d{12}[0-9A-Za-z]{11}$/)
  }
})

test('[sandbox.2] pay accepts an amount, a payer and a time', async (t) => {
  const bank = await startBank(t, { clock: steppedClock() })
  await bank.charge()
  const order = { valueCents: 1, payerName: 'Outra Pessoa', occurredAt: '2026-11-20T23:59:00-03:00' }
  const { endToEndId } = (await bank.call('POST', `/control/charges/${ID}/pay`, order)).body
  assert.ok(endToEndId.startsWith('E99999010202611210259'), endToEndId)
  const [payment] = (await bank.call('GET', `/charges/${ID}`)).body.payments
  assert.deepEqual(payment, {
    endToEndId,
    valueCents: 1,
    occurredAt: '2026-11-21T02:59:00.000Z',
    payer: { name: 'Outra Pessoa', document: '11144477735', ispb: '99999010' },
    returns: [],
  })
})

test('[sandbox.2] a charge without a payer is paid by the default payer', async (t) => {
  const bank = await startBank(t)
  const { payer: _, ...terms } = TERMS
  await bank.charge(ID, terms)
  await bank.call('POST', `/control/charges/${ID}/pay`)
  const [{ payer }] = (await bank.call('GET', `/charges/${ID}`)).body.payments
  assert.deepEqual(payer, { name: 'Maria da Silva', document: '52998224725', ispb: '99999010' })
})

test('[sandbox.2] an expired charge can be paid', async (t) => {
  const clock = steppedClock()
  const bank = await startBank(t, { clock })
  await bank.charge()
  clock.nowMs = Date.parse(TERMS.expiresAt) + 1
  assert.equal((await bank.call('POST', `/control/charges/${ID}/pay`)).status, 202)
  assert.equal((await bank.call('GET', `/charges/${ID}`)).body.status, 'PAID')
})

test('[sandbox.2] a cancelled charge can be paid, as if the money was already sent', async (t) => {
  const bank = await startBank(t)
  await bank.charge()
  await bank.call('DELETE', `/charges/${ID}`)
  assert.equal((await bank.call('POST', `/control/charges/${ID}/pay`)).status, 202)
  assert.equal((await bank.call('GET', `/charges/${ID}`)).body.status, 'PAID')
})

test('[sandbox.2] a paid charge can be paid again; each payment has its own EndToEndId', async (t) => {
  const bank = await startBank(t)
  await bank.charge()
  const first = await bank.call('POST', `/control/charges/${ID}/pay`)
  const second = await bank.call('POST', `/control/charges/${ID}/pay`)
  assert.notEqual(first.body.endToEndId, second.body.endToEndId)
  const { payments } = (await bank.call('GET', `/charges/${ID}`)).body
  assert.deepEqual(
    payments.map(({ endToEndId }: { endToEndId: string }) => endToEndId),
    [first.body.endToEndId, second.body.endToEndId],
  )
})

test('[sandbox.3] fail returns 202; a failed charge cannot be paid', async (t) => {
  const bank = await startBank(t)
  await bank.charge()
  assert.deepEqual(await bank.call('POST', `/control/charges/${ID}/fail`), { status: 202, body: { accepted: true } })
  assert.equal((await bank.call('GET', `/charges/${ID}`)).body.status, 'FAILED')
  const { status, body } = await bank.call('POST', `/control/charges/${ID}/pay`)
  assert.deepEqual([status, body.errorCode], [409, 'not_possible'])
})

for (const [before, method, path] of [
  ['paid', 'POST', `/control/charges/${ID}/pay`],
  ['cancelled', 'DELETE', `/charges/${ID}`],
  ['failed', 'POST', `/control/charges/${ID}/fail`],
] as const) {
  test(`[sandbox.3] a ${before} charge cannot be failed`, async (t) => {
    const bank = await startBank(t)
    await bank.charge()
    await bank.call(method, path)
    const { status, body } = await bank.call('POST', `/control/charges/${ID}/fail`)
    assert.deepEqual([status, body.errorCode], [409, 'not_possible'])
  })
}

test('[sandbox.1] an unknown charge gets 404', async (t) => {
  const bank = await startBank(t)
  for (const action of ['pay', 'fail']) {
    const { status, body } = await bank.call('POST', `/control/charges/${ID}/${action}`)
    assert.deepEqual([status, body.errorCode], [404, 'not_found'])
  }
})

test('[sandbox.13] a debit without an order of the service leaves the account permanently', async (t) => {
  const bank = await startBank(t)
  for (const body of [{}, { valueCents: 0 }, { valueCents: 5, more: 1 }]) {
    assert.equal((await bank.call('POST', '/control/debits', body)).status, 400, JSON.stringify(body))
  }
  const { status, body } = await bank.call('POST', '/control/debits', { valueCents: 4_000 })
  assert.equal(status, 202)
  await bank.stop()
  const again = await startBank(t, { dataDirectory: bank.directory })
  assert.equal((await again.call('GET', '/balance')).body.availableCents, -4_000)
  const { entries } = (await again.call('GET', '/statement')).body
  assert.partialDeepStrictEqual(entries, [
    { kind: 'PAYOUT_SENT', sign: '-', ...{ endToEndId: body.endToEndId, valueCents: 4_000 } },
  ])
})

test('[sandbox.6] changing the behaviour changes only the given fields', async (t) => {
  const bank = await startBank(t)
  assert.deepEqual(await bank.call('GET', '/control/behavior'), { status: 200, body: WELL_BEHAVED })
  await bank.call('PUT', '/control/behavior', { cashOut: 'manual', eventCopies: 5 })
  const changed = { ...WELL_BEHAVED, cashOut: 'manual', eventCopies: 5, refundIn: 'fail' }
  assert.deepEqual(await bank.call('PUT', '/control/behavior', { refundIn: 'fail' }), { status: 200, body: changed })
  assert.deepEqual(await bank.call('GET', '/control/behavior'), { status: 200, body: changed })
})

test('[sandbox.5] a restart resets the behaviour', async (t) => {
  const bank = await startBank(t)
  await bank.call('PUT', '/control/behavior', { cashIn: 'reject' })
  await bank.stop()
  const again = await startBank(t, { dataDirectory: bank.directory })
  assert.deepEqual((await again.call('GET', '/control/behavior')).body, WELL_BEHAVED)
})

test('[sandbox.6] an unknown field or value of the behaviour gets 400 and changes nothing', async (t) => {
  const bank = await startBank(t)
  for (const change of [
    { cashin: 'reject' },
    { cashIn: 'manual' },
    { cashOut: 'answer' },
    { latencyMs: '5' },
    { latencyMs: -1 },
    { eventCopies: 0 },
    { eventCopies: 6 },
    { eventsShuffled: 1 },
    { cashIn: 'reject', unknown: true },
    [],
  ]) {
    const { status, body } = await bank.call('PUT', '/control/behavior', change)
    assert.deepEqual([status, body.errorCode], [400, 'invalid_request'], JSON.stringify(change))
  }
  assert.deepEqual((await bank.call('GET', '/control/behavior')).body, WELL_BEHAVED)
})
