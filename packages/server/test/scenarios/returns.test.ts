import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { balances } from '../support/books.ts'
import { caseFacts, cases, inbox, notifiedStatuses } from '../support/evidence.ts'
import { IMPATIENT, TOO_LATE_MS } from '../support/impatience.ts'
import { postEvent } from '../support/partner-events.ts'
import { stepUntil } from '../support/stepping.ts'
import { poll, until } from '../support/until.ts'
import { world } from '../support/world.ts'

/**
 * A truthful bank that tells of returns by its own ids only, and before it has answered our call: whose a return is that
 * names no refund of ours.
 */

interface ReturnFields {
  readonly transactionId: string
  readonly returnId: string
  readonly valueCents: number
}

/** A merchant with a paid charge of R$ 100.00, and a bank whose events the test sends, without our ids. */
async function funded(t: TestContext, environment: Record<string, string> = {}) {
  const pix = await world(t, environment, { isStepped: true })
  const cashIn = await pix.paid('100.00')
  const book = async () => (await pix.bank('GET', '/control/book')).body
  // From now on the bank keeps its events to itself.
  await pix.behave({ eventDelayMs: 3_600_000 })

  /** Tells what the bank would: of a return, by its own ids. Resolves when that was applied. */
  async function postReturn({ transactionId, returnId, valueCents }: ReturnFields, given: object = {}): Promise<void> {
    const status = await postEvent(pix, {
      event: 'CashInReversal',
      eventId: `event of ${returnId}`,
      transactionId,
      status: 'CONFIRMED',
      endToEndId: cashIn.endToEndId,
      returnId,
      valueCents,
      occurredAt: new Date(pix.clock.now()).toISOString(),
      ...given,
    })
    assert.equal(status, 200)
    await until(async () => (await inbox(pix.database)).every(({ state }) => state !== 'NEW'))
  }
  async function refundsAtBank(count: number, status: string): Promise<(ReturnFields & { readonly id: string })[]> {
    return poll(
      async () => (await book()).refunds.filter((refund: { status: string }) => refund.status === status),
      (refunds) => refunds.length === count,
    )
  }
  async function carriedOut(id: string): Promise<ReturnFields> {
    await pix.bankAction(`refunds/${id}/confirm`)
    return (await book()).refunds.find((refund: { id: string }) => refund.id === id)
  }
  async function takenBack(valueCents: number): Promise<ReturnFields> {
    const { returnId } = await pix.bankAction(`charges/${cashIn.id}/return`, { valueCents })
    const event = (await book()).events.pending.find((pending: { returnId?: string }) => pending.returnId === returnId)
    return event
  }
  /** Sends a refund of so many reais that the bank takes at once and answers late; `answered` lets it answer. */
  async function sendUnanswered(reais: number) {
    await pix.behave({ refundIn: 'manual', latencyMs: 2_000 })
    const { id } = await pix.refundIn(cashIn.id, reais)
    const answered = pix.later(100)
    await refundsAtBank(1, 'PROCESSING')
    await pix.behave({ latencyMs: 0 })
    return { id, answered }
  }
  const ends = (id: string, status: string, stepMs?: number) => stepUntil(pix, `/api/pix/refund/${id}`, status, stepMs)
  async function pass(steps: number, stepMs: number) {
    for (let step = 0; step < steps; step++) await pix.later(stepMs)
  }
  /** The refunds of the charge, oldest first: origin, status and return. */
  async function refunds() {
    const { data } = await pix.get(`/api/pix/refund?cash_in_id=${cashIn.id}`)
    return data.map(({ origin, status, returnId }: Record<string, string>) => [origin, status, returnId]).toReversed()
  }
  return { ...pix, cashIn, postReturn, refundsAtBank, carriedOut, takenBack, sendUnanswered, ends, pass, refunds }
}

const SET_ASIDE = { available: 7_000n, reserved: 3_000n, settlement: -10_000n }

