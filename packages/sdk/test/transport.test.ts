import assert from 'node:assert/strict'
import test from 'node:test'
import { cents, Pixgate, PixgateError } from '../src/index.ts'
import { answers, breaks, hangs, refuses, type Step, scripted } from './support/script.ts'

const PAYOUT = {
  externalId: 'payroll-12-ana',
  value: cents(30_00),
  recipient: { pixKey: 'ana@example.com', pixKeyType: 'email' },
} as const

const CREATED = { id: 'p1', externalId: PAYOUT.externalId, status: 'RESERVED', valueCents: 30_00 }

const created = answers(201, CREATED)

/** Creates a payout at a server that follows a script. */
function pays(...steps: readonly Step[]) {
  const { pixgate, ...seen } = scripted(steps)
  return { result: pixgate.cashOuts.create(PAYOUT), ...seen }
}

/** The error of a call, with the fields that a test names. */
async function failing(call: Promise<unknown>): Promise<PixgateError> {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(error instanceof PixgateError, String(error))
  return error
}

test('[sdk.2] an amount is sent in reais, exactly, and the fields of the transaction stand in it', async () => {
  for (const [amount, value] of [
    [1, 0.01],
    [29, 0.29],
    [19_99, 19.99],
    [524_288_13, 524_288.13],
    [9_999_999_999_99, 9_999_999_999.99],
  ] as const) {
    const { pixgate, sent } = scripted([created])
    await pixgate.cashOuts.create({ ...PAYOUT, value: cents(amount), description: 'November' })
    const transaction = { externalId: PAYOUT.externalId, value, description: 'November' }
    assert.deepEqual(sent[0]?.body, { transaction, recipient: PAYOUT.recipient })
  }
})

test('[sdk.2] a plain number is no amount, neither for the compiler nor for the SDK', async () => {
  assert.throws(() => cents(1.5), RangeError)
  assert.throws(() => cents(Number.NaN), RangeError)
  const { pixgate, sent } = scripted([created])
  // @ts-expect-error: 150 may be reais or centavos
  void pixgate.cashOuts.create({ ...PAYOUT, value: 150 })
  // @ts-expect-error: nor is one that a program without types passes
  assert.throws(() => pixgate.cashOuts.create({ ...PAYOUT, value: 1.5 }), RangeError)
  // @ts-expect-error: a refund without a reference is not recognised when it is sent again
  void pixgate.refunds.create('c1', { refundValue: cents(1) })
  assert.equal(sent.length, 2)
})

for (const [name, failure] of [
  ['a connection that breaks', breaks('ECONNRESET')],
  ['a refused connection', breaks('ECONNREFUSED')],
  ['408', () => new Response('', { status: 408 })],
  ['429', refuses(429, 'rate_limited')],
  ['500', refuses(500, 'internal_error')],
  ['502 of a proxy', () => new Response('<html>', { status: 502 })],
  ['503', refuses(503, 'overloaded')],
  ['409 request_in_progress', refuses(409, 'request_in_progress')],
  ['a cut answer', (): Response => new Response('{"id":"p1"', { status: 201 })],
] as const) {
  test(`[sdk.3] after ${name} the same request is sent again under the same Idempotency-Key`, async () => {
    const { result, sent, slept } = pays(failure, failure, created)
    assert.deepEqual(await result, { ...CREATED, replayed: false })
    assert.equal(sent.length, 3)
    assert.equal(new Set(sent.map(({ headers }) => headers.get('idempotency-key'))).size, 1)
    assert.deepEqual(sent[0]?.body, sent[2]?.body)
    assert.deepEqual(slept, [125, 250], 'half of a bound that doubles, as chance is a half')
  })
}

test('[sdk.3] two calls have two keys, unless the caller has one', async () => {
  const { pixgate, sent } = scripted([created])
  await pixgate.cashOuts.create(PAYOUT)
  await pixgate.cashOuts.create(PAYOUT)
  await pixgate.cashOuts.create(PAYOUT, { idempotencyKey: 'mine' })
  const keys = sent.map(({ headers }) => headers.get('idempotency-key'))
  assert.notEqual(keys[0], keys[1])
  assert.equal(keys[2], 'mine')
})

test('[sdk.3] Retry-After is waited for, and a long one is left to the caller', async () => {
  const short = pays(refuses(503, 'overloaded', {}, { 'retry-after': '2' }), created)
  await short.result
  assert.deepEqual(short.slept, [2_125])
  const long = pays(refuses(503, 'cash_out_suspended', {}, { 'retry-after': '60' }), created)
  const { code, retryAfterMs, isSafeToRetry, outcome, attempts } = await failing(long.result)
  const expected = ['cash_out_suspended', 60_000, true, 'not_done', 1]
  assert.deepEqual([code, retryAfterMs, isSafeToRetry, outcome, attempts], expected)
})

