import assert from 'node:assert/strict'
import test from 'node:test'
import { assertBooks, balances } from '../support/books.ts'
import { caseFacts, cases, inbox, notifiedStatuses } from '../support/evidence.ts'
import { IMPATIENT } from '../support/impatience.ts'
import { neighbourOf } from '../support/neighbour.ts'
import { failedEvent, paidEvent, postEvent } from '../support/partner-events.ts'
import { reachJudged } from '../support/tcp-proxy.ts'
import { type World, world } from '../support/world.ts'

const STEPPED = { isStepped: true }

/** State of the events, once each has been processed as far as possible. */
async function outcomes(pix: World): Promise<string[]> {
  await pix.later(0)
  return (await inbox(pix.database)).map(({ state, outcome }) => `${state} ${outcome}`)
}

test('[partner-inbox.3] [EV-8] a repeated event is answered 200 and never has a second effect', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  const event = paidEvent(charge)
  assert.equal(await postEvent(pix, event), 200)
  await pix.becomes(charge.id, 'PAID')
  assert.equal(await postEvent(pix, { ...event, eventId: 'another delivery' }), 200)
  pix.clock.advance(400 * 86_400_000)
  assert.equal(await postEvent(pix, event), 200)
  assert.deepEqual(await outcomes(pix), ['DONE APPLIED'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  assert.deepEqual(await cases(pix.database), [])
  await assertBooks(pix.database)
})

test('[partner-inbox.3] [EV-30] a flood of events, each several times at once, pays each charge once', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charges = await Promise.all(Array.from({ length: 30 }, () => pix.charge('1.00')))
  const events = charges.map((charge, index) => paidEvent(charge, { endToEndId: `E${index}` }))
  const answers = await Promise.all([...events, ...events, ...events].map((event) => postEvent(pix, event)))
  assert.deepEqual(new Set(answers), new Set([200]))
  for (const { id } of charges) await pix.becomes(id, 'PAID')
  assert.equal((await inbox(pix.database)).length, 30)
  assert.deepEqual(await balances(pix.database), { available: 3000n, settlement: -3000n })
  await assertBooks(pix.database)
})

test('[partner-inbox.3] [EV-8] an event that is replayed a thousand times, at two processes, has one effect', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const other = await neighbourOf(t, pix)
  const charge = await pix.charge('10.00')
  const event = paidEvent(charge)
  const replay = async (url: string) => {
    for (let time = 0; time < 100; time++) assert.equal(await postEvent({ ...pix, url }, event), 200)
  }
  await Promise.all([pix.url, other].flatMap((url) => Array.from({ length: 5 }, () => replay(url))))
  assert.deepEqual(await outcomes(pix), ['DONE APPLIED'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  assert.deepEqual(await cases(pix.database), [])
  assert.deepEqual(await balances(pix.database), { available: 1000n, settlement: -1000n })
  await assertBooks(pix.database)
})

test('[partner-inbox.7] [EV-8b] the same event with another amount is stored beside the first and applied after it', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  const event = paidEvent(charge)
  for (const valueCents of [1000, 900, 900, 800]) assert.equal(await postEvent(pix, { ...event, valueCents }), 200)
  await pix.becomes(charge.id, 'PAID')
  await pix.later(1_001)
  assert.deepEqual(await outcomes(pix), ['DONE APPLIED', 'CONFLICT APPLIED', 'CONFLICT APPLIED'])
  assert.deepEqual(await cases(pix.database), ['bank_contradicts'])
  assert.deepEqual(await balances(pix.database), { available: 1000n, settlement: -1000n })
  await assertBooks(pix.database)
})

test('[partner-inbox.7] [EV-8b] of contradicting events at the same moment one is applied and the others wait for it', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  const event = paidEvent(charge)
  await Promise.all([1000, 999, 998].map((valueCents) => postEvent(pix, { ...event, valueCents })))
  await pix.later(1_001)
  await pix.later(1_001)
  const states = (await inbox(pix.database)).map(({ state, isDone }) => `${state} ${isDone}`)
  assert.deepEqual(states.sort(), ['CONFLICT true', 'CONFLICT true', 'DONE true'])
  const { settlement } = await balances(pix.database)
  assert.ok([-1000n, -999n, -998n].includes(settlement ?? 0n), 'one of them was booked, and only one')
  await assertBooks(pix.database)
})

test('[partner-inbox.7] [EV-8b] contradicting events of an unknown charge wait together and block no other', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const nobodys = { id: 'nobody', valueCents: 1000, providerTransactionId: 'unknown' }
  for (const valueCents of [1000, 900]) assert.equal(await postEvent(pix, paidEvent(nobodys, { valueCents })), 200)
  for (const wait of [0, 1_001, 5_001, 30_001, 60_001, 300_001, 900_001, 900_001]) await pix.later(wait)
  assert.deepEqual(await outcomes(pix), ['PARKED CASE_OPENED', 'CONFLICT CASE_OPENED'])
  assert.deepEqual(await cases(pix.database), ['event_set_aside', 'event_set_aside'])
  const charge = await pix.charge('10.00')
  assert.equal(await postEvent(pix, paidEvent(charge)), 200)
  await pix.becomes(charge.id, 'PAID')
})

