import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import test from 'node:test'
import { until } from '../../server/test/support/until.ts'
import { type Chance, systemChance } from '../src/chance.ts'
import { type Clock, systemClock } from '../src/clock.ts'
import { ID, SECRET, startBank, type TestBank } from './support/bank.ts'
import { steppedClock } from './support/clocks.ts'
import { type Received, startService } from './support/receiving-gateway.ts'

test('[partner-inbox.1] a payment is reported by a signed event', async (t) => {
  const service = await startService(t)
  const clock = steppedClock()
  const bank = await startBank(t, { eventsUrl: service.url, clock })
  const { transactionId } = (await bank.charge()).body
  const { endToEndId } = (await bank.call('POST', `/control/charges/${ID}/pay`, { valueCents: 14_999 })).body
  const [arrival] = await service.arrived(1)
  assert.ok(arrival)
  assert.equal(arrival.path, '/api/webhooks/pix/cash-in')
  assert.equal(arrival.headers['content-type'], 'application/json')
  assert.equal(arrival.headers['x-partner-timestamp'], String(Math.trunc(clock.now() / 1_000)))
  assertSigned(arrival, SECRET)
  const { eventId, ...event } = arrival.event
  assert.match(String(eventId), /^[0-9a-f-]{36}$/)
  assert.deepEqual(event, {
    event: 'CashIn',
    transactionId,
    externalId: ID,
    status: 'CONFIRMED',
    endToEndId,
    valueCents: 14_999,
    payer: { name: 'João Souza', document: '11144477735', ispb: '99999010' },
    occurredAt: '2026-11-21T13:15:30.000Z',
  })
})

test('[partner-inbox.1] a failure is reported by a signed event', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: `${service.url}/`, clock: steppedClock() })
  const { transactionId } = (await bank.charge()).body
  await bank.call('POST', `/control/charges/${ID}/fail`)
  const [arrival] = await service.arrived(1)
  assert.ok(arrival)
  assertSigned(arrival, SECRET)
  const { eventId: _, ...event } = arrival.event
  assert.deepEqual(event, {
    event: 'CashIn',
    transactionId,
    externalId: ID,
    status: 'FAILED',
    endToEndId: null,
    valueCents: 15_000,
    errorCode: 'removed_by_bank',
    errorMessage: 'the bank removed the charge',
    occurredAt: '2026-11-21T13:15:30.000Z',
  })
})

test('[partner-protocol] an event is retried until 200, each time with a new timestamp and signature', async (t) => {
  const answers = [500, 401, 201, 302, 503, 404, 429]
  const service = await startService(t, (index) => answers[index] ?? 200)
  const clock = steppedClock()
  const bank = await startBank(t, { eventsUrl: service.url, clock })
  await bank.charge()
  await bank.call('POST', `/control/charges/${ID}/pay`)
  const attempts = await service.arrived(answers.length + 1)
  assert.deepEqual(clock.sleptMs, [200, 500, 1_000, 2_000, 5_000, 5_000, 5_000])
  assert.equal(new Set(attempts.map(({ text }) => text)).size, 1)
  for (const attempt of attempts) assertSigned(attempt, SECRET)
  const seconds = attempts.map(({ headers }) => Number(headers['x-partner-timestamp']))
  assert.equal((seconds.at(-1) ?? 0) - (seconds[0] ?? 0), 18)
  await settled(bank)
  assert.equal(service.received.length, answers.length + 1)
})

test('[partner-protocol] an event is delivered once the service is reachable', async (t) => {
  const clock = steppedClock()
  const warnings: string[] = []
  const warned = Promise.withResolvers<void>()
  const warn = (warning: string) => {
    warnings.push(warning)
    warned.resolve()
  }
  const bank = await startBank(t, { clock, warn })
  await bank.charge()
  await bank.call('POST', `/control/charges/${ID}/pay`)
  await warned.promise
  assert.match(warnings.join(), /[0-9a-f-]{36}/, 'the event is named')
  const { events } = (await bank.call('GET', '/control/book')).body
  assert.deepEqual([events.delivered.length, events.pending.length], [0, 1])
  await bank.stop()

  const service = await startService(t)
  const again = await startBank(t, { clock, dataDirectory: bank.directory, eventsUrl: service.url })
  const [arrival] = await service.arrived(1)
  assert.deepEqual(arrival?.event, events.pending[0])
  await settled(again)
})

test('[partner-protocol] a delivered event is not sent again after a restart', async (t) => {
  const service = await startService(t)
  const bank = await startBank(t, { eventsUrl: service.url })
  await bank.charge()
  await bank.call('POST', `/control/charges/${ID}/pay`)
  await settled(bank)
  await bank.stop()
  const again = await startBank(t, { dataDirectory: bank.directory, eventsUrl: service.url })
  const second = await again.call('POST', `/control/charges/${ID}/pay`)
  const [, arrival] = await service.arrived(2)
  assert.equal(arrival?.event.endToEndId, second.body.endToEndId)
  await settled(again)
  assert.equal(service.received.length, 2)
})

