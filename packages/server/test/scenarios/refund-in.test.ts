import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { closedPort } from '../banks/pixgate/scripted-bank.ts'
import { bankWithout } from '../support/bank-without.ts'
import { balances } from '../support/books.ts'
import { cases, inbox, notifiedStatuses } from '../support/evidence.ts'
import { IMPATIENT, TOO_LATE_MS } from '../support/impatience.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { stepUntil } from '../support/stepping.ts'
import { until } from '../support/until.ts'
import { ADMIN_TOKEN, type WorldOptions, world } from '../support/world.ts'

/** A merchant with a paid charge of R$ 100.00; refunds move only when time is put forward. */
async function funded(t: TestContext, environment: Record<string, string> = {}, options: WorldOptions = {}) {
  const pix = await world(t, environment, { isStepped: true, ...options })
  const charge = await pix.charge('100.00')
  const settledAt = new Date(pix.clock.now()).toISOString()
  if (options.bankUrl) await postEvent(pix, paidEvent(charge, { occurredAt: settledAt }))
  else await pix.bankAction(`charges/${charge.id}/pay`)
  const cashIn = await pix.becomes(charge.id, 'PAID')

  const detail = (id: string) => pix.get(`/api/pix/refund/${id}`)
  const ends = (id: string, status: string, stepMs?: number, steps?: number) =>
    stepUntil(pix, `/api/pix/refund/${id}`, status, stepMs, steps)
  /** Puts time forward by so many steps. */
  async function pass(steps: number, stepMs: number) {
    for (let step = 0; step < steps; step++) await pix.later(stepMs)
  }
  /** The cash-in's refundable and refunded amounts. */
  async function counted() {
    const { status, refundedCents, refundableCents } = await pix.read(cashIn.id)
    return { status, refundedCents, refundableCents }
  }
  /** Has the bank say something by hand, whatever is true. */
  async function bankSays(event: Readonly<Record<string, unknown>>) {
    const { status, body } = await pix.bank('POST', '/control/events', {
      endpoint: 'cash-in',
      event: {
        event: 'CashInReversal',
        eventId: 'by-hand',
        endToEndId: cashIn.endToEndId,
        occurredAt: new Date(pix.clock.now()).toISOString(),
        ...event,
      },
    })
    assert.ok(status < 300, JSON.stringify(body))
  }
  /** Resolves as soon as the bank has the refund. */
  async function bankHas(id: string) {
    await until(async () => (await pix.bank('GET', `/refunds/${id}`)).status === 200)
  }
  const refund = (refundValue: number, more: object = {}) =>
    pix.call('POST', `/api/pix/refund-in/${cashIn.id}`, { refundValue, ...more })
  return { ...pix, cashIn, detail, ends, pass, counted, bankSays, bankHas, refund }
}

const SET_ASIDE = { available: 7_000n, reserved: 3_000n, settlement: -10_000n }
const GONE = { available: 7_000n, settlement: -7_000n }
const REST = { available: 10_000n, settlement: -10_000n }

test('[refund-in.create.5] [refund-in.states.7] [refund-in.detail.1] a partial refund is reserved at once, made and notified', async (t) => {
  const pix = await funded(t)
  const answer = await pix.refund(30, { reason: 'One item returned', externalId: 'refund-1' })
  const { id } = answer.body
  assert.equal(answer.status, 201)
  assert.equal(answer.headers.get('location'), `/api/pix/refund/${id}`)
  assert.deepEqual(answer.body, {
    id,
    cashInId: pix.cashIn.id,
    externalId: 'refund-1',
    status: 'PENDING',
    valueCents: 3_000,
    reason: 'One item returned',
    createdAt: answer.body.createdAt,
  })
  assert.deepEqual(await balances(pix.database), SET_ASIDE)
  assert.deepEqual(await pix.counted(), { status: 'PAID', refundedCents: 0, refundableCents: 7_000 })

  const confirmed = await pix.ends(id, 'CONFIRMED')
  assert.equal(confirmed.endToEndId, pix.cashIn.endToEndId)
  assert.match(confirmed.returnId, /^D/)
  assert.notEqual(confirmed.transactionId, pix.cashIn.providerTransactionId)
  assert.equal(confirmed.origin, 'MERCHANT')
  assert.equal(typeof confirmed.confirmedAt, 'string')
  assert.deepEqual([confirmed.failureCode, confirmed.failureReason], [null, null])
  assert.deepEqual(await balances(pix.database), GONE)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED'])
  assert.deepEqual(await pix.counted(), { status: 'PAID', refundedCents: 3_000, refundableCents: 7_000 })
  await pix.assertBooksAgree()
})

