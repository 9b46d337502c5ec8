import assert from 'node:assert/strict'
import test from 'node:test'
import { type CallbackOrigin, createApiPixInbound } from '../../../src/banks/api-pix/inbound.ts'
import type { ReadableEvent } from '../../../src/banks/inbound.ts'
import { E2E, ID, PIX, TXID } from './fixture.ts'

const REFUND_ID = '0198c0de7a1170008000000000000001'
const SECRET = 'a secret of the address'

const parse = (body: unknown) =>
  createApiPixInbound({ secrets: [] }).parse(
    'api-pix',
    Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  ) as readonly ReadableEvent[]

const RETURNED = { ...PIX, devolucoes: [{ id: REFUND_ID.replaceAll('-', ''), valor: '1.00', status: 'DEVOLVIDO' }] }
const SENT = {
  endToEndId: E2E,
  chave: 'x',
  tipo: 'SOLICITACAO',
  status: 'REALIZADO',
  valor: '0.01',
  horario: null,
  gnExtras: { idEnvio: TXID },
}

/** Queries caused, by subject and by our id. */
const asked = (body: unknown) => parse(body).map(({ subject, references }) => [subject, references.externalId])

test('[api-pix.11] each item causes a query of the operation it names', () => {
  assert.deepEqual(asked({ pix: [PIX] }), [['charge', ID]])
  assert.deepEqual(asked({ pix: [RETURNED] }), [
    ['charge', ID],
    ['refund', REFUND_ID],
  ])
  assert.deepEqual(asked({ pix: [SENT] }), [['payout', ID]])
  assert.deepEqual(asked({ pix: [PIX, SENT, PIX] }), [
    ['charge', ID],
    ['payout', ID],
    ['charge', ID],
  ])
})

test('[api-pix.11] an item’s statements about money are not used', () => {
  const [event] = parse({ pix: [PIX] })
  assert.deepEqual([event?.kind, 'payment' in (event ?? {})], ['changed', false])
  assert.deepEqual(Object.keys(event?.evidence ?? {}), ['subject', 'id'])
})

test('[api-pix.11] a return by the bank names its payment, which identifies the charge', () => {
  assert.equal(parse({ pix: [RETURNED] })[1]?.references.endToEndId, E2E)
})

test('[api-pix.11] a repeated report is the same event, a changed one another', () => {
  const keysOf = (body: unknown) => parse(body).map(({ key }) => JSON.stringify(key))
  assert.deepEqual(keysOf({ pix: [PIX] }), keysOf({ pix: [{ ...PIX, valor: '1.00', infoPagador: 'x' }] }))
  const all = [
    ...keysOf({ pix: [RETURNED] }),
    ...keysOf({ pix: [{ ...PIX, endToEndId: `${E2E.slice(0, -1)}z` }] }),
    ...keysOf({ pix: [SENT] }),
    ...keysOf({ pix: [{ ...SENT, status: 'NAO_REALIZADO' }] }),
    ...keysOf({ pix: [{ ...SENT, devolucoes: [{ rtrId: 'D1' }] }] }),
  ]
  assert.equal(new Set(all).size, all.length)
})

test('[api-pix.11] [api-pix.18] a payment is queried for every form of the list', () => {
  const forms = [{ pix: PIX }, [PIX], PIX, { pix: [{ ...PIX, devolucoes: null, gnExtras: null, status: null }] }]
  for (const form of forms) assert.deepEqual(asked(form), [['charge', ID]], JSON.stringify(form))
})

test('[api-pix.11] [api-pix.18] a payment is queried for every form of Efí’s own members', () => {
  for (const gnExtras of ['x', 0, [], { idEnvio: 7 }, { pagador: 'x' }])
    assert.deepEqual(asked({ pix: [{ ...PIX, gnExtras }] }), [['charge', ID]], JSON.stringify(gnExtras))
})

