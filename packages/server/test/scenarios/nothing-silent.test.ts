import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import type { Bank } from '../../src/banks/bank.ts'
import { createLogger } from '../../src/platform/log.ts'
import { closedPort } from '../banks/pixgate/scripted-bank.ts'
import { type CapturedLog, capturedLog } from '../support/captured-log.ts'
import { scrape, scrapedUntil } from '../support/metrics.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { answering, startReceiver } from '../support/webhook-receiver.ts'
import { type World, type WorldOptions, world } from '../support/world.ts'

/**
 * No failure is silent: each story shows the answer to the caller, the log line of the operator and the
 * figure that an alert is made of.
 */

async function watched(t: TestContext, options: WorldOptions = {}, environment: Record<string, string> = {}) {
  const log = capturedLog()
  const pix = await world(t, environment, { ...options, logger: log.logger })
  return { ...pix, log }
}

function sentences({ lines }: CapturedLog, part: string): string[] {
  return lines.map(({ msg }) => msg).filter((msg) => msg.includes(part))
}

test('[logs.3] [metrics.1] a delivery that fails says where, why and when it is tried again', async (t) => {
  const pix = await watched(t)
  const away = await closedPort()
  const { body } = await pix.call('POST', '/webhook', { url: `${away}/secret-path`, events: ['pix_cash_in'] })
  const charge = await pix.paid('10.00')
  assert.equal(charge.status, 'PAID')
  const { level, nextAttemptAt, ...line } = await pix.log.line('', { event: 'delivery.retry_scheduled' })
  assert.equal(level, 'warn')
  assert.ok(Date.parse(String(nextAttemptAt)) > 0)
  assert.deepEqual(
    [line.webhookId, line.host, line.attempt, line.reason, line.code],
    [body.webhook_id, new URL(away).host, 1, 'connect', 'ECONNREFUSED'],
  )
  // The other receiver has it.
  await scrapedUntil(pix, 'pixgate_deliveries_ended_total{state="delivered"}', 1)
  const series = await scrape(pix)
  assert.ok(series('pixgate_delivery_attempt_duration_seconds_count{outcome="connect"}'))
  assert.equal(series('pixgate_deliveries{state="pending"}'), 1)
  assert.ok((series('pixgate_deliveries_oldest_age_seconds{state="pending"}') ?? -1) >= 0)
})

test('[logs.3] [metrics.1] a delivery that was given up is logged as an error', async (t) => {
  const pix = await watched(t)
  const refusing = await startReceiver(t, answering(400))
  await pix.call('POST', '/webhook', { url: refusing.url, events: ['pix_cash_in'] })
  assert.equal((await pix.paid('10.00')).status, 'PAID')
  for (let attempt = 1; attempt <= 3; attempt++) {
    await pix.log.line('', { event: 'delivery.retry_scheduled', attempt, reason: 'HTTP 400' })
    pix.clock.advance(3_600_000)
  }
  assert.equal((await pix.log.line('', { event: 'delivery.given_up', attempt: 4, reason: 'HTTP 400' })).level, 'error')
  const series = await scrape(pix)
  assert.equal(series('pixgate_deliveries_ended_total{state="failed"}'), 1)
  assert.equal(series('pixgate_delivery_attempt_duration_seconds_count{outcome="refused"}'), 4)
})

test('[logs.3] [metrics.1] for a bank that refuses our credentials the log says to check them', async (t) => {
  const bank = createServer((_, response) => response.writeHead(401).end()).listen(0, '127.0.0.1')
  t.after(() => bank.close())
  await once(bank, 'listening')
  const bankUrl = `http://127.0.0.1:${(bank.address() as AddressInfo).port}`
  const pix = await watched(t, { isStepped: true, bankUrl })
  const answer = await pix.call('POST', '/api/pix/cash-in', { transaction: { value: 10, externalId: 'a' } })
  assert.deepEqual([answer.status, answer.body.pixCode], [201, undefined])
  const line = await pix.log.line('check the credentials', { event: 'bank.call_failed', call: 'createCharge' })
  assert.deepEqual([line.level, line.answer, line.reason], ['error', 'UNKNOWN', 'HTTP 401'])
  assert.equal(line.orderId, await pix.orderIdOf(answer.body.id))
  const outcome = 'pixgate_bank_call_duration_seconds_count{call="createCharge",outcome="unauthorized"}'
  assert.ok((await scrape(pix))(outcome))
})