test('[refund-in.create.5] [refund-in.create.6] [RF-1] an external id that is left out is the refund’s own; the list finds it', async (t) => {
  const pix = await funded(t)
  const first = await pix.refundIn(pix.cashIn.id, 10)
  const second = await pix.refundIn(pix.cashIn.id, 10)
  assert.deepEqual([first.externalId, 'reason' in first], [first.id, false])
  const { data } = await pix.get(`/api/pix/refund?cash_in_id=${pix.cashIn.id}`)
  assert.deepEqual(
    data.map(({ id }: { id: string }) => id),
    [second.id, first.id],
  )
})

test('[refund-in.create.1] [refund-in.create.2] [RF-11] an invalid refund is refused, in a fixed order of checks', async (t) => {
  const pix = await funded(t)
  const ask = async (path: string, body: object) => {
    const { status, body: problem } = await pix.call('POST', `/api/pix/refund-in/${path}`, body)
    return [status, problem.message]
  }
  const { id } = pix.cashIn
  assert.deepEqual(await ask(id, { refundValue: 1.005 }), [
    400,
    'refundValue must be in reais with at most two decimals',
  ])
  for (const body of [{}, { refundValue: '30' }, { refundValue: 30, value: 30 }])
    assert.equal((await ask(id, body))[0], 400, JSON.stringify(body))

  const used = await pix.refundIn(id, 30, { externalId: 'refund-1' })
  const unpaid = await pix.charge('10.00')
  const notFound = 'original cash-in transaction not found'
  for (const path of ['order-1', pix.cashIn.providerTransactionId, pix.cashIn.endToEndId, used.id])
    assert.deepEqual(await ask(path, { refundValue: 0 }), [422, notFound], path)
  assert.equal((await ask('order-1', { refundValue: 30, externalId: 'refund-1' }))[0], 409, 'a duplicate comes first')
  assert.deepEqual(await ask(unpaid.id, { refundValue: 0 }), [
    422,
    'refunds can only be issued for PAID cash-in transactions',
  ])
  assert.deepEqual(await ask(id, { refundValue: 0 }), [422, 'refundValue must be greater than zero'])
  assert.deepEqual(await ask(id, { refundValue: -1 }), [422, 'refundValue must be greater than zero'])
  assert.deepEqual(await ask(id, { refundValue: 70.01 }), [422, 'refundValue exceeds the amount available for refund'])
  pix.clock.advance(89 * 86_400_000 + 60_000)
  assert.deepEqual(await ask(id, { refundValue: 70.01 }), [422, 'refund deadline of 89 days has been exceeded'])
})

test('[idempotency.2] [refund-in.create.6] the same Idempotency-Key gets the same 201 again', async (t) => {
  const pix = await funded(t)
  const path = `/api/pix/refund-in/${pix.cashIn.id}`
  const ask = (refundValue: number) => pix.call('POST', path, { refundValue }, { 'idempotency-key': 'refund-1' })
  const first = await ask(30)
  await pix.ends(first.body.id, 'CONFIRMED')
  const again = await ask(30)
  assert.deepEqual([again.status, again.body], [201, first.body])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  const other = await ask(31)
  assert.deepEqual([other.status, other.body.code], [422, 'idempotency_key_reused'])
  assert.deepEqual(await balances(pix.database), GONE)
})