test('[api-pix.18] an odd item hides no other', () => {
  const odd = { ...PIX, devolucoes: ['odd', { id: 1 }, { id: REFUND_ID.replaceAll('-', ''), status: null }] }
  assert.deepEqual(asked({ pix: [1, { txid: 2 }, odd] }), [
    ['charge', ID],
    ['refund', REFUND_ID],
  ])
})

for (const [name, body, isRead] of [
  ['a payment', { pix: [PIX] }, true],
  ['no item', { pix: [] }, true],
  ['no body, as a test of the address', '', true],
  ['Efí’s test of the address', { evento: 'teste_webhook' }, true],
  ['an odd item', { pix: [PIX, { txid: 2 }] }, false],
  ['an odd return', { pix: [{ ...PIX, devolucoes: ['odd'] }] }, false],
  ['another object', { pagamento: PIX }, false],
  ['no JSON', '{"pix":[', false],
  ['a character that no database keeps', `{"pix":[{"txid":"${TXID}","infoPagador":"\\u0000"}]}`, false],
] as const)
  test(`[api-pix.11] a callback with ${name} is ${isRead ? 'read' : 'not read as a whole, and says so'}`, () => {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    assert.equal(createApiPixInbound({ secrets: [] }).unread?.(bytes) === undefined, isRead)
  })

for (const [name, body] of [
  ['the bank’s test call', { evento: 'teste_webhook' }],
  ['an empty list', { pix: [] }],
  ['a payment to the key itself', { pix: [{ ...PIX, txid: undefined }] }],
  ['no JSON', '{"pix":['],
  ['no object', '[]'],
  ['a list of something else', { pix: [1] }],
  ['an id without end', { pix: [{ txid: 'a'.repeat(129) }] }],
  ['a character that no database keeps', `{"pix":[{"txid":"${TXID}","infoPagador":"\\u0000"}]}`],
] as const) {
  test(`[api-pix.11] ${name} causes no query and is not stored`, () => {
    assert.deepEqual(parse(body), [])
  })
}

/** Caller by configuration and by the proof it shows. */
const callers: [name: string, origin: CallbackOrigin, search: string, address: string, judgement: string][] = [
  ['nothing wanted, nothing shown', { secrets: [] }, '', '203.0.113.7', 'unproven'],
  ['the secret', { secrets: [SECRET] }, `hmac=${encodeURIComponent(SECRET)}`, '203.0.113.7', 'unproven'],
  ['the secret, with what the bank appends', { secrets: ['abc'] }, 'hmac=abc/pix', '203.0.113.7', 'unproven'],
  ['the secret, with Efí’s parameter', { secrets: ['abc'] }, 'hmac=abc&ignorar=/pix', '203.0.113.7', 'unproven'],
  ['the secret before it', { secrets: ['new', 'abc'] }, 'hmac=abc', '203.0.113.7', 'unproven'],
  ['another secret', { secrets: ['abc'] }, 'hmac=abd', '203.0.113.7', 'refused'],
  ['a part of it', { secrets: ['abc'] }, 'hmac=ab', '203.0.113.7', 'refused'],
  ['none', { secrets: ['abc'] }, '', '203.0.113.7', 'refused'],
  ['an empty one', { secrets: ['abc'] }, 'hmac=', '203.0.113.7', 'refused'],
  ['the bank’s address', { secrets: [], isFromBank: (one) => one === '192.0.2.1' }, '', '192.0.2.1', 'unproven'],
  ['another address', { secrets: [], isFromBank: (one) => one === '192.0.2.1' }, '', '203.0.113.7', 'refused'],
  ['the address without the secret', { secrets: ['abc'], isFromBank: () => true }, '', '192.0.2.1', 'refused'],
]
for (const [name, origin, search, remoteAddress, expected] of callers) {
  test(`[api-pix.11] ${name}: ${expected}`, () => {
    const judgement = createApiPixInbound(origin).authenticate({
      headers: {},
      body: Buffer.from('{}'),
      remoteAddress,
      search,
      nowMs: 0,
    })
    assert.equal(typeof judgement === 'string' ? judgement : judgement.origin, expected)
    assert.doesNotMatch(JSON.stringify(judgement), /abc|abd/)
  })
}