test('[partner-inbox.7] an implausible contradiction is stored as one', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  const event = paidEvent(charge)
  const occurredAt = new Date(pix.clock.now() + 3_600_000).toISOString()
  for (const given of [{}, { valueCents: 900, occurredAt }])
    assert.equal(await postEvent(pix, { ...event, ...given }), 200)
  await pix.becomes(charge.id, 'PAID')
  await pix.later(1_001)
  const [, conflict] = await inbox(pix.database)
  assert.deepEqual(
    [conflict?.state, conflict?.outcome, conflict?.isDone],
    ['QUARANTINED', 'contradicts another event; occurredAt lies in the future', true],
  )
})

test('[partner-inbox.4] [EV-11] an authentic body that is no event is quarantined, answered 200, and changes nothing', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  const event = paidEvent(charge)
  const wrong = [
    { ...event, valueCents: 0 },
    { ...event, valueCents: -1000 },
    { ...event, valueCents: 10.5 },
    { ...event, valueCents: '1000' },
    { ...event, currency: 'USD' },
    { ...event, payer: { name: 'Ma\u0000ria' } },
    { ...event, occurredAt: 'yesterday' },
    'no JSON at all',
    '',
    JSON.stringify(event).replace('{', '{"valueCents":1000,'),
  ]
  for (const [index, bytes] of wrong.entries()) assert.equal(await postEvent(pix, bytes), 200, String(index))
  await pix.later(0)
  for (const { state, isDone } of await inbox(pix.database)) {
    assert.deepEqual([state, isDone], ['QUARANTINED', true])
  }
  assert.deepEqual(await cases(pix.database), Array(wrong.length).fill('event_set_aside'))
  await pix.later(3_600_000)
  assert.equal((await inbox(pix.database)).length, wrong.length)
  assert.equal((await pix.read(charge.id)).status, 'PENDING')
})

test('[partner-inbox.4] [EV-11] a payment dated in the future leads to a status query, and its repeat books nothing more', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  await pix.bank('PUT', '/control/behavior', { eventDelayMs: 3_600_000 })
  const { body: paid } = await pix.bank('POST', `/control/charges/${charge.id}/pay`)
  const event = paidEvent(charge, { endToEndId: paid.endToEndId })
  const ahead = new Date(pix.clock.now() + 310_000).toISOString()
  assert.equal(await postEvent(pix, { ...event, occurredAt: ahead }), 200)
  assert.deepEqual(await outcomes(pix), ['QUARANTINED occurredAt lies in the future'])
  await pix.later(60_000)
  assert.equal((await pix.read(charge.id)).status, 'PAID', 'by the query')
  assert.equal(await postEvent(pix, event), 200)
  assert.deepEqual(await outcomes(pix), ['QUARANTINED occurredAt lies in the future', 'DONE IGNORED'])
  await pix.assertBooksAgree()
})

test('[partner-inbox.5] [EV-29] an event at the wrong endpoint is quarantined; any content type is accepted', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  assert.equal(await postEvent(pix, paidEvent(charge), { endpoint: 'cash-out' }), 200)
  assert.equal(await postEvent(pix, paidEvent(charge, { event: 'CashOut' })), 200)
  assert.deepEqual(await outcomes(pix), [
    'QUARANTINED CashIn does not belong to cash-out',
    'QUARANTINED CashOut does not belong to cash-in',
  ])
  assert.equal((await pix.read(charge.id)).status, 'PENDING')
  assert.equal(await postEvent(pix, paidEvent(charge), { headers: { 'content-type': 'text/plain' } }), 200)
  await pix.becomes(charge.id, 'PAID')
})

test('[partner-inbox.6] a status of progress changes nothing; an unknown one leads to a status query', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const charge = await pix.charge('10.00')
  assert.equal(await postEvent(pix, paidEvent(charge, { status: 'EM_PROCESSAMENTO' })), 200)
  assert.deepEqual(await outcomes(pix), ['DONE IN_PROGRESS'])
  const { updatedAt } = await pix.read(charge.id)
  await pix.later(1)
  assert.equal(await postEvent(pix, paidEvent(charge, { status: 'LIQUIDADO' })), 200)
  assert.deepEqual(await outcomes(pix), ['DONE IN_PROGRESS', 'DONE APPLIED'])
  const asked = await pix.read(charge.id)
  assert.equal(asked.status, 'PENDING', 'the bank knows of no payment, and it is the bank that counts')
  assert.notEqual(asked.updatedAt, updatedAt)
  await pix.bank('PUT', '/control/behavior', { eventDelayMs: 3_600_000 })
  await pix.bank('POST', `/control/charges/${charge.id}/pay`)
  assert.equal(await postEvent(pix, paidEvent(charge, { status: 'LIQUIDADO_2' })), 200)
  await pix.later(60_000)
  assert.equal((await pix.read(charge.id)).status, 'PAID')
  await pix.assertBooksAgree()
})