test('[sandbox.5] eventCopies: an event is sent this many times, each until 200', async (t) => {
  const service = await startService(t, (index) => (index === 0 ? 500 : 200))
  const bank = await startBank(t, { eventsUrl: service.url, clock: steppedClock() })
  await bank.call('PUT', '/control/behavior', { eventCopies: 3 })
  await bank.charge()
  await bank.call('POST', `/control/charges/${ID}/pay`)
  await settled(bank)
  assert.equal(service.received.length, 4)
  assert.equal(new Set(service.received.map(({ text }) => text)).size, 1)
})

test('[sandbox.5] eventDelayMs: the first attempt is delayed', async (t) => {
  const service = await startService(t)
  const clock = steppedClock()
  const bank = await startBank(t, { eventsUrl: service.url, clock })
  await bank.call('PUT', '/control/behavior', { eventDelayMs: 30_000 })
  await bank.charge()
  await bank.call('POST', `/control/charges/${ID}/pay`)
  const [arrival] = await service.arrived(1)
  assert.deepEqual(clock.sleptMs, [30_000])
  assert.equal(arrival?.event.occurredAt, '2026-11-21T13:15:30.000Z')
})

test('[sandbox.5] eventsShuffled: events arrive out of order', async (t) => {
  const service = await startService(t)
  const draws = [200, 0, 100]
  const chance: Chance = { ...systemChance, below: (limit) => Math.min(draws.shift() ?? 0, limit - 1) }
  const sleepers: { ms: number; wake: () => void }[] = []
  const clock: Clock = { ...systemClock, sleep: (ms) => new Promise((wake) => sleepers.push({ ms, wake })) }
  const bank = await startBank(t, { eventsUrl: service.url, chance, clock })
  await bank.call('PUT', '/control/behavior', { eventsShuffled: true })
  await bank.charge()
  for (const valueCents of [1, 2, 3]) await bank.call('POST', `/control/charges/${ID}/pay`, { valueCents })
  await service.arrived(1)
  for (const [index, { wake }] of sleepers.sort((one, other) => one.ms - other.ms).entries()) {
    wake()
    await service.arrived(index + 2)
  }
  assert.deepEqual(
    service.received.map(({ event }) => event.valueCents),
    [2, 3, 1],
  )
})

test('[partner-protocol] a manual event is sent once to the given endpoint, and the response status is returned', async (t) => {
  const service = await startService(t, (index) => [200, 401][index] ?? 503)
  const clock = steppedClock()
  const bank = await startBank(t, { eventsUrl: service.url, clock })
  const order = async (body: object) => (await bank.call('POST', '/control/events', body)).body
  const event = { event: 'CashOut', status: 'CONFIRMED', anything: [1] }
  assert.deepEqual(await order({ endpoint: 'cash-out', event }), { status: 200 })
  const forged = { endpoint: 'cash-in', rawBody: '{"a": 1 }', timestampOffsetSeconds: -301, secret: 'another' }
  assert.deepEqual(await order(forged), { status: 401 })
  assert.deepEqual(await order({ endpoint: 'cash-in', event: {} }), { status: 503 })

  const [byEvent, byText] = await service.arrived(3)
  assert.ok(byEvent && byText)
  assert.deepEqual([byEvent.path, byEvent.event], ['/api/webhooks/pix/cash-out', event])
  assertSigned(byEvent, SECRET)
  assert.deepEqual([byText.path, byText.text], ['/api/webhooks/pix/cash-in', '{"a": 1 }'])
  assertSigned(byText, 'another')
  assert.equal(byText.headers['x-partner-timestamp'], String(clock.now() / 1_000 - 301))
  assert.equal(service.received.length, 3)
})

test('[partner-protocol] a manual event has no status if the service is unreachable; an order without event and text gets 400', async (t) => {
  const bank = await startBank(t)
  const order = (body: object) => bank.call('POST', '/control/events', body)
  assert.deepEqual(await order({ endpoint: 'cash-in', event: {} }), { status: 200, body: { status: null } })
  for (const body of [{ endpoint: 'cash-in' }, { endpoint: 'refund', event: {} }, { event: {} }]) {
    assert.equal((await order(body)).status, 400, JSON.stringify(body))
  }
})

function assertSigned({ headers, text }: Received, secret: string): void {
  const hex = createHmac('sha256', secret).update(text).digest('hex')
  assert.equal(headers['x-partner-signature'], `sha256=${hex}`)
}

/** Resolves when the book has no undelivered event left. */
async function settled(bank: TestBank): Promise<void> {
  await until(async () => (await bank.call('GET', '/control/book')).body.events.pending.length === 0)
}