test('[refund-in.detail.2] [refund-in.list.1] a refund is found by its own id, and listed by its fields', async (t) => {
  const pix = await funded(t)
  const { id } = await pix.refundIn(pix.cashIn.id, 30, { externalId: 'refund-1' })
  const { id: failedId } = await pix.refundIn(pix.cashIn.id, 20, { externalId: 'refund-2' })
  await pix.bankAction(`charges/${pix.cashIn.id}/return`, { valueCents: 500 })
  await pix.ends(id, 'CONFIRMED')
  for (const text of [pix.cashIn.id, 'refund-1', (await pix.detail(id)).transactionId])
    assert.equal((await pix.call('GET', `/api/pix/refund/${text}`)).status, 404)

  const listed = async (query: string) => {
    const { data, pagination } = await pix.get(`/api/pix/refund?${query}`)
    assert.equal(pagination.total, data.length)
    return data.map(({ valueCents }: { valueCents: number }) => valueCents).toSorted()
  }
  await pix.until(`/api/pix/refund/${failedId}`, ({ status }) => status === 'CONFIRMED')
  await pix.until('/api/pix/refund', ({ data }) => data.length === 3)
  assert.deepEqual(await listed(''), [2_000, 3_000, 500])
  assert.deepEqual(await listed('external_id=refund-1'), [3_000])
  assert.deepEqual(await listed('status=PENDING'), [])
  assert.deepEqual(await listed(`cash_in_id=${pix.cashIn.id.toUpperCase()}&limit=100`), [2_000, 3_000, 500])
  assert.deepEqual(await listed(`end_to_end_id=${pix.cashIn.endToEndId}`), [2_000, 3_000, 500])
  assert.deepEqual(await listed(`cash_in_id=${id}`), [])
  assert.equal((await pix.call('GET', '/api/pix/refund?status=PAID')).status, 400)
})

test('[refund-in.states.4] [RF-7] a refusal is the end: FAILED, notified once, and it can be refunded again', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'reject' })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  const failed = await pix.ends(id, 'FAILED')
  assert.equal(typeof failed.failureCode, 'string')
  assert.deepEqual(await balances(pix.database), REST)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'FAILED'])
  assert.equal((await pix.counted()).refundableCents, 10_000)
})

test('[refund-in.states.8] [RF-7] a failure that the bank’s answer confirms releases the money', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'fail' })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await pix.ends(id, 'FAILED')
  assert.deepEqual(await balances(pix.database), REST)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'FAILED'])
  await pix.assertBooksAgree()
})

test('[refund-in.states.9] a failure that only an event reports frees nothing', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'manual' })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await pix.later(1_000)
  await pix.bankSays({ transactionId: 'by-hand', externalId: id, status: 'FAILED', valueCents: 3_000 })
  await pix.pass(5, 1_000)
  assert.equal((await pix.detail(id)).status, 'PENDING')
  assert.deepEqual(await balances(pix.database), SET_ASIDE)
  await pix.bankAction(`refunds/${id}/confirm`)
  await pix.ends(id, 'CONFIRMED')
  await pix.assertBooksAgree()
})

test('[refund-in.unknown.1] [RF-6] a lost answer leaves it PENDING until a query ends the doubt; the refund was made once', async (t) => {
  const pix = await funded(t, IMPATIENT)
  await pix.behave({ refundIn: 'lost-response', eventDelayMs: 3_600_000 })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await pix.later(100)
  assert.equal((await pix.detail(id)).status, 'PENDING')
  assert.deepEqual(await balances(pix.database), SET_ASIDE)
  assert.equal((await pix.counted()).refundableCents, 7_000)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  await pix.ends(id, 'CONFIRMED', 5_000)
  assert.deepEqual(await balances(pix.database), GONE)
  await pix.assertBooksAgree()
})

