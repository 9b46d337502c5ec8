import assert from 'node:assert/strict'
import test from 'node:test'
import type { ReadableEvent } from '../../../src/banks/inbound.ts'
import { createPixgateInbound, type PartnerRoute, readBody } from '../../../src/banks/pixgate/inbound.ts'
import { partnerTimestamp, timeliness } from '../../../src/banks/pixgate/origin.ts'
import { dedupeKeyOf } from '../../../src/inbox/rules.ts'

const EVENT = {
  event: 'CashIn',
  eventId: 'event-1',
  transactionId: 'tx',
  externalId: 'order-1',
  status: 'CONFIRMED',
  endToEndId: 'E1',
  valueCents: 1000,
  payer: { name: 'Maria', document: '52998224725', ispb: '99999010' },
  occurredAt: '2026-11-21T13:15:00.500Z',
} as const

function read(event: object | string, route: PartnerRoute = 'cash-in') {
  return readBody(route, Buffer.from(typeof event === 'string' ? event : JSON.stringify(event)))
}

function faultOf(event: object | string, route?: PartnerRoute): string | undefined {
  const reading = read(event, route)
  return reading.kind === 'unreadable' ? reading.fault : undefined
}

/** An event that can be read. */
function readable(event: object, route?: PartnerRoute): ReadableEvent {
  const reading = read(event, route)
  assert.ok(reading.kind !== 'unreadable')
  return reading
}

test('[partner-inbox.4] unknown fields are ignored, and optional ones may be absent', () => {
  const { payer, endToEndId, externalId, ...least } = EVENT
  assert.equal(faultOf({ ...EVENT, somethingNew: { of: ['the bank'] }, payer: { ...payer, phone: '1' } }), undefined)
  assert.equal(faultOf(least), undefined)
  assert.equal(faultOf({ ...EVENT, externalId: null, endToEndId: null, payer: null, feeCents: null }), undefined)
})

test('[partner-inbox.4] [EV-11] an authentic body that is no event has a fault that names the field without its value', () => {
  const wrong: Record<string, object> = {
    valueCents: { ...EVENT, valueCents: 0 },
    'valueCents ': { ...EVENT, valueCents: -1 },
    'valueCents  ': { ...EVENT, valueCents: 10.5 },
    'valueCents   ': { ...EVENT, valueCents: '1000' },
    'valueCents    ': { ...EVENT, valueCents: 1_000_000_000_000 },
    currency: { ...EVENT, currency: 'USD' },
    transactionId: { ...EVENT, transactionId: 'tx\u0000' },
    'payer.name': { ...EVENT, payer: { name: 'Ma\u001bria' } },
    occurredAt: { ...EVENT, occurredAt: '2026-11-21 13:15:00' },
    'occurredAt ': { ...EVENT, occurredAt: '2026-02-30T13:15:00Z' },
    'occurredAt  ': { ...EVENT, occurredAt: '2026-11-21T13:15:60Z' },
    status: { ...EVENT, status: '' },
    event: { ...EVENT, event: 'CashInn' },
    endToEndId: { ...EVENT, endToEndId: 'E'.repeat(129) },
  }
  for (const [field, event] of Object.entries(wrong)) {
    const fault = faultOf(event) ?? ''
    assert.ok(fault.includes(`${field.trim()}:`), `${field}: ${fault}`)
    assert.doesNotMatch(fault, /Ma.?ria/)
  }
})

test('[partner-inbox.4] [EV-11] bytes that are no JSON, or JSON that two readers could read in two ways, have a fault', () => {
  for (const text of ['', '{', 'null', '[]', '"CashIn"', '{"event":"CashIn","event":"CashOut"}', '\ufeff{}']) {
    assert.notEqual(faultOf(text), undefined, text)
  }
  assert.equal(readBody('cash-in', Buffer.from([0x7b, 0xff, 0x7d])).kind, 'unreadable')
})

test('[partner-inbox.4] [DB-45] text that the database cannot store makes no event, also in an unknown field', () => {
  const written = (unknown: string) => JSON.stringify(EVENT).replace(/}$/, `,"note":${unknown}}`)
  assert.equal(faultOf(written('"\\ud83d\\ude00"')), undefined)
  for (const unknown of ['"\\ud83d"', '"\\u0000"', '1e400', '{"\\udc00":1}']) {
    assert.match(faultOf(written(unknown)) ?? '', /cannot be kept$/, unknown)
  }
})