test('[logs.3] [metrics.1] an outage of the bank is one line each, and the breaker that opens and closes', async (t) => {
  let isAway = true
  const awayForCharges = (simulated: Bank): Bank => ({
    ...simulated,
    createCharge: async (...call) =>
      isAway ? { kind: 'NOT_SENT', reason: 'ECONNREFUSED' } : simulated.createCharge(...call),
  })
  const pix = await watched(t, { isStepped: true, bank: awayForCharges }, { PIXGATE_PARTNER_CREATE_BUDGET_MS: '100' })
  const state = (of: string) => `pixgate_bank_breaker_state{breaker="charges",state="${of}"}`
  assert.equal((await scrape(pix))(state('closed')), 1)
  for (let charges = 0; charges < 6; charges++) assert.equal((await pix.charge('10.00')).status, 'PENDING')
  assert.equal((await pix.log.line('the breaker opened', { breaker: 'charges' })).level, 'error')
  assert.deepEqual(sentences(pix.log, 'creation of a charge'), [
    'creation of a charge: the call did not reach the bank; retrying',
  ])
  const lost = 'pixgate_bank_call_duration_seconds_count{call="createCharge",outcome="not_sent"}'
  assert.ok(((await scrape(pix))(lost) ?? 0) >= 5)

  isAway = false
  while (sentences(pix.log, 'the breaker closed').length === 0) await pix.later(5_001)
  assert.equal((await scrape(pix))(state('closed')), 1)
  assert.deepEqual(
    pix.log.lines.filter(({ msg }) => msg.includes('the breaker')).map(({ level }) => level),
    ['error', 'info'],
  )
})

test('[logs.3] [metrics.1] a payout that the bank refuses is logged with its code', async (t) => {
  const pix = await watched(t)
  await pix.balance(100_00)
  await pix.behave({ cashOut: 'reject' })
  const { id } = await pix.cashOut()
  await pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'FAILED')
  const line = await pix.log.line('nothing was paid', { event: 'bank.call_failed', orderId: await pix.orderIdOf(id) })
  assert.deepEqual([line.level, line.answer], ['info', 'REJECTED'])
  assert.match(String(line.reason), /^\w+$/)
  const series = await scrape(pix)
  assert.equal(series('pixgate_bank_call_duration_seconds_count{call="sendPayout",outcome="rejected"}'), 1)
  assert.equal(series('pixgate_operation_moves_total{kind="cash_out",state="FAILED"}'), 1)
})

test('[logs.3] [partner-inbox.13] a signed but unreadable event is a log line, a metric and a case', async (t) => {
  const pix = await watched(t)
  assert.equal(await postEvent(pix, 'this is no JSON'), 200)
  const { level, reason, inboxId } = await pix.log.line('an event of the bank was put in quarantine')
  assert.equal(level, 'error')
  assert.match(String(reason), /JSON/)
  const opened = await pix.log.line('case opened', { case: 'event_set_aside' })
  assert.ok(inboxId)
  assert.equal(opened.inboxId, inboxId)
  assert.match(String(opened.reference), /^[0-9a-f]{64}$/)
  const series = await scrape(pix)
  assert.equal(series('pixgate_inbox_outcomes_total{outcome="quarantined"}'), 1)
  assert.equal(series('pixgate_cases_open{kind="event_set_aside"}'), 1)
  assert.equal(series('pixgate_cases_opened_total{kind="event_set_aside"}'), 1)
  assert.equal(series('pixgate_inbox_callbacks_total{origin="proven"}'), 1)
})

test('[logs.3] [partner-inbox.1] [partner-inbox.2] a refused callback is a log line and a metric', async (t) => {
  const pix = await watched(t)
  const event = paidEvent(await pix.charge('10.00'))
  for (let copies = 0; copies < 3; copies++) assert.equal(await postEvent(pix, event, { secret: 'another' }), 401)
  assert.equal(await postEvent(pix, event, { timestamp: '0' }), 401)
  const refused = await pix.log.line('a callback was refused')
  assert.deepEqual(
    [refused.level, refused.path, refused.reason],
    ['warn', '/api/webhooks/pix/cash-in', 'the signature is wrong'],
  )
  const stale = await pix.log.line('outside its time window')
  assert.equal(stale.reason, 'the timestamp is too old')
  assert.ok(Number(stale.lateBySeconds) > 0)
  assert.equal(sentences(pix.log, 'a callback was refused').length, 1, 'nobody floods the log from outside')
  const series = await scrape(pix)
  assert.equal(series('pixgate_inbox_callbacks_total{origin="refused"}'), 3)
  assert.equal(series('pixgate_inbox_callbacks_total{origin="stale"}'), 1)
})