test('[partner-inbox.8] an event names its charge by its order id, the client’s reference or the bank’s', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const names = [
    ({ id }: Record<string, string>) => ({ externalId: id, transactionId: 'x' }),
    ({ externalId }: Record<string, string>) => ({ externalId, transactionId: 'x' }),
    ({ providerTransactionId }: Record<string, string>) => ({ externalId: null, transactionId: providerTransactionId }),
  ]
  for (const [index, name] of names.entries()) {
    const charge = await pix.charge('1.00')
    const event = paidEvent(charge, { ...name(charge), endToEndId: `E${index}` })
    assert.equal(await postEvent(pix, event), 200)
    await pix.becomes(charge.id, 'PAID')
  }
})

test('[partner-inbox.12] [EV-35] the bank decides which of two possible charges was paid', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.behave({ eventDelayMs: 3_600_000 })
  for (const name of ['id', 'externalId']) {
    const [one, other] = [await pix.charge('1.00'), await pix.charge('1.00')]
    const { endToEndId } = await pix.bankAction(`charges/${other.id}/pay`)
    // The references of both are known from here on: nothing that waits for one of them is due before its time.
    await pix.work()
    assert.equal(await postEvent(pix, paidEvent(one, { externalId: other[name], endToEndId })), 200)
    assert.equal((await outcomes(pix)).at(-1), 'PARKED its references disagree')
    for (const wait of [1_001, 5_001]) await pix.later(wait)
    assert.equal((await outcomes(pix)).at(-1), 'DONE KNOWN')
    assert.deepEqual([(await pix.read(one.id)).status, (await pix.read(other.id)).status], ['PENDING', 'PAID'])
  }
  assert.deepEqual(await cases(pix.database), [])
})

test('[partner-inbox.12] [EV-35] an event with two possible charges, both unknown to the bank, is a case', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const [one, other] = [await pix.charge('1.00'), await pix.charge('1.00')]
  assert.equal(await postEvent(pix, paidEvent(one, { externalId: other.id })), 200)
  for (const wait of [0, 1_001, 5_001, 30_001, 60_001, 300_001, 900_001]) await pix.later(wait)
  assert.deepEqual(await outcomes(pix), ['PARKED CASE_OPENED'])
  assert.partialDeepStrictEqual(await caseFacts(pix.database, 'event_set_aside'), [
    { operations: [one.id, other.id].toSorted(), event: { valueCents: 100 } },
  ])
  for (const { id } of [one, other]) assert.equal((await pix.read(id)).status, 'PENDING')
})

test('[partner-inbox.8] [EV-7] an event with only the bank’s reference counts as soon as the bank reports our id', async (t) => {
  const pix = await world(t, IMPATIENT, STEPPED)
  await pix.bank('PUT', '/control/behavior', { cashIn: 'lost-response' })
  const { id } = await pix.charge('10.00')
  const { transactionId } = (await pix.bank('GET', `/charges/${id}`)).body
  const event = paidEvent({ id, valueCents: 1000, providerTransactionId: transactionId }, { externalId: null })
  assert.equal(await postEvent(pix, event), 200)
  // The last of these asks the bank about the charge, after the inbox was looked at; the next look would be in 30 s.
  for (const wait of [0, 1_001, 5_001]) await pix.later(wait)
  const { status, providerTransactionId } = await pix.read(id)
  assert.deepEqual([status, providerTransactionId], ['PENDING', transactionId])
  await pix.later(0)
  assert.equal((await pix.read(id)).status, 'PAID')
  await assertBooks(pix.database)
})

