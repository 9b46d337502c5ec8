import assert from 'node:assert/strict'
import test from 'node:test'
import { isEndToEndId, parseBrCode } from '@pixgate/brcode'
import { ID, NOBODY, startBank, TERMS, TOKEN } from './support/bank.ts'
import { steppedClock } from './support/clocks.ts'

test('[partner-protocol] a request without the token or with a wrong one gets 401', async (t) => {
  const bank = await startBank(t)
  for (const authorization of [undefined, 'Bearer another', TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN}x`]) {
    for (const path of ['/charges/1', '/balance', '/control/book', '/nowhere']) {
      const { status } = await fetch(bank.url + path, { headers: authorization ? { authorization } : {} })
      assert.equal(status, 401, `${authorization} ${path}`)
    }
  }
})

test('[partner-protocol] creating a charge returns 201 and the requested terms', async (t) => {
  const bank = await startBank(t, { clock: steppedClock() })
  const { status, body } = await bank.charge()
  assert.equal(status, 201)
  const { transactionId, pixCode, createdAt, ...echo } = body
  assert.match(createdAt, /^2026-11-21T/)
  assert.deepEqual(echo, { id: ID, status: 'ACTIVE', valueCents: 15_000, expiresAt: TERMS.expiresAt })
  assert.match(transactionId, /^[0-9a-f]{32}$/)
})

test('[partner-protocol] the Pix code is a dynamic BR Code of the merchant', async (t) => {
  const { body } = await (await startBank(t)).charge()
  const code = parseBrCode(body.pixCode)
  assert.ok(code.kind === 'dynamic')
  assert.equal(code.url, `bank.example/qr/v2/${body.transactionId}`)
  assert.deepEqual([code.merchantName, code.merchantCity], ['Loja Exemplo', 'Sao Paulo'])
})

test('[partner.1] a repeated request, with its keys in any order, returns 200 and the same charge', async (t) => {
  const bank = await startBank(t, { clock: steppedClock() })
  const first = await bank.charge()
  const again = await bank.charge(ID, Object.fromEntries(Object.entries(TERMS).reverse()))
  assert.deepEqual(again, { status: 200, body: first.body })
})

test('[partner.1] the same id with another body is a conflict and changes nothing', async (t) => {
  const bank = await startBank(t, { clock: steppedClock() })
  const { body: charge } = await bank.charge()
  for (const change of [{ valueCents: 15_001 }, { description: 'Pedido 2' }, { payer: undefined }]) {
    const { status, body } = await bank.charge(ID, { ...TERMS, ...change })
    assert.deepEqual([status, body.errorCode], [409, 'conflict'])
  }
  assert.deepEqual((await bank.call('GET', `/charges/${ID}`)).body, { ...charge, payments: [] })
})

test('[partner.1] a hundred concurrent equal requests create one charge', async (t) => {
  const bank = await startBank(t)
  const answers = await Promise.all(Array.from({ length: 100 }, () => bank.charge()))
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  assert.equal(new Set(answers.map(({ body }) => body.pixCode)).size, 1)
})

const faults: [fault: string, body: unknown][] = [
  ['a body that is not JSON', '{'],
  ['a body that is not an object', '[]'],
  ['a missing field', { ...TERMS, merchant: undefined }],
  ['an unknown field', { ...TERMS, currency: 'BRL' }],
  ['an amount as text', { ...TERMS, valueCents: '15000' }],
  ['half a centavo', { ...TERMS, valueCents: 0.5 }],
  ['an amount of zero', { ...TERMS, valueCents: 0 }],
  ['an invalid date-time', { ...TERMS, expiresAt: 'tomorrow' }],
  ['a leap second', { ...TERMS, expiresAt: '2026-12-31T23:59:60Z' }],
  ['a merchant name without letters', { ...TERMS, merchant: { ...TERMS.merchant, name: '☕' } }],
]
for (const [fault, body] of faults) {
  test(`[partner-protocol] a charge with ${fault} gets 400 and is not created`, async (t) => {
    const bank = await startBank(t)
    const refusal = await bank.call('PUT', `/charges/${ID}`, body)
    assert.deepEqual([refusal.status, refusal.body.errorCode], [400, 'invalid_request'])
    assert.equal(typeof refusal.body.errorMessage, 'string')
    assert.equal((await bank.call('GET', `/charges/${ID}`)).status, 404)
  })
}

test('[partner-protocol] an unknown charge or path gets 404', async (t) => {
  const bank = await startBank(t)
  for (const [method, path] of [
    ['GET', `/charges/${ID}`],
    ['DELETE', `/charges/${ID}`],
    ['GET', '/nowhere'],
  ] as const) {
    const { status, body } = await bank.call(method, path)
    assert.deepEqual([status, body.errorCode], [404, 'not_found'], path)
  }
})

test('[partner-protocol] an id can have 128 characters and characters that need percent-encoding', async (t) => {
  const bank = await startBank(t)
  const id = encodeURIComponent('á/?#%'.padEnd(128, ' '))
  assert.equal((await bank.charge(id)).status, 201)
  assert.equal((await bank.call('GET', `/charges/${id}`)).status, 200)
})

test('[partner-protocol] an active charge is EXPIRED after its expiry time', async (t) => {
  const clock = steppedClock()
  const bank = await startBank(t, { clock })
  await bank.charge()
  const status = async () => (await bank.call('GET', `/charges/${ID}`)).body.status
  clock.nowMs = Date.parse(TERMS.expiresAt) - 1
  assert.equal(await status(), 'ACTIVE')
  clock.nowMs += 1
  assert.equal(await status(), 'EXPIRED')
})

test('[partner-protocol] cancelling a charge is idempotent and works after expiry', async (t) => {
  const clock = steppedClock()
  const bank = await startBank(t, { clock })
  await bank.charge()
  clock.nowMs = Date.parse(TERMS.expiresAt)
  for (let times = 0; times < 2; times++) {
    assert.deepEqual(await bank.call('DELETE', `/charges/${ID}`), { status: 200, body: { status: 'CANCELLED' } })
  }
  assert.equal((await bank.call('GET', `/charges/${ID}`)).body.status, 'CANCELLED')
})

test('[partner-protocol] cancelling a paid charge gets 409 with its payment', async (t) => {
  const bank = await startBank(t)
  await bank.charge()
  const { endToEndId } = (await bank.call('POST', `/control/charges/${ID}/pay`, {})).body
  const { status, body } = await bank.call('DELETE', `/charges/${ID}`)
  assert.deepEqual([status, body.errorCode, body.status], [409, 'already_paid', 'PAID'])
  assert.equal(body.payments[0].endToEndId, endToEndId)
})

test('[partner-protocol] a failed charge cannot be cancelled', async (t) => {
  const bank = await startBank(t)
  await bank.charge()
  await bank.call('POST', `/control/charges/${ID}/fail`)
  const { status, body } = await bank.call('DELETE', `/charges/${ID}`)
  assert.deepEqual([status, body.errorCode], [409, 'not_possible'])
})

test('[partner-protocol] a query reports the payment', async (t) => {
  const bank = await startBank(t, { clock: steppedClock() })
  await bank.charge()
  await bank.call('POST', `/control/charges/${ID}/pay`, { payerName: 'Maria' })
  const { body } = await bank.call('GET', `/charges/${ID}`)
  assert.equal(body.status, 'PAID')
  const [{ endToEndId, ...payment }] = body.payments
  assert.ok(isEndToEndId(endToEndId))
  assert.ok(endToEndId.startsWith('E99999010202611211315'), endToEndId)
  assert.deepEqual(payment, {
    valueCents: 15_000,
    occurredAt: '2026-11-21T13:15:30.000Z',
    payer: { name: 'Maria', document: '11144477735', ispb: '99999010' },
    returns: [],
  })
})

test('[partner-protocol] a query reports the returns of each payment and their origin', async (t) => {
  const bank = await startBank(t, { clock: steppedClock() })
  await bank.charge()
  const { endToEndId } = (await bank.call('POST', `/control/charges/${ID}/pay`, {})).body
  const { body: refund } = await bank.refund(endToEndId, 4_000)
  await bank.call('POST', `/control/refunds/${refund.id}/confirm`)
  const { returnId } = (await bank.call('POST', `/control/charges/${ID}/return`, { valueCents: 1_000 })).body
  await bank.call('POST', `/control/charges/${ID}/pay`, {})
  const confirmed = (await bank.call('GET', `/refunds/${refund.id}`)).body
  const [payment, another] = (await bank.call('GET', `/charges/${ID}`)).body.payments
  const [first, { transactionId, ...second }] = payment.returns
  const { transactionId: reference, returnId: refundReturnId, occurredAt } = confirmed
  assert.equal(typeof second.occurredAt, 'string')
  assert.deepEqual(first, {
    returnId: refundReturnId,
    transactionId: reference,
    valueCents: 4_000,
    occurredAt,
    origin: 'MERCHANT',
  })
  assert.deepEqual({ ...second, occurredAt }, { returnId, valueCents: 1_000, occurredAt, origin: 'BANK' })
  assert.notEqual(transactionId, reference)
  assert.deepEqual(another.returns, [])
})

test('[partner-protocol] the balance is the sum of the payments and has a timestamp', async (t) => {
  const clock = steppedClock()
  const bank = await startBank(t, { clock })
  const balance = async () => {
    const before = clock.now()
    const { availableCents, asOf } = (await bank.call('GET', '/balance')).body
    assert.ok(before <= Date.parse(asOf) && Date.parse(asOf) <= clock.now(), asOf)
    return availableCents
  }
  assert.equal(await balance(), 0)
  await bank.charge()
  await bank.call('POST', `/control/charges/${ID}/pay`, {})
  await bank.call('POST', `/control/charges/${ID}/pay`, { valueCents: 1 })
  assert.equal(await balance(), 15_001)
})

test('[partner-protocol] the statement has the entries booked in a window', async (t) => {
  const clock = steppedClock()
  const bank = await startBank(t, { clock })
  await bank.charge()
  const days = ['2026-11-20', '2026-11-21', '2026-11-22']
  const endToEndIds: string[] = []
  for (const [index, day] of days.entries()) {
    clock.nowMs = Date.parse(`${day}T12:00:00Z`)
    const order = { valueCents: 10 ** index, occurredAt: '2026-11-19T09:00:00-03:00' }
    endToEndIds.push((await bank.call('POST', `/control/charges/${ID}/pay`, order)).body.endToEndId)
  }
  const { body } = await bank.call('GET', '/statement?from=2026-11-21T00:00:00Z&to=2026-11-22T12:00:00Z')
  assert.deepEqual(body, {
    entries: [
      {
        kind: 'PAYMENT_RECEIVED',
        endToEndId: endToEndIds[1],
        reference: ID,
        valueCents: 10,
        sign: '+',
        occurredAt: '2026-11-19T12:00:00.000Z',
      },
    ],
    openingCents: 1,
    closingCents: 11,
    nextCursor: null,
  })
  const whole = (await bank.call('GET', '/statement')).body
  assert.deepEqual([whole.openingCents, whole.closingCents, whole.entries.length], [0, 111, 3])
})

test('[partner-protocol] reading the statement by cursor returns each entry once', async (t) => {
  const bank = await startBank(t)
  await bank.charge()
  const pay = () => bank.call('POST', `/control/charges/${ID}/pay`, {})
  const paid = await Promise.all(Array.from({ length: 205 }, pay))
  const seen: string[] = []
  for (let cursor: string | null = '0'; cursor !== null; ) {
    const { body } = await bank.call('GET', `/statement?cursor=${cursor}`)
    seen.push(...body.entries.map(({ endToEndId }: { endToEndId: string }) => endToEndId))
    cursor = body.nextCursor
  }
  assert.equal(seen.length, 205)
  assert.deepEqual(new Set(seen), new Set(paid.map(({ body }) => body.endToEndId)))
})

test('[partner-protocol] a statement with an invalid window gets 400', async (t) => {
  const bank = await startBank(t)
  for (const query of ['from=today', 'cursor=x', 'since=2026-11-21T00:00:00Z', 'cursor=1&cursor=2']) {
    assert.equal((await bank.call('GET', `/statement?${query}`)).status, 400, query)
  }
})

test('[sandbox.5] reject: a charge is refused and not created; an accepted charge stays accepted', async (t) => {
  const bank = await startBank(t, { clock: steppedClock() })
  await bank.charge('before')
  await bank.call('PUT', '/control/behavior', { cashIn: 'reject' })
  const { status, body } = await bank.charge()
  assert.deepEqual([status, body.errorCode], [422, 'charge_refused'])
  assert.equal((await bank.call('GET', `/charges/${ID}`)).status, 404)
  assert.equal((await bank.charge('before')).status, 200)
})

test('[sandbox.5] timeout: the request is not executed and gets no response', async (t) => {
  const bank = await startBank(t)
  await bank.call('PUT', '/control/behavior', { cashIn: 'timeout' })
  const caller = new AbortController()
  const silence = fetch(`${bank.url}/charges/${ID}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(TERMS),
    signal: caller.signal,
  })
  // Asked afterwards and answered, so the first call was long read and could have been.
  for (let asked = 0; asked < 20; asked++) {
    assert.equal((await bank.call('GET', `/charges/${ID}`)).status, 404)
  }
  caller.abort()
  await assert.rejects(silence, { name: 'AbortError' })
  await bank.call('PUT', '/control/behavior', { cashIn: 'answer' })
  assert.equal((await bank.charge()).status, 201)
})

test('[sandbox.5] lost-response: the request is executed and the connection closes', async (t) => {
  const bank = await startBank(t, { clock: steppedClock() })
  await bank.call('PUT', '/control/behavior', { cashIn: 'lost-response' })
  await assert.rejects(bank.charge(), TypeError)
  const { status, body } = await bank.call('GET', `/charges/${ID}`)
  assert.deepEqual([status, body.status], [200, 'ACTIVE'])
})

test('[sandbox.5] latency: responses of the protocol, and only those, are delayed; requests are executed', async (t) => {
  const clock = steppedClock()
  const bank = await startBank(t, { clock })
  await bank.call('PUT', '/control/behavior', { latencyMs: 1_234 })
  await bank.charge()
  await bank.call('GET', `/charges/${ID}`)
  await bank.call('GET', '/control/behavior')
  assert.deepEqual(clock.sleptMs, [1_234, 1_234])
})

test('[partner-protocol] a port in use is an error and leaves nothing open', async (t) => {
  const bank = await startBank(t)
  await assert.rejects(startBank(t, { port: bank.port, eventsUrl: NOBODY }), { code: 'EADDRINUSE' })
})