test('[refund-in.unknown.2] [RF-6] [CO-42] an order that never arrived is sent again under the same id once the bank, queried, does not know it', async (t) => {
  const pix = await funded(t, IMPATIENT)
  await pix.behave({ refundIn: 'timeout' })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await pix.later(100)
  await pix.behave({ refundIn: 'auto' })
  assert.equal((await pix.bank('GET', `/refunds/${id}`)).status, 404)
  await pix.later(6_000)
  assert.equal((await pix.bank('GET', `/refunds/${id}`)).status, 200)
  await pix.ends(id, 'CONFIRMED', 1_000)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED'])
  await pix.assertBooksAgree()
})

test('[refund-in.unknown.4] [RF-6] a bank without an answer for fifteen minutes is a case; its answer closes it', async (t) => {
  // Its statement would show what left, where it is read before the bank falls silent.
  const pix = await funded(t, IMPATIENT, bankWithout('statement'))
  await pix.behave({ refundIn: 'lost-response', eventDelayMs: 3_600_000 })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await pix.later(100)
  await pix.behave({ latencyMs: TOO_LATE_MS })
  await pix.pass(17, 60_000)
  assert.deepEqual(await cases(pix.database), ['outcome_unknown'])
  assert.deepEqual(await balances(pix.database), SET_ASIDE, 'a timeout never releases money')
  await pix.behave({ latencyMs: 0 })
  await pix.ends(id, 'CONFIRMED', 60_000)
  assert.deepEqual(await cases(pix.database), ['outcome_unknown (closed)'])
  await pix.assertBooksAgree()
})

test('[refund-in.states.6] [refund-in.work.4] [RF-7] a bank that cannot be reached costs no money', async (t) => {
  const pix = await funded(t, { PIXGATE_PARTNER_CREATE_BUDGET_MS: '100' }, { bankUrl: await closedPort() })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await pix.pass(29, 60_000)
  assert.deepEqual(await balances(pix.database), SET_ASIDE)
  await pix.pass(3, 60_000)
  const failed = await pix.detail(id)
  assert.deepEqual([failed.status, failed.failureCode], ['FAILED', 'never_sent'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'FAILED'])
  assert.deepEqual(await balances(pix.database), REST)
})

test('[refund-in.work.4] [operator.switch.2] while the switch is off a refund waits; on it goes', async (t) => {
  const pix = await funded(t)
  const turn = async (enabled: boolean) => {
    const authorization = `Bearer ${ADMIN_TOKEN}`
    const { status } = await pix.call(
      'PUT',
      '/operator/cash-out-switch',
      { enabled, reason: 'test' },
      { authorization },
    )
    assert.equal(status, 200)
  }
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await turn(false)
  await pix.pass(3, 60_000)
  assert.equal((await pix.detail(id)).status, 'PENDING')
  await turn(true)
  await pix.ends(id, 'CONFIRMED')
  await pix.assertBooksAgree()
})

test('[EV-28] [refund-in.states.7] [refund-in.ended.1] a confirmation that overtakes the answer counts; the answer fills in the rest', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'manual', latencyMs: 300 })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  const sending = pix.later(100)
  await pix.bankHas(id)
  await pix.bankAction(`refunds/${id}/confirm`)
  await sending
  await pix.ends(id, 'CONFIRMED')
  assert.notEqual((await pix.detail(id)).transactionId, null)
  assert.deepEqual(await balances(pix.database), GONE)
  await pix.assertBooksAgree()
})

test('[refund-in.doubt.4] another amount than the refund is in suspense, and all of it stays reserved', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'manual' })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await pix.later(1_000)
  await pix.bankAction(`refunds/${id}/confirm`, { valueCents: 2_999 })
  while ((await cases(pix.database)).length === 0) await pix.later(1_000)
  assert.equal((await pix.detail(id)).status, 'PENDING')
  assert.deepEqual(await cases(pix.database), ['debit_in_suspense'])
  assert.deepEqual(await balances(pix.database), {
    available: 7_000n,
    reserved: 3_000n,
    settlement: -7_001n,
    suspense_out: -2_999n,
  })
  assert.deepEqual(await pix.counted(), { status: 'PAID', refundedCents: 2_999, refundableCents: 4_001 })
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  await pix.pass(2, 3_600_000)
  await pix.assertBooksAgree()
})

