import assert from 'node:assert/strict'
import test from 'node:test'
import { makeCase } from './cases.ts'
import { createCorpus } from './corpus.ts'
import { documentedOperations } from './documented-operations.ts'
import { complaintsAbout } from './judge.ts'

const operations = documentedOperations.filter(({ id }) => id === 'getLedgerEntry')
const source = {
  operations,
  corpus: createCorpus(),
  seed: 1,
  receiverUrl: '',
  apiKey: 'a',
  adminToken: 'b',
  approverToken: 'd',
  partnerSecret: 'c',
}
/** A right request for something that is not there. */
const fuzzCase = makeCase(source, 0, () => false)

const HEADERS = {
  'content-type': 'application/problem+json; charset=utf-8',
  'x-correlation-id': 'fuzz-0',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}
const PROBLEM = {
  type: '/docs/errors#not_found',
  title: 'Not found',
  status: 404,
  detail: 'resource not found',
  code: 'not_found',
  message: 'resource not found',
  correlationId: 'fuzz-0',
  errors: [],
}

function complaints(
  changes: { status?: number; headers?: object; problem?: object; body?: string },
  about = fuzzCase,
): string {
  const { status = 404, headers = {}, problem = {}, body = JSON.stringify({ ...PROBLEM, ...problem }) } = changes
  const answer = {
    status,
    headers: new Map(Object.entries({ ...HEADERS, ...headers })),
    body: Buffer.from(body),
  }
  return complaintsAbout(about, answer, ['secret']).join('; ')
}

test('[http.1] an answer that is as it should be is no finding', () => {
  assert.equal(complaints({}), '')
})

test('[http.1] a bank that does not answer is no finding where it is documented, and only there', () => {
  const silent = { status: 503, problem: { code: 'partner_unavailable', status: 503 }, headers: { 'retry-after': '1' } }
  const [toBank] = documentedOperations.filter(({ id }) => id === 'getBankBehavior')
  assert.ok(toBank)
  assert.equal(
    complaints(
      silent,
      makeCase({ ...source, operations: [toBank] }, 0, () => false),
    ),
    '',
  )
  assert.match(complaints(silent), /the server failed: 503/)
})

test('[http.1] everything that an answer can be wrong in is one', () => {
  for (const [changes, complaint] of [
    [{ status: 500 }, /the server failed/],
    [{ status: 418 }, /a status that is not documented/],
    [{ status: 401 }, /not the status that was due: 401 instead of 200,404/],
    [{ headers: { 'x-correlation-id': 'another' } }, /another correlation id/],
    [{ headers: { 'x-content-type-options': '' } }, /no X-Content-Type-Options/],
    [{ headers: { 'cache-control': '' } }, /no Cache-Control/],
    [{ headers: { server: 'fastify' } }, /the server names itself/],
    [{ headers: { 'x-debug': '1' } }, /a header that is not documented: x-debug/],
    [{ headers: { 'content-type': 'text/html' } }, /a content type that is not documented/],
    [{ body: '{' }, /JSON that is none/],
    [{ problem: { errors: [1] } }, /a body that is not documented: \/errors\/0 must be object/],
    [{ problem: { code: 'rate_limited' } }, /a code that is not documented/],
    [{ problem: { detail: 'another' } }, /a problem that contradicts itself/],
    [{ problem: { correlationId: 'another' } }, /two correlation ids/],
    [{ problem: { title: 'syntax error at or near "x"' } }, /our inside in an answer/],
    [{ problem: { title: 'secret' } }, /a secret in an answer/],
    [{ problem: { polluted: true } }, /a polluted prototype/],
  ] as const) {
    assert.match(complaints(changes), complaint)
  }
})