test('[sdk.3] it ends after the retries, and what is refused is sent once', async () => {
  const { result, sent } = pays(breaks('ECONNREFUSED'))
  assert.equal((await failing(result)).attempts, 5)
  assert.equal(sent.length, 5)
  for (const status of [400, 401, 403, 404, 422]) {
    const refused = pays(refuses(status, 'validation_error'))
    const error = await failing(refused.result)
    assert.deepEqual([error.isSafeToRetry, error.outcome, refused.sent.length], [false, 'not_done', 1])
  }
})

test('[sdk.3] a POST that has an effect each time is sent again only if it was certainly not carried out', async () => {
  for (const [step, attempts] of [
    [breaks('ECONNRESET'), 1],
    [refuses(500, 'internal_error'), 1],
    [breaks('ECONNREFUSED'), 2],
    [refuses(503, 'partner_unavailable'), 2],
  ] as const) {
    const { pixgate, sent } = scripted([step], { maxRetries: 1 })
    const { outcome, isSafeToRetry } = await failing(pixgate.sandbox.pay('c1'))
    assert.equal(sent.length, attempts)
    assert.deepEqual([outcome, isSafeToRetry], attempts === 1 ? ['unknown', false] : ['not_done', true])
  }
})

test('[sdk.3] a removal that was carried out before its answer was lost is no error', async () => {
  const { pixgate } = scripted([breaks('ECONNRESET'), refuses(404, 'not_found')])
  await pixgate.webhooks.delete('w1')
  const other = scripted([refuses(404, 'not_found')])
  assert.equal((await failing(other.pixgate.webhooks.delete('w1'))).code, 'not_found')
})

test('[sdk.3] an attempt ends in time, and the signal ends the call', async () => {
  const slow = scripted([hangs, created], { timeoutMs: 1 })
  assert.equal((await slow.pixgate.cashOuts.create(PAYOUT)).id, 'p1')
  const stop = new AbortController()
  const aborted = scripted([hangs])
  const call = aborted.pixgate.cashOuts.create(PAYOUT, { signal: stop.signal })
  stop.abort()
  const { code, outcome } = await failing(call)
  assert.deepEqual([code, outcome], ['aborted', 'unknown'])
  const { outcome: before } = await failing(aborted.pixgate.cashOuts.create(PAYOUT, { signal: stop.signal }))
  assert.deepEqual([before, aborted.sent.length], ['not_done', 1])
})

test('[sdk.4] a duplicate with the same payload is the operation that exists', async () => {
  const existing = { id: 'p1', status: 'CONFIRMED', samePayload: true }
  const detail = { ...CREATED, status: 'CONFIRMED' }
  const { result, sent } = pays(refuses(409, 'duplicate_external_id', { existing }), answers(200, detail))
  assert.deepEqual(await result, { ...detail, replayed: true })
  assert.deepEqual([sent[1]?.method, sent[1]?.path], ['GET', '/api/pix/cash-out/p1'])
  const replay = pays(answers(201, CREATED, { 'idempotent-replayed': 'true' }))
  assert.equal((await replay.result).replayed, true)
})

test('[sdk.4] with another payload it is an error that names the operation', async () => {
  const existing = { id: 'p1', status: 'CONFIRMED', samePayload: false }
  const error = await failing(pays(refuses(409, 'duplicate_external_id', { existing })).result)
  assert.ok(error.code === 'duplicate_external_id')
  assert.deepEqual([error.existing.id, error.outcome], ['p1', 'not_done'])
})

test('[sdk.4] where it cannot be read, the error names it', async () => {
  const existing = { id: 'p1', status: 'CONFIRMED', samePayload: true }
  const { result } = pays(refuses(409, 'duplicate_external_id', { existing }), refuses(403, 'insufficient_scope'))
  const error = await failing(result)
  assert.ok(error.code === 'duplicate_external_id' && error.cause instanceof PixgateError)
  assert.deepEqual([error.existing.id, error.cause.code], ['p1', 'insufficient_scope'])
})

test('[sdk.5] after a lost answer no refusal closes the outcome, and the error says what to ask', async () => {
  for (const end of [refuses(401, 'unauthorized'), refuses(422, 'insufficient_balance'), breaks('ECONNREFUSED')]) {
    const { outcome, ask, message } = await failing(pays(breaks('ECONNRESET'), end).result)
    assert.equal(outcome, 'unknown')
    assert.equal(ask, 'cashOuts.list({ external_id: "payroll-12-ana" })')
    assert.ok(message.includes(ask))
  }
  const existing = { id: 'c1', status: 'FAILED' }
  const { outcome } = await failing(pays(breaks('ECONNRESET'), refuses(422, 'partner_refused', { existing })).result)
  assert.equal(outcome, 'not_done', 'the answer names the state of this operation')
})