test('[RF-8] [refund-in.ended.6] money sent after the failure is held again as far as available, and counts', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'fail' })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await pix.ends(id, 'FAILED')
  await pix.bankAction(`refunds/${id}/confirm`, { despiteFailure: true })
  await pix.until(`/api/pix/cash-in/${pix.cashIn.id}`, ({ refundedCents }) => refundedCents === 3_000)
  assert.deepEqual(await cases(pix.database), ['debit_in_suspense'])
  assert.equal((await pix.detail(id)).status, 'FAILED')
  assert.deepEqual(await balances(pix.database), {
    available: 7_000n,
    reserved: 3_000n,
    settlement: -7_000n,
    suspense_out: -3_000n,
  })
  assert.equal((await pix.refund(70.01)).body.code, 'refund_exceeds_available')
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'FAILED'])
  await pix.assertBooksAgree()
})

test('[RF-9] [refund-in.states.9] an event of a failure after the confirmation causes a query and changes nothing', async (t) => {
  const pix = await funded(t)
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  const { transactionId } = await pix.ends(id, 'CONFIRMED')
  await pix.bankSays({ transactionId, externalId: id, status: 'FAILED', valueCents: 3_000 })
  await pix.pass(3, 1_000)
  assert.deepEqual(await cases(pix.database), [])
  assert.equal((await pix.detail(id)).status, 'CONFIRMED')
  assert.deepEqual(await balances(pix.database), GONE)
})

test('[RF-9] [refund-in.ended.4] a failure after the confirmation releases nothing', async (t) => {
  const pix = await funded(t)
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  const { transactionId } = await pix.ends(id, 'CONFIRMED')
  await pix.bank('PUT', '/control/lies', { perThousand: { falseFailure: 1_000 } })
  await pix.bankSays({ transactionId, externalId: id, status: 'FAILED', valueCents: 3_000 })
  await pix.pass(3, 1_000)
  assert.deepEqual(await cases(pix.database), ['bank_contradicts'])
  assert.equal((await pix.detail(id)).status, 'CONFIRMED')
  assert.deepEqual(await balances(pix.database), GONE)
})

test('[RF-5] [refund-in.create.2] a cash-in that needs reconciliation lets its open refund go on and accepts no new one', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'manual' })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await pix.later(1_000)
  await pix.bank('PUT', '/control/lies', { perThousand: { falseFailure: 1_000 } })
  await pix.bankSays({
    event: 'CashIn',
    transactionId: pix.cashIn.providerTransactionId,
    externalId: pix.cashIn.id,
    status: 'FAILED',
    valueCents: 10_000,
  })
  await pix.becomes(pix.cashIn.id, 'RECONCILIATION_REQUIRED')
  await pix.bank('PUT', '/control/lies', {})
  assert.equal((await pix.refund(10)).body.code, 'cash_in_not_paid')
  await pix.bankAction(`refunds/${id}/confirm`)
  await pix.ends(id, 'CONFIRMED')
  assert.deepEqual(await pix.counted(), {
    status: 'RECONCILIATION_REQUIRED',
    refundedCents: 3_000,
    refundableCents: 0,
  })
  assert.deepEqual(await balances(pix.database), GONE)
  await pix.assertBooksAgree()
})

test('[EV-27] [refund-in.returns.1] partial returns made by the bank are debited one by one, each notified once', async (t) => {
  const pix = await funded(t)
  await pix.behave({ eventCopies: 3 })
  for (const valueCents of [1_000, 2_500]) await pix.bankAction(`charges/${pix.cashIn.id}/return`, { valueCents })
  const { data } = await pix.until(
    `/api/pix/refund?cash_in_id=${pix.cashIn.id}`,
    ({ pagination }) => pagination.total === 2,
  )
  await pix.pass(3, 1_000)
  for (const { origin, status, externalId, id, endToEndId } of data)
    assert.deepEqual([origin, status, externalId, endToEndId], ['PARTNER', 'CONFIRMED', id, pix.cashIn.endToEndId])
  assert.deepEqual(await balances(pix.database), { available: 6_500n, settlement: -6_500n })
  assert.deepEqual(await pix.counted(), { status: 'PAID', refundedCents: 3_500, refundableCents: 6_500 })
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED', 'CONFIRMED'])
  await pix.assertBooksAgree()
})