test('[partner-inbox.5] [EV-29] each event belongs to one endpoint', () => {
  const homes = { CashIn: 'cash-in', CashInReversal: 'cash-in', CashOut: 'cash-out', CashOutReversal: 'cash-out' }
  for (const [event, home] of Object.entries(homes)) {
    for (const endpoint of ['cash-in', 'cash-out'] as const) {
      const fault = faultOf({ ...EVENT, event, returnId: 'D1' }, endpoint)
      assert.equal(fault, endpoint === home ? undefined : `${event} does not belong to ${endpoint}`)
    }
  }
})

test('[partner-inbox.5] [EV-29] a callback of another bank’s protocol is no event', () => {
  const inbound = createPixgateInbound({ secrets: [], apiKey: undefined, isFromBank: () => true })
  const events = inbound.parse('another bank', Buffer.from(JSON.stringify(EVENT)))
  assert.partialDeepStrictEqual(events, [{ kind: 'unreadable', fault: 'no route of this bank: another bank' }])
})

test('[partner-inbox.9] [EV-37] a return without its id is identified by its content; without amount or time it causes a query', () => {
  for (const [event, route, kind] of [
    ['CashOutReversal', 'cash-out', 'payout_returned'],
    ['CashInReversal', 'cash-in', 'payment_returned'],
  ] as const) {
    const { endToEndId, ...reversal } = { ...EVENT, event, returnId: null }
    const unnamed = readable(reversal, route)
    assert.partialDeepStrictEqual(unnamed, { kind, isUnnamed: true })
    const returned = (given: object) => {
      const again = readable({ ...reversal, ...given }, route)
      return 'returned' in again ? again.returned : undefined
    }
    assert.deepEqual(returned({ eventId: 'again' }), returned({}))
    assert.notDeepEqual(returned({ valueCents: 999 }), returned({}))
    for (const lacking of [{ valueCents: null }, { occurredAt: null }]) {
      const least = readable({ ...reversal, returnId: 'D1', ...lacking }, route)
      assert.partialDeepStrictEqual(least, { kind: 'changed', saysMoneyMoved: true })
    }
  }
})

test('[partner-inbox.12] [EV-34] a reversal names its payment, unless the field has the return’s own id', () => {
  const returnId = `D${'1'.repeat(20)}abcdefghijk`
  for (const [given, named] of [
    [{ endToEndId: 'E1' }, 'E1'],
    [{ endToEndId: null }, null],
    [{ endToEndId: 'R1' }, null],
    [{ endToEndId: returnId }, null],
  ] as const) {
    const event = readable({ ...EVENT, event: 'CashInReversal', returnId: 'R1', ...given })
    assert.ok(event.kind === 'payment_returned')
    assert.deepEqual([event.endToEndId, event.references.endToEndId], [named, named])
  }
  assert.equal(readable(EVENT).references.endToEndId, null, 'a payment’s own id is new to us')
})

function keyOf(event: object, route: PartnerRoute = 'cash-in'): string {
  return dedupeKeyOf({ endpoint: route, isProven: true }, read(event, route))
}

test('[partner-inbox.3] [EV-37] an incomplete event does not block a complete one', () => {
  const { valueCents, occurredAt, ...least } = EVENT
  const keys = [{ ...least, valueCents }, { ...least, occurredAt }, least, EVENT].map((event) => keyOf(event))
  assert.equal(new Set(keys).size, 4)
})

test('[partner-inbox.7] [EV-31] the same event with another time has other content', () => {
  const contentAt = (occurredAt: string) => readable({ ...EVENT, occurredAt }).content
  assert.equal(contentAt('2026-11-21T13:15:00.500Z'), contentAt('2026-11-21T10:15:00.5-03:00'))
  assert.notEqual(contentAt('2026-11-21T13:15:00.500Z'), contentAt('2026-11-21T14:15:00.500Z'))
})

test('[partner-inbox.13] [EV-36] an unreadable event names the operation where it can be read', () => {
  const reading = read({ ...EVENT, valueCents: '1000', transactionId: 7, occurredAt: 5 })
  assert.ok(reading.kind === 'unreadable' && reading.named === undefined)
  const { transactionId, ...named } = EVENT
  const about = read({ ...named, valueCents: '1000' })
  assert.ok(about.kind === 'unreadable')
  assert.partialDeepStrictEqual(about.named, { subject: 'charge', references: { externalId: 'order-1' } })
})