test('[partner-inbox.8] [EV-7] before an unmatched event becomes a case the bank is queried by the order id, and the case shows its answer', async (t) => {
  const pix = await world(t, {}, STEPPED)
  // As after a backup was restored: the bank has a charge that we have forgotten.
  const forgotten = '0198c0de7a11700080005f1d3c2b1a09'
  const expiresAt = new Date(pix.clock.now() + 3_600_000).toISOString()
  const merchant = { pixKey: 'loja@example.com', name: 'Loja', city: 'Sao Paulo' }
  const terms = { valueCents: 1000, expiresAt, merchant }
  const { body: charge } = await pix.bank('PUT', `/charges/${forgotten}`, terms)
  await pix.bank('PUT', '/control/behavior', { eventDelayMs: 3_600_000 })
  const { endToEndId } = (await pix.bank('POST', `/control/charges/${forgotten}/pay`)).body
  const subject = { id: forgotten, valueCents: 1000, providerTransactionId: charge.transactionId }
  assert.equal(await postEvent(pix, paidEvent(subject, { endToEndId })), 200)
  for (const wait of [0, 1_001, 5_001, 30_001, 60_001, 300_001, 900_001]) await pix.later(wait)
  const facts = await caseFacts(pix.database, 'event_set_aside')
  assert.partialDeepStrictEqual(facts, [
    {
      event: { externalId: forgotten, endToEndId, valueCents: 1000 },
      bank: { status: 'PAID', transactionId: charge.transactionId, payments: [{ endToEndId, valueCents: 1000 }] },
    },
  ])
  assert.doesNotMatch(JSON.stringify(facts), /Maria|52998224725/)
  const held = { settlement: -1000n, suspense_in: 1000n }
  assert.deepEqual(await balances(pix.database), held, 'what belongs to no operation is nobody’s')
})

test('[partner-inbox.8] [EV-7] an event that comes before its charge is parked and counts once the charge exists', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const event = paidEvent({ id: 'order-1', valueCents: 1000, providerTransactionId: 'x' })
  assert.equal(await postEvent(pix, event), 200)
  assert.deepEqual(await outcomes(pix), ['PARKED no such operation yet'])
  assert.equal((await inbox(pix.database))[0]?.isDone, false)
  const { id } = await pix.charge('10.00')
  await pix.later(1_001)
  assert.equal((await pix.read(id)).status, 'PAID')
  assert.deepEqual(await outcomes(pix), ['DONE APPLIED'])
})

test('[partner-inbox.8] [EV-7] an unmatched event is retried for some twenty minutes and is then a case', async (t) => {
  const pix = await world(t, {}, STEPPED)
  assert.equal(await postEvent(pix, paidEvent({ id: 'nobody', valueCents: 1000, providerTransactionId: 'x' })), 200)
  await pix.later(0)
  const matched = async () => (await inbox(pix.database))[0]?.attempts
  for (const [index, wait] of [1_000, 5_000, 30_000, 60_000, 300_000, 900_000].entries()) {
    await pix.later(wait - 900)
    assert.equal(await matched(), index + 1, `not before ${wait} ms are over`)
    assert.deepEqual(await cases(pix.database), [])
    await pix.later(1_000)
    assert.equal(await matched(), index + 2)
  }
  assert.deepEqual(await cases(pix.database), ['event_set_aside'])
  await pix.later(86_400_000)
  assert.equal(await matched(), 7, 'and then no more')
})

test('[partner-inbox.2] [EV-9] an untimely event is 401, changes nothing by itself, and causes a query of the bank', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.bank('PUT', '/control/behavior', { eventDelayMs: 3_600_000 })
  const charge = await pix.charge('10.00')
  const stale = { timestamp: String(pix.clock.now() - 300_500) }
  // A replay of what is not true: the bank says so.
  assert.equal(await postEvent(pix, failedEvent(charge), stale), 401)
  await pix.later(0)
  assert.equal((await pix.read(charge.id)).status, 'PENDING')
  await pix.bank('POST', `/control/charges/${charge.id}/pay`)
  assert.equal(await postEvent(pix, paidEvent(charge, { valueCents: 1 }), stale), 401)
  await pix.later(60_000)
  assert.equal((await pix.read(charge.id)).status, 'PAID')
  assert.deepEqual(await inbox(pix.database), [])
  assert.equal(await postEvent(pix, 'no event', stale), 401)
  assert.equal(await postEvent(pix, paidEvent({ ...charge, id: 'nobody', providerTransactionId: 'x' }), stale), 401)
  await pix.assertBooksAgree()
})

test('[partner-inbox.3] [http.9] [EV-1] an event that cannot be committed is 503, so that the bank sends it again', async (t) => {
  let refuse = false
  const pix = await world(
    t,
    {},
    {
      ...STEPPED,
      reach: reachJudged(t, () => (refuse ? 'cut' : 'pass')),
    },
  )
  const charge = await pix.charge('10.00')
  refuse = true
  for (let attempt = 0; attempt < 3; attempt++) assert.equal(await postEvent(pix, paidEvent(charge)), 503)
  const { status, headers, body } = await pix.call('GET', `/api/pix/cash-in/${charge.id}`)
  assert.deepEqual([status, body.code, headers.get('retry-after')], [503, 'overloaded', '1'])
  refuse = false
  assert.deepEqual(await inbox(pix.database), [])
  assert.equal(await postEvent(pix, paidEvent(charge)), 200)
  await pix.becomes(charge.id, 'PAID')
})