test('[EV-27] [refund-in.returns.4] parts that the bank reports by the payment’s own reference are distinguished', async (t) => {
  const pix = await funded(t, {}, bankWithout('query-charge'))
  for (const returnId of ['D1', 'D2', 'D1']) {
    await pix.bankSays({
      transactionId: pix.cashIn.providerTransactionId,
      status: 'DEVOLVIDO',
      returnId,
      valueCents: 1_000,
    })
    await pix.later(1_000)
  }
  assert.equal((await pix.counted()).refundedCents, 2_000)
  assert.equal((await balances(pix.database)).settlement, -8_000n)
})

test('[RF-10] [EV-27] a return made by the bank crosses a refund of ours: both are booked, and an excess is a case', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'manual' })
  const { id } = await pix.refundIn(pix.cashIn.id, 80)
  await pix.later(1_000)
  await pix.bankAction(`charges/${pix.cashIn.id}/return`, { valueCents: 4_000 })
  await pix.until(`/api/pix/cash-in/${pix.cashIn.id}`, ({ refundedCents }) => refundedCents === 4_000)
  assert.deepEqual(await cases(pix.database), [])
  const owing = await balances(pix.database)
  assert.deepEqual([owing.available ?? 0n, owing.reserved, owing.receivable], [0n, 8_000n, -2_000n])
  await pix.bankAction(`refunds/${id}/confirm`)
  await pix.ends(id, 'CONFIRMED')
  assert.deepEqual(await cases(pix.database), ['bank_contradicts'])
  assert.deepEqual(await pix.counted(), { status: 'PAID', refundedCents: 12_000, refundableCents: 0 })
  await pix.assertBooksAgree()
})

test('[EV-26] an event whose references mean different refunds changes neither', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'manual' })
  const first = await pix.refundIn(pix.cashIn.id, 30, { externalId: 'refund-1' })
  await pix.refundIn(pix.cashIn.id, 30, { externalId: 'refund-2' })
  await pix.later(1_000)
  const { transactionId } = await pix.until(`/api/pix/refund/${first.id}`, (it) => it.transactionId !== null)
  await pix.bankSays({
    transactionId,
    externalId: 'refund-2',
    status: 'CONFIRMED',
    returnId: 'D1',
    valueCents: 3_000,
  })
  await pix.pass(3, 1_000)
  assert.ok((await inbox(pix.database)).some(({ outcome }) => outcome === 'its references disagree'))
  const { data } = await pix.get('/api/pix/refund?status=PENDING')
  assert.equal(data.length, 2)
  assert.equal((await balances(pix.database)).reserved, 6_000n)
})

test('[EV-27b] [refund-in.returns.3] a return that overtakes its payment waits for it, and both are notified in order', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await pix.behave({ eventDelayMs: 3_600_000 })
  const charge = await pix.charge('100.00')
  const { endToEndId } = await pix.bankAction(`charges/${charge.id}/pay`)
  const { returnId } = await pix.bankAction(`charges/${charge.id}/return`, { valueCents: 4_000 })
  await postEvent(pix, {
    event: 'CashInReversal',
    eventId: 'early',
    transactionId: charge.providerTransactionId,
    status: 'DEVOLVIDO',
    endToEndId,
    returnId,
    valueCents: 4_000,
    occurredAt: new Date(pix.clock.now()).toISOString(),
  })
  for (let second = 0; second < 10; second++) await pix.later(1_000)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED'])
  assert.deepEqual(await balances(pix.database), { available: 6_000n, settlement: -6_000n })
  await pix.assertBooksAgree()
})