test('[sdk.6] the answer to another request is none', async () => {
  const foreign: Step = () =>
    new Response(JSON.stringify({ ...CREATED, id: 'p0' }), { status: 201, headers: { 'x-correlation-id': 'another' } })
  assert.equal((await pays(foreign, created).result).id, 'p1')
  const { code, outcome } = await failing(pays(foreign).result)
  assert.deepEqual([code, outcome], ['unexpected_answer', 'unknown'])
})

test('[sdk.6] a creation that answers for another reference is none, also behind a proxy without correlation ids', async () => {
  const foreign: Step = () => new Response(JSON.stringify({ ...CREATED, externalId: 'another' }), { status: 201 })
  const { code, outcome } = await failing(pays(foreign).result)
  assert.deepEqual([code, outcome], ['unexpected_answer', 'unknown'])
})

test('[sdk.6] a redirect is not followed', async () => {
  const moved: Step = () => new Response(null, { status: 302, headers: { location: 'http://elsewhere.test' } })
  assert.equal((await failing(pays(moved).result)).code, 'unexpected_answer')
})

test('[sdk.7] an error has a code that narrows it, what is wrong with which field, and what to do in two languages', async () => {
  const limit = { name: 'day', owner: 'api_key', maxCents: 1, usedCents: 1, freesAt: null }
  const step = refuses(422, 'limit_exceeded', { limit, errors: [{ field: 'a', code: 'b', message: 'c' }] })
  const error = await failing(pays(step).result)
  assert.ok(error.code === 'limit_exceeded')
  assert.deepEqual([error.limit.name, error.errors[0]?.field, error.status], ['day', 'a', 422])
  const portuguese = scripted([step], { language: 'pt-BR' })
  const { fix } = await failing(portuguese.pixgate.cashOuts.create(PAYOUT))
  assert.ok(fix !== '' && error.fix !== '' && fix !== error.fix)
  const narrowed = error
  // @ts-expect-error: this code has no place to read from
  assert.throws(() => narrowed.readFrom.cursor)
})

test('[sdk.7] a code of a newer Pixgate is unexpected, and kept in the problem', async () => {
  const { code, problem } = await failing(pays(refuses(422, 'moon_is_full')).result)
  assert.deepEqual([code, problem?.code], ['unexpected_answer', 'moon_is_full'])
})

test('[sdk.7] the SDK says what is missing, and shows no key', async () => {
  const faulty = (options: ConstructorParameters<typeof Pixgate>[0]) => () => new Pixgate(options)
  assert.throws(faulty({ url: 'pixgate.test', apiKey: 'k' }), { code: 'invalid_argument', operation: 'url' })
  assert.throws(faulty({ url: 'http://pixgate.test', apiKey: '' }), { code: 'invalid_argument', operation: 'token' })
  const { pixgate } = scripted([breaks('ECONNRESET')])
  assert.ok(!JSON.stringify(pixgate).includes('pix_test_0'))
  const { code } = await failing(pixgate.balance.get({ correlationId: 'não' }))
  assert.equal(code, 'invalid_argument')
  const keyed = await failing(pixgate.cashOuts.create(PAYOUT, { idempotencyKey: 'a key' }))
  assert.deepEqual([keyed.code, keyed.operation], ['invalid_argument', 'cashOuts.create'])
  assert.throws(() => pixgate.cashIns.get(''), TypeError)
  assert.throws(() => pixgate.cashIns.get('..'), TypeError)
})

test('[sdk.8] a list reads page after page', async () => {
  const page = (ids: readonly string[], nextCursor: string | null) =>
    answers(200, { data: ids.map((id) => ({ id })), pagination: { hasMore: nextCursor !== null, nextCursor } })
  const { pixgate, sent } = scripted([page(['a', 'b'], 'next'), page([], 'last'), page(['c'], null)])
  const ids: string[] = []
  for await (const { id } of pixgate.cashIns.list({ status: 'PAID', page: 2, limit: undefined })) ids.push(id)
  assert.deepEqual(ids, ['a', 'b', 'c'])
  const query = ['status=PAID&page=2', 'status=PAID&cursor=next', 'status=PAID&cursor=last']
  assert.deepEqual(
    sent.map(({ path }) => path),
    query.map((text) => `/api/pix/cash-in?${text}`),
  )
  assert.equal((await pixgate.cashIns.list().page()).pagination.hasMore, false)
})