test('[logs.3] [partner-inbox.8] an event without a match is logged when parked and when given up', async (t) => {
  const pix = await watched(t, { isStepped: true })
  const nobody = { id: '0198c0de-7a11-7000-8000-000000000001', valueCents: 1_000, providerTransactionId: 'nobody' }
  const occurredAt = new Date(pix.clock.now()).toISOString()
  assert.equal(await postEvent(pix, paidEvent(nobody, { occurredAt })), 200)
  const { level, reason } = await pix.log.line('matches no operation yet')
  assert.deepEqual([level, reason], ['warn', 'no such operation yet'])
  await scrapedUntil(pix, 'pixgate_inbox_events{state="parked"}', 1)
  for (const ms of [1_001, 5_001, 30_001, 60_001, 300_001, 900_001]) await pix.later(ms)
  assert.equal((await pix.log.line('an event of the bank still matches no operation')).level, 'error')
  await pix.log.line('case opened', { case: 'event_set_aside' })
  const series = await scrape(pix)
  assert.equal(series('pixgate_inbox_outcomes_total{outcome="parked"}'), 6)
  assert.equal(series('pixgate_inbox_outcomes_total{outcome="given_up"}'), 1)
})

test('[logs.3] [partner-inbox.7] an event that contradicts another is a log line and a metric', async (t) => {
  const pix = await watched(t)
  const event = paidEvent(await pix.charge('10.00'))
  assert.equal(await postEvent(pix, event), 200)
  assert.equal(await postEvent(pix, { ...event, valueCents: 999 }), 200)
  assert.equal((await pix.log.line('contradicts an earlier one')).level, 'warn')
  assert.equal((await scrape(pix))('pixgate_inbox_outcomes_total{outcome="contradicting"}'), 1)
})

test('[metrics.1] [metrics.2] requests are counted by the declared path, not by the called one', async (t) => {
  const pix = await watched(t)
  const { id } = await pix.charge('10.00')
  await pix.get(`/api/pix/cash-in/${id}`)
  await pix.call('GET', `/nowhere/${id}`)
  await pix.log.line('request', { route: '/api/pix/cash-in/{id}' })
  const count = 'pixgate_http_request_duration_seconds_count'
  await scrapedUntil(pix, `${count}{method="GET",route="/api/pix/cash-in/{id}",status_class="2xx"}`, 1)
  await scrapedUntil(pix, `${count}{method="any",route="unknown",status_class="4xx"}`, 1)
  const series = await scrape(pix)
  assert.equal(series('pixgate_operations{kind="cash_in",state="PENDING"}'), 1)
  assert.equal(series('pixgate_operation_moves_total{kind="cash_in",state="PENDING"}'), 1)
  for (const figure of ['batch_size_commands', 'queue_wait_seconds', 'commit_duration_seconds']) {
    assert.ok((series(`pixgate_engine_${figure}_count`) ?? 0) > 0)
  }
})

test('[logs.3] [metrics.1] an unreadable request is a log line and a metric', async (t) => {
  const pix = await watched(t)
  const figure = 'pixgate_http_unreadable_total{status="400"}'
  assert.equal((await scrape(pix))(figure), 0)
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(pix.url).port) })
  socket.write('garbage\r\n\r\n')
  const answer = await readText(socket)
  const { level, correlationId } = await pix.log.line('cannot be read as a request', { status: 400 })
  assert.equal(level, 'info')
  assert.ok(answer.includes(`X-Correlation-ID: ${correlationId}\r\n`))
  assert.equal((await scrape(pix))(figure), 1)
})

test('[logs.2] a payment is booked even where nothing can be logged', async (t) => {
  const write = () => {
    throw new Error('no space left on device')
  }
  const pix: World = await world(t, {}, { logger: createLogger('trace', { write }) })
  assert.equal(await postEvent(pix, 'this is no JSON'), 200)
  assert.equal((await pix.paid('10.00')).status, 'PAID')
  await pix.receiver.arrived(1)
  await pix.assertBooksAgree()
})

test('[logs.3] [metrics.1] a signed event that is too large, or arrives incomplete, is a log line and a metric', async (t) => {
  const pix = await watched(t)
  const event = paidEvent(await pix.charge('10.00'))
  assert.equal(await postEvent(pix, { ...event, note: 'x'.repeat(70_000) }), 413)
  const tooLarge = await pix.log.line('a callback could not be read', { path: '/api/webhooks/pix/cash-in' })
  assert.deepEqual([tooLarge.level, tooLarge.reason], ['warn', 'the request body exceeds 64 KiB'])
  const { port } = new URL(pix.url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write('POST /api/webhooks/pix/cash-in HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"event":')
  socket.end()
  await pix.log.line('a callback could not be read', { reason: 'the request body ended early' })
  socket.destroy()
  assert.equal((await scrape(pix))('pixgate_inbox_callbacks_total{origin="unreadable"}'), 2)
})
