import assert from 'node:assert/strict'
import test from 'node:test'
import { type PartnerVerdict, partnerEvent, partnerEvents, verdictOf } from '../src/partner.ts'
import { ajv } from './support/ajv.ts'

const words: Record<PartnerVerdict, string[]> = {
  confirmed: ['CONFIRMED', 'PAID', 'CONCLUIDA', 'COMPLETED', 'REALIZADO', 'DEVOLVIDO'],
  failed: [
    'FAILED',
    'REJECTED',
    'ERROR',
    'CANCELED',
    'CANCELLED',
    'NAO_REALIZADO',
    'REMOVIDA_PELO_PSP',
    'REMOVIDA_PELO_USUARIO_RECEBEDOR',
  ],
  'in progress': ['PENDING', 'PROCESSING', 'ATIVA', 'EM_PROCESSAMENTO'],
  unclear: ['', 'paid', 'REMOVIDA', 'RETURNED', 'PAID ', 'constructor'],
}

for (const [verdict, statuses] of Object.entries(words)) {
  test(`[partner-inbox.6] ${statuses.join(', ')}: ${verdict}`, () => {
    for (const status of statuses) assert.equal(verdictOf({ event: 'CashIn', status }), verdict, status)
  })
}

const event = {
  event: 'CashIn',
  eventId: 'event-1',
  transactionId: 'charge-1',
  status: 'PAID',
  valueCents: 15000,
  occurredAt: '2026-11-21T13:15:00.000Z',
}
const isEvent = ajv.compile(partnerEvent)

test('[partner-inbox.4] an event may leave out what the bank does not know, and say more than we ask', () => {
  assert.ok(isEvent(event))
  assert.ok(isEvent({ ...event, endToEndId: null, payer: null, feeCents: 0, channel: 'app' }))
  assert.ok(isEvent({ ...event, endToEndId: 'E'.repeat(64) }))
})

test('[partner-inbox.11] that money was returned confirms a reversal; of a payment itself it is a question', () => {
  for (const status of ['REVERSED', 'RETURNED', 'REFUNDED']) {
    for (const name of ['CashInReversal', 'CashOutReversal'] as const)
      assert.equal(verdictOf({ event: name, status }), 'confirmed', `${name} ${status}`)
    for (const name of ['CashIn', 'CashOut'] as const)
      assert.equal(verdictOf({ event: name, status }), 'unclear', `${name} ${status}`)
  }
})

test('[partner-inbox.9] an event that lacks amount or time is one: it says what to ask about', () => {
  const { valueCents, occurredAt, ...least } = event
  for (const body of [least, { ...least, valueCents: null, occurredAt: null }]) assert.ok(isEvent(body))
})

test('[partner-inbox.4] an event with half a centavo, control characters or too long an id is none', () => {
  const { valueCents } = event
  const wrong = [
    { ...event, valueCents: 0 },
    { ...event, valueCents: -1 },
    { ...event, valueCents: 1.5 },
    { ...event, valueCents: String(valueCents) },
    { ...event, currency: 'USD' },
    { ...event, status: 'PAID\u0000' },
    { ...event, transactionId: 'a\ud800' },
    { ...event, event: 'CashBack' },
    { ...event, endToEndId: 'E'.repeat(65) },
  ]
  for (const body of wrong) assert.equal(isEvent(body), false, JSON.stringify(body))
})

test('[partner-inbox.5] each event has one endpoint', () => {
  const names = Object.values(partnerEvents).flat()
  assert.deepEqual([...names].sort(), [...partnerEvent.properties.event.enum].sort())
})
