import assert from 'node:assert/strict'
import test from 'node:test'
import { authorizedLink, createTokens, type TokensOptions } from '../../../src/banks/api-pix/link.ts'
import type { Outcome, PartnerCall, PartnerLink } from '../../../src/banks/link.ts'
import { answered, scripted } from './scripted.ts'

const CALL = { method: 'GET', path: '/v2/cob/1' } as const
const FINE = answered(200, { fine: true })
const SECRET = 'the client secret'
const FORM = { encoding: 'form', credentials: 'header' } as const
const PLAIN = { added: [], values: { 'client id': undefined, 'application key': undefined, account: undefined } }
const granted = (token: string, seconds = 3_600) => answered(200, { access_token: token, expires_in: seconds })

/** A bank with an address for tokens and one for calls, each with its script. */
function connected(grants: readonly Outcome[], answers: readonly Outcome[], form: TokensOptions['form'] = FORM) {
  let now = 0
  const [forTokens, forCalls] = [scripted(...grants), scripted(...answers)]
  const tokens = createTokens({
    link: forTokens,
    path: '/oauth/token',
    clientId: 'client',
    clientSecret: SECRET,
    scopes: ['cob.read', 'pix.read'],
    form,
    monotonicMs: () => now,
  })
  const link = authorizedLink({ ...forCalls, close: async () => undefined }, tokens, PLAIN)
  return { link, asked: forTokens.calls, called: forCalls.calls, pass: (ms: number) => (now += ms) }
}

const bearers = (calls: readonly PartnerCall[]) => calls.map(({ authorization }) => authorization)

test('[api-pix.1] a token is requested with Basic authentication, the grant and the scopes, as a form', async () => {
  const { link, asked, called } = connected([granted('abc')], [FINE])
  assert.deepEqual(await link.exchange(CALL), FINE)
  const [{ method, path, authorization, form } = {} as PartnerCall] = asked
  assert.deepEqual([method, path], ['POST', '/oauth/token'])
  assert.equal(authorization, `Basic ${Buffer.from(`client:${SECRET}`).toString('base64')}`)
  assert.equal(form?.toString(), 'grant_type=client_credentials&scope=cob.read+pix.read')
  assert.deepEqual(bearers(called), ['Bearer abc'])
})

test('[api-pix.1] a bank that takes only JSON gets the same as JSON', async () => {
  const { link, asked } = connected([granted('abc')], [FINE], { ...FORM, encoding: 'json' })
  await link.exchange(CALL)
  assert.deepEqual(asked[0]?.body, { grant_type: 'client_credentials', scope: 'cob.read pix.read' })
})

test('[api-pix.1] a hundred calls at once request one token', async () => {
  const { link, asked, called } = connected([granted('abc')], Array(100).fill(FINE))
  await Promise.all(Array.from({ length: 100 }, () => link.exchange(CALL)))
  assert.equal(asked.length, 1)
  assert.deepEqual(new Set(bearers(called)), new Set(['Bearer abc']))
})

test('[api-pix.1] a token is not used in its last minute', async () => {
  const { link, called, pass } = connected([granted('first', 120), granted('second', 120)], [FINE, FINE, FINE])
  await link.exchange(CALL)
  pass(59_999)
  await link.exchange(CALL)
  pass(1)
  await link.exchange(CALL)
  assert.deepEqual(bearers(called), ['Bearer first', 'Bearer first', 'Bearer second'])
})

test('[api-pix.1] a token that ends sooner is used by the calls that waited for it', async () => {
  const { link, asked } = connected([granted('a', 10), granted('b', 10)], [FINE, FINE, FINE])
  await Promise.all([link.exchange(CALL), link.exchange(CALL)])
  assert.equal(asked.length, 1)
  await link.exchange(CALL)
  assert.equal(asked.length, 2)
})

test('[api-pix.1] a call answered 401 is repeated once, with a new token', async () => {
  const { link, called } = connected([granted('old'), granted('new')], [answered(401, {}), FINE])
  assert.deepEqual(await link.exchange(CALL), FINE)
  assert.deepEqual(bearers(called), ['Bearer old', 'Bearer new'])
})