test('[partner-inbox.3] an event is identified without its other fields', () => {
  const key = keyOf(EVENT)
  for (const same of [
    { eventId: 'event-2' },
    { valueCents: 1 },
    { payer: null },
    { occurredAt: '2026-11-21T13:15:01Z' },
    { externalId: null },
  ]) {
    assert.equal(keyOf({ ...EVENT, ...same }), key, JSON.stringify(same))
  }
  const others = [
    { transactionId: 'tx2' },
    { status: 'PAID' },
    { endToEndId: 'E2' },
    { endToEndId: null },
    { returnId: 'D1' },
    { event: 'CashInReversal' },
  ].map((other) => keyOf({ ...EVENT, ...other }))
  assert.equal(new Set([key, ...others]).size, 7)
  // A separator inside a field moves nothing from one field to the next.
  assert.notEqual(
    keyOf({ ...EVENT, transactionId: 'a","b', status: 'c' }),
    keyOf({ ...EVENT, transactionId: 'a', status: 'b","c' }),
  )
  assert.notEqual(keyOf({ ...EVENT, event: 'CashOut' }, 'cash-in'), keyOf({ ...EVENT, event: 'CashOut' }, 'cash-out'))
})

const WORDS = {
  payment_received: ['CONFIRMED', 'PAID', 'CONCLUIDA', 'COMPLETED', 'REALIZADO', 'DEVOLVIDO'],
  failed: [
    'FAILED',
    'REJECTED',
    'ERROR',
    'CANCELED',
    'CANCELLED',
    'NAO_REALIZADO',
    'REMOVIDA_PELO_USUARIO_RECEBEDOR',
    'REMOVIDA_PELO_PSP',
  ],
  in_progress: ['PENDING', 'PROCESSING', 'ATIVA', 'EM_PROCESSAMENTO'],
  changed: ['confirmed', 'SETTLED', 'REMOVIDA', 'OK', 'CONFIRMED ', 'constructor'],
}

for (const [kind, words] of Object.entries(WORDS)) {
  test(`[partner-inbox.6] ${words.join(', ')}: ${kind}`, () => {
    for (const status of words) {
      const event = readable({ ...EVENT, status })
      assert.equal(event.kind, kind, status)
      if (event.kind === 'changed') assert.equal(event.saysMoneyMoved, false, status)
    }
  })
}

test('[partner-inbox.6] a confirmation without an end-to-end id confirms nothing: the bank is queried', () => {
  const { endToEndId, ...rest } = EVENT
  for (const event of [rest, { ...rest, endToEndId: null }]) {
    assert.partialDeepStrictEqual(readable(event), { kind: 'changed', saysMoneyMoved: true })
  }
})

test('[partner-inbox.6] an event has amount, instant, payer and reason', () => {
  assert.partialDeepStrictEqual(readable({ ...EVENT, occurredAt: '2026-11-21T10:15:00.5-03:00' }), {
    kind: 'payment_received',
    references: { transactionId: 'tx' },
    payment: {
      endToEndId: 'E1',
      valueCents: 1000n,
      occurredAt: Date.parse('2026-11-21T13:15:00.500Z'),
      payer: { name: 'Maria', document: '52998224725', ispb: '99999010' },
    },
  })
  assert.partialDeepStrictEqual(readable({ ...EVENT, status: 'REMOVIDA_PELO_PSP', errorMessage: 'gone' }), {
    kind: 'failed',
    references: { transactionId: 'tx' },
    failure: {
      errorCode: 'removida_pelo_psp',
      errorMessage: 'gone',
      occurredAt: Date.parse('2026-11-21T13:15:00.500Z'),
    },
  })
})

test('[partner-inbox.2] a timestamp is Unix seconds, milliseconds or ISO 8601, and nothing else', () => {
  const at = Date.parse('2026-11-21T13:15:00.000Z')
  for (const text of [String(at / 1_000), String(at), '2026-11-21T13:15:00Z', '2026-11-21T10:15:00.000-03:00']) {
    assert.equal(partnerTimestamp(text), at, text)
  }
  for (const text of [
    undefined,
    '',
    'now',
    '-1',
    '1e3',
    '1795266900.5',
    ' 1795266900',
    '0x10',
    '2026-11-21',
    '2026-13-21T13:15:00Z',
    'Sat, 21 Nov 2026 13:15:00 GMT',
    '1'.repeat(17),
  ]) {
    assert.equal(partnerTimestamp(text), undefined, text)
  }
})

test('[partner-inbox.2] a timestamp may be 300 s off, on either side and to the millisecond', () => {
  const now = Date.parse('2026-11-21T13:15:00.000Z')
  for (const [offset, timely] of [
    [0, true],
    [300_000, true],
    [-300_000, true],
    [300_001, false],
    [-300_001, false],
  ] as const) {
    assert.equal(timeliness(String(now + offset), now) === 'proven', timely, String(offset))
  }
})