test('[RF-12] [cash-in.returns.1] [cash-in.returns.2] a refund that is reported by the bank’s id before its answer is ours, and debited once', async (t) => {
  const pix = await funded(t)
  const { id, answered } = await pix.sendUnanswered(30)
  const done = await pix.carriedOut(id)
  await pix.postReturn(done)
  assert.equal((await pix.get(`/api/pix/refund/${id}`)).transactionId, null, 'nobody knows its name yet')
  assert.deepEqual(await balances(pix.database), SET_ASIDE, 'nothing is booked before it is known')
  assert.equal((await pix.read(pix.cashIn.id)).refundableCents, 4_000, 'it counts as gone until it is known')
  await answered
  await pix.ends(id, 'CONFIRMED')
  assert.deepEqual(await pix.refunds(), [['MERCHANT', 'CONFIRMED', done.returnId]])
  assert.deepEqual(await balances(pix.database), { available: 7_000n, settlement: -7_000n })
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED'])
  assert.equal((await pix.read(pix.cashIn.id)).refundableCents, 7_000)
  await pix.pass(3, 60_000)
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[RF-13] [cash-in.returns.2] a return made by the bank while a refund of the same amount is open is not that refund', async (t) => {
  const pix = await funded(t)
  const { id, answered } = await pix.sendUnanswered(30)
  const taken = await pix.takenBack(3_000)
  await pix.postReturn(taken)
  assert.deepEqual(await balances(pix.database), SET_ASIDE, 'it may be ours')
  await answered
  await pix.until(`/api/pix/refund?cash_in_id=${pix.cashIn.id}`, ({ data }) => data.length === 2)
  assert.deepEqual(await balances(pix.database), { available: 4_000n, reserved: 3_000n, settlement: -7_000n })
  const done = await pix.carriedOut(id)
  await pix.postReturn(done)
  await pix.ends(id, 'CONFIRMED')
  assert.deepEqual((await pix.refunds()).toSorted(), [
    ['MERCHANT', 'CONFIRMED', done.returnId],
    ['PARTNER', 'CONFIRMED', taken.returnId],
  ])
  assert.deepEqual(await balances(pix.database), { available: 4_000n, settlement: -4_000n })
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED', 'CONFIRMED'])
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[RF-13] [cash-in.returns.3] a bank that names returns by the payment is queried again before one counts as the bank’s own', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'manual' })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await pix.later(100)
  const taken = await pix.takenBack(3_000)
  await pix.postReturn({ ...taken, transactionId: pix.cashIn.providerTransactionId })
  await pix.pass(3, 100)
  assert.deepEqual(await balances(pix.database), SET_ASIDE)
  await pix.pass(10, 10_000)
  assert.deepEqual(await balances(pix.database), { available: 4_000n, reserved: 3_000n, settlement: -7_000n })
  const done = await pix.carriedOut(id)
  await pix.postReturn({ ...done, transactionId: pix.cashIn.providerTransactionId })
  await pix.ends(id, 'CONFIRMED')
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[RF-12] [RF-14] [cash-in.returns.1] [cash-in.returns.2] two open refunds whose answers were lost and a return of the bank’s own, of one amount, are queried at once: each is recognised', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'lost-response' })
  const ids = [(await pix.refundIn(pix.cashIn.id, 20)).id, (await pix.refundIn(pix.cashIn.id, 20)).id]
  await pix.later(100)
  const done = await pix.refundsAtBank(2, 'CONFIRMED')
  const taken = await pix.takenBack(2_000)
  for (const one of [taken, ...done.toReversed()]) await pix.postReturn(one)
  assert.deepEqual(await balances(pix.database), { available: 6_000n, reserved: 4_000n, settlement: -10_000n })
  await pix.later(1)
  for (const id of ids) await pix.ends(id, 'CONFIRMED', 1)
  await pix.until(`/api/pix/refund?cash_in_id=${pix.cashIn.id}`, ({ data }) => data.length === 3)
  assert.deepEqual(
    (await pix.refunds()).toSorted(),
    [
      ...done.map(({ returnId }) => ['MERCHANT', 'CONFIRMED', returnId]),
      ['PARTNER', 'CONFIRMED', taken.returnId],
    ].toSorted(),
  )
  assert.deepEqual(await balances(pix.database), { available: 4_000n, settlement: -4_000n })
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

/** A refund of so many reais at a bank that then reports nothing for 17 minutes but a return. */
async function silent(t: TestContext, reais: number, refundIn: 'lost-response' | 'manual') {
  const pix = await funded(t, IMPATIENT)
  await pix.behave({ refundIn, latencyMs: TOO_LATE_MS })
  const { id } = await pix.refundIn(pix.cashIn.id, reais)
  await pix.later(100)
  const [sent] = await pix.refundsAtBank(1, refundIn === 'manual' ? 'PROCESSING' : 'CONFIRMED')
  assert.ok(sent)
  const returned = refundIn === 'manual' ? await pix.takenBack(reais * 100) : sent
  await pix.postReturn(returned)
  // Each step waits for real timeouts of the bank, so there are few of them.
  await pix.pass(2, 7 * 60_000)
  assert.deepEqual((await balances(pix.database)).settlement, -10_000n, 'not yet')
  await pix.pass(2, 90_000)
  assert.deepEqual((await cases(pix.database)).toSorted(), ['outcome_unknown', 'return_unexplained'])
  const [{ refundIds } = {}] = (await caseFacts(pix.database, 'return_unexplained')) as { refundIds?: string[] }[]
  assert.deepEqual(refundIds, [id])
  await pix.assertBooksAgree()
  return { ...pix, id, returned }
}

test('[RF-15] [cash-in.returns.4] [cash-in.returns.5] after 15 minutes without an answer a case is opened and the amount held; it turns out to be our refund', async (t) => {
  const pix = await silent(t, 30, 'lost-response')
  const held = { available: 4_000n, reserved: 6_000n, settlement: -7_000n, suspense_out: -3_000n }
  assert.deepEqual(await balances(pix.database), held)
  await pix.behave({ latencyMs: 0 })
  await pix.ends(pix.id, 'CONFIRMED', 60_000)
  assert.deepEqual(await balances(pix.database), { available: 7_000n, settlement: -7_000n })
  assert.deepEqual(await pix.refunds(), [['MERCHANT', 'CONFIRMED', pix.returned.returnId]])
  assert.deepEqual((await cases(pix.database)).toSorted(), ['outcome_unknown (closed)', 'return_unexplained (closed)'])
  await pix.assertBooksAgree()
})

test('[RF-15] [cash-in.returns.5] after 15 minutes without an answer it turns out to be a return made by the bank', async (t) => {
  const pix = await silent(t, 30, 'manual')
  await pix.behave({ latencyMs: 0 })
  for (let minute = 0; (await pix.refunds()).length < 2; minute++) {
    assert.ok(minute < 20)
    await pix.later(60_000)
  }
  assert.deepEqual(await balances(pix.database), { available: 4_000n, reserved: 3_000n, settlement: -7_000n })
  assert.deepEqual((await cases(pix.database)).toSorted(), ['outcome_unknown (closed)', 'return_unexplained (closed)'])
  await pix.carriedOut(pix.id)
  await pix.ends(pix.id, 'CONFIRMED', 900_000)
  assert.deepEqual(await balances(pix.database), { available: 4_000n, settlement: -4_000n })
  await pix.assertBooksAgree()
})

test('[RF-16] [cash-in.returns.4] missing money is not held, and no debt is created', async (t) => {
  const pix = await silent(t, 60, 'lost-response')
  const held = await balances(pix.database)
  assert.deepEqual(held, { reserved: 10_000n, settlement: -4_000n, suspense_out: -6_000n })
  await pix.behave({ latencyMs: 0, eventDelayMs: 0 })
  await pix.paid('10.00')
  assert.equal((await balances(pix.database)).available, 1_000n, 'the next credit is the merchant’s')
  await pix.ends(pix.id, 'CONFIRMED', 60_000)
  assert.deepEqual(await balances(pix.database), { available: 5_000n, settlement: -5_000n })
  await pix.assertBooksAgree()
})

test('[RF-17] [cash-in.returns.2] another amount than the open refund’s is queried at once, and booked', async (t) => {
  const pix = await funded(t)
  const { id, answered } = await pix.sendUnanswered(30)
  const taken = await pix.takenBack(2_999)
  await pix.postReturn(taken)
  await pix.until(`/api/pix/cash-in/${pix.cashIn.id}`, ({ refundedCents }) => refundedCents === 2_999)
  assert.deepEqual(await balances(pix.database), { available: 4_001n, reserved: 3_000n, settlement: -7_001n })
  await answered
  await pix.postReturn(await pix.carriedOut(id))
  await pix.ends(id, 'CONFIRMED')
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[RF-18] [cash-in.returns.6] returns that no event reported are booked when the charge is queried', async (t) => {
  const pix = await funded(t)
  await pix.behave({ refundIn: 'manual' })
  const { id } = await pix.refundIn(pix.cashIn.id, 30)
  await pix.until(`/api/pix/refund/${id}`, ({ transactionId }) => transactionId !== null)
  const done = await pix.carriedOut(id)
  const taken = await pix.takenBack(1_000)
  const stale = String(pix.clock.now() - 3_600_000)
  const event = { event: 'CashInReversal', eventId: 'stale', status: 'CONFIRMED', endToEndId: pix.cashIn.endToEndId }
  const occurredAt = new Date(pix.clock.now()).toISOString()
  assert.equal(await postEvent(pix, { ...event, ...taken, occurredAt }, { timestamp: stale }), 401)
  await pix.until(`/api/pix/refund?cash_in_id=${pix.cashIn.id}`, ({ data }) => data.length === 2)
  assert.deepEqual((await pix.refunds()).toSorted(), [
    ['MERCHANT', 'CONFIRMED', done.returnId],
    ['PARTNER', 'CONFIRMED', taken.returnId],
  ])
  assert.deepEqual(await balances(pix.database), { available: 6_000n, settlement: -6_000n })
  // Told again by events, late, neither is anything new.
  await pix.postReturn(taken)
  await pix.postReturn(done)
  assert.deepEqual(await balances(pix.database), { available: 6_000n, settlement: -6_000n })
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[RF-19] [cash-in.returns.7] a failure that the bank reports by its own id before its answer causes a query', async (t) => {
  const pix = await funded(t)
  const { id, answered } = await pix.sendUnanswered(30)
  await pix.bankAction(`refunds/${id}/fail`)
  const [failed] = await pix.refundsAtBank(1, 'FAILED')
  assert.ok(failed)
  await pix.postReturn(failed, { status: 'FAILED', returnId: null, errorCode: 'AC07' })
  await answered
  await pix.ends(id, 'FAILED', 1)
  assert.ok((await inbox(pix.database)).every(({ state }) => state === 'DONE'))
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_000n })
  await pix.assertBooksAgree()
})