test('[api-pix.1] a call that is answered 401 twice is answered 401', async () => {
  const { link, called } = connected([granted('old'), granted('new')], [answered(401, {}), answered(401, {}), FINE])
  assert.deepEqual(await link.exchange(CALL), answered(401, {}))
  assert.equal(called.length, 2)
})

test('[api-pix.1] several calls refused with one token request one new token', async () => {
  const answers = [answered(401, {}), answered(401, {}), FINE, FINE]
  const { link, asked } = connected([granted('old'), granted('new')], answers)
  assert.deepEqual(await Promise.all([link.exchange(CALL), link.exchange(CALL)]), [FINE, FINE])
  assert.equal(asked.length, 2)
})

/** Outcome of a token request, and of a call after it. */
const failures: [name: string, outcome: Outcome, call: Outcome][] = [
  ['wrong credentials', answered(401, {}), { kind: 'not sent', reason: 'no token: HTTP 401', httpStatus: 401 }],
  ['a client unknown', answered(400, {}), { kind: 'not sent', reason: 'no token: HTTP 400', httpStatus: 401 }],
  ['a certificate refused', answered(403, {}), { kind: 'not sent', reason: 'no token: HTTP 403', httpStatus: 401 }],
  ['a bank away', answered(503, {}), { kind: 'not sent', reason: 'no token: HTTP 503', httpStatus: 503 }],
  ['a page of a proxy', answered(200, undefined), { kind: 'not sent', reason: 'no token: HTTP 200', httpStatus: 200 }],
  [
    'a token that no header carries',
    granted('a\nb'),
    { kind: 'not sent', reason: 'no token: HTTP 200', httpStatus: 200 },
  ],
  ['silence', { kind: 'lost', reason: 'timeout' }, { kind: 'not sent', reason: 'timeout' }],
  ['nobody there', { kind: 'not sent', reason: 'ECONNREFUSED' }, { kind: 'not sent', reason: 'ECONNREFUSED' }],
]
for (const [name, outcome, call] of failures) {
  test(`[api-pix.1] [AP-8] without a token no call is sent: ${name}`, async () => {
    const { link, called } = connected([outcome], [FINE])
    assert.deepEqual(await link.exchange(CALL), call)
    assert.equal(called.length, 0)
  })
}

test('[api-pix.1] a refused call stays refused without a new token', async () => {
  const { link, called } = connected([granted('old'), answered(503, {})], [answered(401, {})])
  assert.deepEqual(await link.exchange(CALL), answered(401, {}))
  assert.equal(called.length, 1)
})

test('[api-pix.1] after a failed token request the next call requests one again', async () => {
  const { link } = connected([answered(503, {}), granted('abc')], [FINE])
  await link.exchange(CALL)
  assert.deepEqual(await link.exchange(CALL), FINE)
})

test('[api-pix.1] deadline and window apply to both attempts', async () => {
  const given: unknown[] = []
  const tokens = createTokens({
    link: scripted(granted('a'), granted('b')),
    path: '/oauth/token',
    clientId: 'client',
    clientSecret: SECRET,
    scopes: [],
    form: FORM,
    monotonicMs: () => 0,
  })
  const inner: PartnerLink = {
    exchange: async (_call, deadline, window) => {
      given.push([deadline, window])
      return answered(401, {})
    },
    close: async () => undefined,
  }
  const [deadline, window] = [new AbortController().signal, { isOver: () => false }]
  await authorizedLink(inner, tokens, PLAIN).exchange(CALL, deadline, window)
  assert.deepEqual(given, [
    [deadline, window],
    [deadline, window],
  ])
})

test('[api-pix.1] [P6] an unsent second attempt proves nothing about the first', async () => {
  const { link } = connected(
    [granted('old'), granted('new')],
    [answered(401, {}), { kind: 'not sent', reason: 'timeout' }],
  )
  assert.deepEqual(await link.exchange(CALL), answered(401, {}))
})
