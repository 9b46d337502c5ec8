import assert from 'node:assert/strict'
import test from 'node:test'
import { type EventType, eventSchemas, eventTypes, nanosecondText } from '../src/events.ts'
import { ajv } from './support/ajv.ts'
import { closed } from './support/closed.ts'

const event = {
  id: '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
  correlation_id: 'checkout-77',
  external_id: 'order-1001',
  transaction_id: '5e3f9f0c8a7b4c6d9e0f1a2b3c4d5e6f',
  value_cents: 15000,
  end_to_end_id: null,
  fee_amount_cents: 0,
  confirmed_at: nanosecondText(Date.UTC(2026, 10, 21, 13, 15, 3)),
  created_at: nanosecondText(Date.UTC(2026, 10, 21, 13, 15, 2, 417)),
}

const samples: Record<EventType, { statuses: string[]; payer_name?: string }> = {
  pix_cash_in: { statuses: ['PAID', 'FAILED'], payer_name: 'Maria da Silva' },
  pix_cash_out: { statuses: ['CONFIRMED', 'FAILED'] },
  pix_cash_in_reversal: { statuses: ['CONFIRMED', 'FAILED'] },
  pix_cash_out_reversal: { statuses: ['REVERSED'] },
}

for (const type of eventTypes) {
  const { statuses, ...own } = samples[type]
  const isValid = ajv.compile(eventSchemas[type])
  const isWhole = ajv.compile(closed(eventSchemas[type]))

  test(`[events.1] ${type} tells ${statuses.join(' or ')} and nothing else`, () => {
    for (const status of ['PENDING', 'PAID', 'CONFIRMED', 'FAILED', 'REVERSED', 'RELEASED']) {
      const body = { event_type: type, event: { ...event, ...own, status } }
      assert.equal(isValid(body), statuses.includes(status), status)
    }
  })

  test(`[events.2] ${type} has every key, also where nothing is known`, () => {
    const [status] = statuses
    const whole: Record<string, unknown> = { ...event, ...own, status }
    assert.ok(isWhole({ event_type: type, event: whole }))
    for (const key of Object.keys(whole)) {
      const { [key]: _, ...rest } = whole
      assert.equal(isValid({ event_type: type, event: rest }), false, key)
    }
    assert.equal(isWhole({ event_type: type, event: { ...whole, document: '52998224725' } }), false)
  })

  test(`[reference.7] ${type} may have more fields one day`, () => {
    const body = { event_type: type, event: { ...event, ...own, status: statuses[0], later: 1 }, later: 1 }
    assert.ok(isValid(body))
  })
}

test('[events.5] only what need not exist may be null', () => {
  const may = ['transaction_id', 'end_to_end_id', 'payer_name']
  const whole: Record<string, unknown> = { ...event, payer_name: 'Maria da Silva', status: 'FAILED' }
  const isValid = ajv.compile(eventSchemas.pix_cash_in)
  for (const key of Object.keys(whole)) {
    assert.equal(isValid({ event_type: 'pix_cash_in', event: { ...whole, [key]: null } }), may.includes(key), key)
  }
})

test('[events.3] instants in events have nine fractional digits', () => {
  assert.equal(nanosecondText(0), '1970-01-01T00:00:00.000000000Z')
  assert.equal(nanosecondText(1_795_266_902_417), '2026-11-21T13:15:02.417000000Z')
})
