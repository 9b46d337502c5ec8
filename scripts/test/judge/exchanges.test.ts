import assert from 'node:assert/strict'
import test from 'node:test'
import { type Exchange, Judge } from '../../judge/exchanges.ts'

/** As much of a document as has each of its mistakes. */
const document = () => ({
  paths: {
    '/{pixUrlAccessToken}': { get: { responses: { 200: {} } } },
    '/pix': {
      get: {
        parameters: [{ name: 'inicio', in: 'query', required: true }],
        responses: { 200: { content: json('PixConsultados') } },
      },
    },
    '/cob/{txid}': {
      put: {
        requestBody: { $ref: '#/components/requestBodies/CobBody' },
        responses: {
          201: { content: json('Cob') },
          400: { content: { 'application/problem+json': schema('Problema') } },
        },
      },
    },
  },
  components: {
    requestBodies: {
      CobBody: { content: json('Cob') },
      WebhookPixBody: { content: { 'application/json': { schema: { type: 'object', required: ['pix'] } } } },
    },
    schemas: {
      TxId: { type: 'string', pattern: '[a-zA-Z0-9]{26,35}' },
      Pix: { properties: { txid: { allOf: [reference('TxId'), { pattern: '[a-zA-Z0-9]{1,35}' }] } } },
      PixConsultados: { required: ['cobs'], properties: { pix: { type: 'array', items: reference('Pix') } } },
      Cob: {
        type: 'object',
        required: ['txid'],
        properties: {
          txid: reference('TxId'),
          cpf: { type: 'string', pattern: '/^\\d{11}$/' },
          location: { type: 'string', format: 'uri', example: 'pix.example.com/qr/v2/2353' },
          infoAdicionais: { type: 'array', maximum: 1 },
        },
      },
      Problema: { type: 'object', required: ['type', 'title', 'status'] },
    },
  },
})

function reference(name: string) {
  return { $ref: `#/components/schemas/${name}` }
}

function schema(name: string) {
  return { schema: reference(name) }
}

function json(name: string) {
  return { 'application/json': schema(name) }
}

const TXID = '0198c0de7a11700080005f1d3c2b1a09'

const put = (change: Partial<Exchange> = {}): Exchange => ({
  method: 'PUT',
  path: `/v2/cob/${TXID}`,
  status: 201,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: { txid: TXID, cpf: '11144477735', location: 'bank.example/qr', infoAdicionais: [1] },
  answer: { txid: TXID },
  ...change,
})

const verdictOn = (exchange: Exchange) => new Judge(document()).verdict(exchange)

test('what fits fits, also where the document errs', () => {
  assert.deepEqual(verdictOn(put()), [])
  const headers = { 'content-type': 'application/json' }
  const list = { method: 'GET', path: '/v2/pix?inicio=x', status: 200, headers, answer: { pix: [{ txid: 'balcao' }] } }
  assert.deepEqual(verdictOn(list), [])
  assert.deepEqual(verdictOn({ ...list, answer: { cobs: [] } }), ["answer must have required property 'pix'"])
  assert.deepEqual(
    new Judge(document()).mended.map((sentence) => /: [1-9]\d* places$/.test(sentence)),
    Array(6).fill(true),
  )
})

for (const [what, change, fault] of [
  ['an answer that lacks something', { answer: {} }, "answer must have required property 'txid'"],
  ['a pattern that fits a part alone', { answer: { txid: `${TXID}-` } }, /^answer\/txid must match pattern/],
  [
    'a body that does not fit',
    { body: { txid: TXID, infoAdicionais: [1, 2] } },
    /^body\/infoAdicionais must NOT have more/,
  ],
  ['another status', { status: 202 }, '202 is no answer of it'],
  ['another media type', { headers: { 'content-type': 'text/html' } }, 'text/html is no media type of 201'],
  [
    'a problem that lacks its title',
    { status: 400, headers: { 'content-type': 'application/problem+json' }, answer: { type: 'x', status: 400 } },
    "answer must have required property 'title'",
  ],
  [
    'a callback without payments',
    { method: 'CALLBACK', path: '/pix', body: {} },
    "callback must have required property 'pix'",
  ],
] as const) {
  test(`it finds ${what}`, () => {
    const [found = ''] = verdictOn(put(change)) ?? []
    if (typeof fault === 'string') assert.equal(found, fault)
    else assert.match(found, fault)
  })
}

test('a query that lacks what is required, or has what is not known, is found; what is no call of the document is not judged', () => {
  const headers = { 'content-type': 'application/json' }
  const list = { method: 'GET', path: '/v2/pix?fim=x', status: 200, headers, answer: { pix: [] } }
  assert.deepEqual(verdictOn(list), ['query: inicio is missing', 'query: fim is not known'])
  assert.equal(verdictOn({ ...list, path: '/v2/gn/saldo' }), undefined)
  assert.equal(verdictOn({ ...list, path: '/v3/gn/pix/1' }), undefined)
  assert.equal(verdictOn({ ...list, path: '/oauth/token' }), undefined)
  assert.equal(verdictOn({ ...list, path: '/v2/cobs/1', status: 404 }), undefined)
  assert.deepEqual(verdictOn({ ...list, path: '/v2/cobs/1' }), [
    'no call of the document, nor one that a bank has besides',
  ])
})
