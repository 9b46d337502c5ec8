import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { bankWithout } from '../support/bank-without.ts'
import { assertBooks, balances } from '../support/books.ts'
import { caseFacts, cases, inbox } from '../support/evidence.ts'
import { IMPATIENT, TOO_LATE_MS } from '../support/impatience.ts'
import { type EventSending, postEvent } from '../support/partner-events.ts'
import { minutes } from '../support/stepping.ts'
import { type World, type WorldOptions, world } from '../support/world.ts'

/** Reversals by a bank whose references are wrong, early, lacking or everybody's. */

const HOUR = 3_600_000
const PARKED = [0, 1_001, 5_001, 30_001, 60_001, 300_001, 900_001]

/** A bank that cannot be asked about charges and payouts: what its events tell of them is booked. */
const BELIEVED = bankWithout('query-charge', 'query-payout')

/** A stepped world, and a way to send events as its bank. */
async function setUp(t: TestContext, environment: Record<string, string> = {}, options: WorldOptions = {}) {
  const pix = await world(t, environment, { isStepped: true, ...options })
  const iso = (aheadMs = 0) => new Date(pix.clock.now() + aheadMs).toISOString()
  const sendEvent = async (event: string, fields: object, how: EventSending = {}) => {
    const body = { event, eventId: 'event-1', status: 'CONFIRMED', valueCents: 4_000, occurredAt: iso(), ...fields }
    assert.equal(
      await postEvent(pix, body, { endpoint: event.startsWith('CashOut') ? 'cash-out' : 'cash-in', ...how }),
      200,
    )
    await pix.later(0)
  }
  return {
    ...pix,
    iso,
    sendEvent,
    waits: async () => {
      for (const wait of PARKED) await pix.later(wait)
    },
    outcomes: async () => (await inbox(pix.database)).map(({ state, outcome }) => `${state} ${outcome}`).slice(-1)[0],
    paidAgain: async (chargeId: string): Promise<string> => {
      const { endToEndId } = await pix.bankAction(`charges/${chargeId}/pay`)
      while (!(await balances(pix.database)).suspense_in) await pix.work()
      return endToEndId
    },
    /** An event out of its time makes us ask the bank about the charge. */
    asked: async (transactionId: string) => {
      const event = { event: 'CashIn', eventId: 'stale', status: 'CONFIRMED', transactionId }
      const timestamp = String(pix.clock.now() - HOUR)
      assert.equal(await postEvent(pix, { ...event, occurredAt: iso() }, { timestamp }), 401)
      for (let step = 0; step < 3; step++) await pix.later(100)
    },
    sent: (externalId: string) => sent(pix, externalId),
  }
}

async function sent(pix: World, externalId: string) {
  const { id } = await pix.cashOut({ externalId, value: 30 })
  return pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'CONFIRMED')
}

test('[partner-inbox.3] [EV-31] a return reported first with a time that cannot be counts when it is reported correctly', async (t) => {
  const pix = await setUp(t, {}, BELIEVED)
  const { providerTransactionId: transactionId, endToEndId } = await pix.paid('100.00')
  const told = { transactionId, endToEndId, returnId: 'D1', occurredAt: pix.iso() }
  await pix.sendEvent('CashInReversal', { ...told, occurredAt: pix.iso(HOUR) })
  assert.equal(await pix.outcomes(), 'QUARANTINED occurredAt lies in the future')
  for (let time = 0; time < 2; time++) await pix.sendEvent('CashInReversal', told)
  assert.equal(await pix.outcomes(), 'DONE APPLIED')
  assert.deepEqual(await balances(pix.database), { available: 6_000n, settlement: -6_000n })

  const payout = await pix.sent('payout-a')
  const back = { transactionId: payout.transactionId, endToEndId: payout.endToEndId, returnId: 'D2', valueCents: 3_000 }
  await pix.sendEvent('CashOutReversal', { ...back, occurredAt: pix.iso(HOUR) })
  await pix.sendEvent('CashOutReversal', back)
  assert.equal((await pix.get(`/api/pix/cash-out/${payout.id}`)).status, 'REVERSED')
  assert.deepEqual(await cases(pix.database), ['event_set_aside', 'event_set_aside'])
  await assertBooks(pix.database)
})

test('[partner-inbox.7] [EV-31] reported wrongly and correctly at once, the return counts once', async (t) => {
  const pix = await setUp(t, {}, BELIEVED)
  const { providerTransactionId: transactionId, endToEndId } = await pix.paid('100.00')
  const told = { transactionId, endToEndId, returnId: 'D1' }
  await Promise.all(
    [HOUR, 0, HOUR, 0].map((ahead) => pix.sendEvent('CashInReversal', { ...told, occurredAt: pix.iso(ahead) })),
  )
  for (let second = 0; second < 5; second++) await pix.later(1_001)
  assert.deepEqual(await balances(pix.database), { available: 6_000n, settlement: -6_000n })
})

test('[cash-in.refunds.12] [EV-33] a return of a second payment is debited from suspense, not from the merchant', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  const second = await pix.paidAgain(charge.id)
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -20_000n, suspense_in: 10_000n })
  const told = { transactionId: charge.providerTransactionId, endToEndId: second }
  for (const status of ['CONFIRMED', 'DEVOLVIDO'])
    await pix.sendEvent('CashInReversal', { ...told, status, returnId: 'D1', valueCents: 4_000 })
  await pix.sendEvent('CashInReversal', { ...told, returnId: 'D2', valueCents: 6_000 })
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_000n })
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
  assert.equal((await pix.read(charge.id)).refundedCents, 0)
  assert.equal((await pix.get('/api/pix/refund')).pagination.total, 0)
  // More than the balance: it left, and an operator finds out whose it was.
  await pix.sendEvent('CashInReversal', { ...told, returnId: 'D3', valueCents: 1 })
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -9_999n, suspense_out: -1n })
  assert.equal((await cases(pix.database)).at(-1), 'debit_in_suspense')
  await assertBooks(pix.database)
})

test('[cash-in.refunds.12] [EV-33] the return of the only payment, of another amount than the charge, is debited from suspense', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.charge('100.00')
  await pix.bankAction(`charges/${charge.id}/pay`, { valueCents: 9_000 })
  await pix.becomes(charge.id, 'RECONCILIATION_REQUIRED')
  await pix.sendEvent('CashInReversal', {
    transactionId: charge.providerTransactionId,
    returnId: 'D1',
    valueCents: 9_000,
  })
  assert.deepEqual(await balances(pix.database), {})
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
  await pix.becomes(charge.id, 'FAILED')
})

test('[cash-in.refunds.9] [EV-33] which of two payments was returned is not guessed', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  await pix.paidAgain(charge.id)
  await pix.sendEvent('CashInReversal', { transactionId: charge.providerTransactionId, returnId: 'D1' })
  assert.deepEqual(await balances(pix.database), {
    available: 10_000n,
    settlement: -16_000n,
    suspense_in: 10_000n,
    suspense_out: -4_000n,
  })
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense', 'debit_in_suspense'])
})

test('[partner-inbox.12] [EV-34] two returns under one reference of the bank are not booked on one charge', async (t) => {
  const pix = await setUp(t, {}, BELIEVED)
  const [one, other] = [await pix.paid('100.00'), await pix.paid('100.00')]
  const transactionId = one.providerTransactionId
  await pix.sendEvent('CashInReversal', { transactionId, endToEndId: one.endToEndId, returnId: 'D1' })
  await pix.sendEvent('CashInReversal', { transactionId, endToEndId: other.endToEndId, returnId: 'D2' })
  assert.equal((await pix.read(one.id)).refundedCents, 4_000)
  assert.equal(await pix.outcomes(), 'PARKED its references disagree')
  await pix.waits()
  const [facts] = (await caseFacts(pix.database, 'event_set_aside')) as [{ operations: string[] }]
  assert.deepEqual(facts.operations.toSorted(), [one.id, other.id].toSorted())
  assert.partialDeepStrictEqual(facts, { event: { transactionId, endToEndId: other.endToEndId, returnId: 'D2' } })
  assert.equal((await pix.read(one.id)).refundedCents, 4_000)
})

test('[partner-inbox.12] [EV-34] a return by an end-to-end id of no payment of the charge causes a query', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  // A second payment of which no event came: the bank knows.
  await pix.behave({ eventDelayMs: HOUR })
  const second = (await pix.bankAction(`charges/${charge.id}/pay`)).endToEndId
  await pix.sendEvent('CashInReversal', {
    transactionId: charge.providerTransactionId,
    endToEndId: second,
    returnId: 'D1',
    valueCents: 10_000,
  })
  for (const wait of [1_001, 5_001]) await pix.later(wait)
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_000n })
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
})

test('[partner-inbox.12] [EV-34] the return’s own id in the place of the payment’s is no disagreement', async (t) => {
  const pix = await setUp(t, {}, BELIEVED)
  const charge = await pix.paid('100.00')
  const transactionId = charge.providerTransactionId
  await pix.sendEvent('CashInReversal', { transactionId, endToEndId: 'ret-1', returnId: 'ret-1', valueCents: 1_000 })
  const rtrId = 'D99999010202611211315abcdefghijk'
  await pix.sendEvent('CashInReversal', { transactionId, endToEndId: rtrId, returnId: 'ret-2', valueCents: 1_000 })
  assert.equal((await pix.read(charge.id)).refundedCents, 2_000)
  const { id, transactionId: payoutsId } = await pix.sent('payout-a')
  await pix.sendEvent('CashOutReversal', {
    transactionId: payoutsId,
    endToEndId: 'D9',
    returnId: 'D9',
    valueCents: 1_000,
  })
  assert.equal((await pix.get(`/api/pix/cash-out/${id}`)).reversedCents, 1_000)
  assert.deepEqual(await cases(pix.database), [])
})

test('[partner-inbox.12] [EV-34] a client’s reference of a charge confirms no refund of another charge under that reference', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00', { externalId: 'order-x' })
  const other = await pix.paid('100.00', { externalId: 'order-y' })
  await pix.behave({ refundIn: 'manual' })
  const refund = await pix.refundIn(other.id, 40, { externalId: 'order-x' })
  await pix.later(1_000)
  const told = { transactionId: charge.providerTransactionId, externalId: 'order-x', endToEndId: charge.endToEndId }
  await pix.sendEvent('CashInReversal', { ...told, returnId: 'D1' })
  await pix.waits()
  assert.equal((await pix.get(`/api/pix/refund/${refund.id}`)).status, 'PENDING')
  assert.equal((await cases(pix.database)).filter((kind) => kind === 'event_set_aside').length, 1)
  // A charge's reference is none of a reversal's: nothing is booked by it alone.
  await pix.sendEvent('CashInReversal', { transactionId: 'nobody', externalId: 'order-y', returnId: 'D2' })
  assert.equal(await pix.outcomes(), 'PARKED no such operation yet')
})

test('[refund-in.doubt.7] [EV-34] a refund is not confirmed by the return of another payment', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  await pix.behave({ refundIn: 'manual', eventDelayMs: HOUR })
  const { id } = await pix.refundIn(charge.id, 40)
  await pix.later(1_000)
  const told = { transactionId: 'unknown', externalId: id, endToEndId: 'E-of-another' }
  await pix.sendEvent('CashInReversal', { ...told, returnId: 'D1' })
  assert.equal((await pix.get(`/api/pix/refund/${id}`)).status, 'PENDING')
  // The bank, queried, reports the refund's outcome; the event stays unexplained.
  await pix.bankAction(`refunds/${id}/confirm`)
  await pix.waits()
  const { status, returnId } = await pix.get(`/api/pix/refund/${id}`)
  assert.equal(status, 'CONFIRMED')
  assert.notEqual(returnId, 'D1')
  assert.deepEqual(await cases(pix.database), ['event_set_aside'])
  await pix.assertBooksAgree()
})

test('[cash-out.reversal.4] [EV-34] a payout is not credited by the return of another payment; the bank’s answer settles it', async (t) => {
  const pix = await setUp(t)
  await pix.balance(10_000)
  const payout = await pix.sent('payout-a')
  await pix.behave({ eventDelayMs: HOUR })
  const { returnId } = await pix.bankAction(`payouts/${payout.id}/reverse`, { valueCents: 1_000 })
  const told = { transactionId: payout.transactionId, endToEndId: 'E-of-another', valueCents: 1_000 }
  await pix.sendEvent('CashOutReversal', { ...told, returnId })
  await pix.later(1_001)
  assert.equal((await pix.get(`/api/pix/cash-out/${payout.id}`)).reversedCents, 1_000)
  assert.match((await pix.outcomes()) ?? '', /^DONE/)
  await pix.sendEvent('CashOutReversal', { ...told, returnId: 'D-of-another' })
  await pix.waits()
  assert.equal((await pix.get(`/api/pix/cash-out/${payout.id}`)).reversedCents, 1_000)
  assert.deepEqual(await cases(pix.database), ['event_set_aside'])
  await pix.assertBooksAgree()
})

test('[partner-inbox.12] [EV-26] [EV-35] both of two payouts that a reversal could mean are queried, though confirmed', async (t) => {
  const pix = await setUp(t)
  await pix.balance(10_000)
  const [one, other] = [await pix.sent('payout-a'), await pix.sent('payout-b')]
  await pix.behave({ eventDelayMs: HOUR })
  const { returnId } = await pix.bankAction(`payouts/${one.id}/reverse`)
  await pix.sendEvent('CashOutReversal', {
    transactionId: other.transactionId,
    endToEndId: one.endToEndId,
    returnId,
    valueCents: 3_000,
  })
  await pix.later(1_001)
  assert.equal((await pix.get(`/api/pix/cash-out/${one.id}`)).status, 'REVERSED')
  assert.equal((await pix.get(`/api/pix/cash-out/${other.id}`)).status, 'CONFIRMED')
  assert.equal(await pix.outcomes(), 'DONE KNOWN')
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[partner-inbox.12] [EV-26] [EV-35] the bank decides which of two refunds a reversal means; else it is a case', async (t) => {
  const pix = await setUp(t)
  const { id: cashInId } = await pix.paid('100.00')
  await pix.behave({ refundIn: 'manual', eventDelayMs: HOUR })
  const [first, second] = [
    await pix.refundIn(cashInId, 30, { externalId: 'refund-1' }),
    await pix.refundIn(cashInId, 30, { externalId: 'refund-2' }),
  ]
  await pix.later(1_000)
  const { transactionId } = await pix.get(`/api/pix/refund/${first.id}`)
  const { returnId } = await pix.bankAction(`refunds/${second.id}/confirm`)
  const told = { transactionId, externalId: 'refund-2', valueCents: 3_000 }
  await pix.sendEvent('CashInReversal', { ...told, returnId })
  await pix.later(1_001)
  assert.equal((await pix.get(`/api/pix/refund/${second.id}`)).status, 'CONFIRMED')
  assert.equal((await pix.get(`/api/pix/refund/${first.id}`)).status, 'PENDING')
  assert.equal(await pix.outcomes(), 'DONE KNOWN')
  await pix.sendEvent('CashInReversal', { ...told, returnId: 'D-nobodys' })
  await pix.waits()
  assert.deepEqual(await cases(pix.database), ['event_set_aside'])
  assert.partialDeepStrictEqual(await caseFacts(pix.database, 'event_set_aside'), [
    { event: { returnId: 'D-nobodys' }, operations: [first.id, second.id].toSorted() },
  ])
  assert.equal((await pix.get(`/api/pix/refund/${first.id}`)).status, 'PENDING')
  await pix.assertBooksAgree()
})

test('[partner-inbox.9] [EV-37] a return without its id books nothing: the bank is queried, and its answer books', async (t) => {
  const pix = await setUp(t)
  await pix.balance(10_000)
  const payout = await pix.sent('payout-a')
  const charge = await pix.paid('100.00')
  await pix.behave({ refundIn: 'manual', eventDelayMs: HOUR })
  const refund = await pix.refundIn(charge.id, 40)
  await pix.later(1_000)
  await pix.bankAction(`payouts/${payout.id}/reverse`)
  await pix.bankAction(`refunds/${refund.id}/confirm`)
  await pix.sendEvent('CashOutReversal', { transactionId: payout.transactionId, valueCents: 3_000 })
  await pix.sendEvent('CashInReversal', { transactionId: 'unknown', externalId: refund.id, status: 'REFUNDED' })
  await pix.later(0)
  assert.equal((await pix.get(`/api/pix/cash-out/${payout.id}`)).status, 'REVERSED')
  assert.equal((await pix.get(`/api/pix/refund/${refund.id}`)).status, 'CONFIRMED')
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[cash-in.refunds.10] [EV-37] a return made by the bank and reported without an id is in suspense, once', async (t) => {
  const pix = await setUp(t, {}, BELIEVED)
  const { providerTransactionId: transactionId, endToEndId } = await pix.paid('100.00')
  const told = { transactionId, endToEndId, occurredAt: pix.iso() }
  for (let time = 0; time < 2; time++) await pix.sendEvent('CashInReversal', told)
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -6_000n, suspense_out: -4_000n })
  assert.deepEqual(await cases(pix.database), ['debit_in_suspense'])
  await pix.sendEvent('CashInReversal', { transactionId, endToEndId, returnId: 'D1', valueCents: 1_000 })
  // A similar one was reported by its id: perhaps it is that one.
  await pix.sendEvent('CashInReversal', { transactionId, endToEndId, status: 'DEVOLVIDO', valueCents: 1_000 })
  assert.deepEqual(await balances(pix.database), { available: 9_000n, settlement: -5_000n, suspense_out: -4_000n })
  assert.deepEqual(await cases(pix.database), ['debit_in_suspense', 'bank_contradicts'])
  await assertBooks(pix.database)
})

test('[partner-inbox.11] [EV-37] «returned» and «refunded» confirm a return, and cause a query of a payment', async (t) => {
  const pix = await setUp(t, {}, BELIEVED)
  const charge = await pix.charge('100.00')
  const told = { transactionId: charge.providerTransactionId, endToEndId: 'E1', valueCents: 10_000 }
  await pix.sendEvent('CashIn', { ...told, status: 'RETURNED' })
  assert.equal((await pix.read(charge.id)).status, 'PENDING')
  await pix.sendEvent('CashIn', told)
  for (const status of ['REVERSED', 'RETURNED', 'REFUNDED'])
    await pix.sendEvent('CashInReversal', { ...told, status, returnId: `D ${status}`, valueCents: 1_000 })
  assert.equal((await pix.read(charge.id)).refundedCents, 3_000)
})

test('[partner-inbox.9] [EV-37] an incomplete confirmation causes a query, the bank’s answer books, and a complete one is not blocked', async (t) => {
  const pix = await setUp(t)
  const payment = ({ id, providerTransactionId: transactionId }: Record<string, string>, endToEndId = 'E1') => {
    return { transactionId, externalId: id, endToEndId, valueCents: 100 }
  }
  const LACKING = ['valueCents', 'occurredAt', 'endToEndId']
  const unpaid = await pix.charge('1.00')
  for (const field of LACKING) {
    await pix.sendEvent('CashIn', { ...payment(unpaid), [field]: undefined })
    assert.equal((await pix.read(unpaid.id)).status, 'PENDING', field)
  }
  await pix.sendEvent('CashIn', payment(unpaid))
  assert.equal((await pix.read(unpaid.id)).status, 'PAID')

  await pix.behave({ eventDelayMs: HOUR })
  for (const field of LACKING) {
    const charge = await pix.charge('1.00')
    const { endToEndId } = await pix.bankAction(`charges/${charge.id}/pay`)
    await pix.sendEvent('CashIn', { ...payment(charge, endToEndId), [field]: undefined })
    assert.equal((await pix.read(charge.id)).status, 'PAID', field)
  }
  assert.deepEqual(await cases(pix.database), [])
})

test('[partner-inbox.13] [EV-36] a quarantined event is a case, and the operation it names is queried', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.charge('100.00')
  await pix.behave({ eventDelayMs: HOUR })
  const { endToEndId } = await pix.bankAction(`charges/${charge.id}/pay`)
  const told = { transactionId: charge.providerTransactionId, externalId: charge.id, endToEndId, occurredAt: pix.iso() }
  for (let time = 0; time < 2; time++) await pix.sendEvent('CashIn', { ...told, valueCents: '10000' })
  assert.equal((await pix.read(charge.id)).status, 'PAID', 'the bank was asked')
  assert.partialDeepStrictEqual(await caseFacts(pix.database, 'event_set_aside'), [{ operations: [charge.id] }])
  await pix.sendEvent('CashInReversal', { ...told, status: 'FAILED' })
  assert.deepEqual(await cases(pix.database), ['event_set_aside', 'event_set_aside'])
})

test('[cash-in.returns.6] [EV-33] the bank’s answer about the credited payment is unambiguous beside a second one', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  await pix.behave({ eventDelayMs: HOUR })
  await pix.bankAction(`charges/${charge.id}/return`, { valueCents: 3_000 })
  await pix.behave({ eventDelayMs: 0 })
  await pix.paidAgain(charge.id)
  await pix.behave({ eventDelayMs: HOUR })
  await pix.asked(charge.providerTransactionId)
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense'])
  assert.deepEqual(await balances(pix.database), { available: 7_000n, settlement: -17_000n, suspense_in: 10_000n })
  assert.equal((await pix.read(charge.id)).refundedCents, 3_000)
  await pix.assertBooksAgree()
})

test('[refund-in.doubt.3] [EV-33] a refund that is confirmed by a return which is in suspense here leaves the books once', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  await pix.paidAgain(charge.id)
  await pix.behave({ refundIn: 'manual', eventDelayMs: HOUR })
  const { id } = await pix.refundIn(charge.id, 30)
  await pix.later(1_000)
  const { returnId } = await pix.bankAction(`refunds/${id}/confirm`)
  // By the payment's reference, and by no end-to-end id: one of two payments.
  await pix.sendEvent('CashInReversal', { transactionId: charge.providerTransactionId, returnId, valueCents: 3_000 })
  await minutes(pix, 20)
  assert.equal((await balances(pix.database)).settlement, -17_000n, 'R$ 30,00 left, once')
  await assertBooks(pix.database)
})

test('[cash-in.refunds.10] [EV-37] a return reported without its id and then with it is booked once', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  await pix.behave({ eventDelayMs: HOUR })
  const { returnId } = await pix.bankAction(`charges/${charge.id}/return`, { valueCents: 3_000 })
  const movement = { transactionId: charge.providerTransactionId, endToEndId: charge.endToEndId, valueCents: 3_000 }
  await pix.sendEvent('CashInReversal', movement)
  await pix.sendEvent('CashInReversal', { ...movement, returnId })
  await pix.asked(charge.providerTransactionId)
  assert.deepEqual(await balances(pix.database), { available: 7_000n, settlement: -7_000n })
  // Another one is another one.
  await pix.bankAction(`charges/${charge.id}/return`, { valueCents: 3_000 })
  await pix.asked(charge.providerTransactionId)
  assert.deepEqual(await balances(pix.database), { available: 4_000n, settlement: -4_000n })
  await assertBooks(pix.database)
})

test('[cash-in.refunds.10] [RF-60] the case of a return without its id closes when that is known, and no other one', async (t) => {
  const pix = await setUp(t, {}, bankWithout('query-charge'))
  const charge = await pix.paid('100.00')
  const movement = { transactionId: charge.providerTransactionId, endToEndId: charge.endToEndId, valueCents: 3_000 }
  await pix.sendEvent('CashInReversal', movement)
  // Perhaps that one, perhaps another.
  await pix.sendEvent('CashInReversal', { ...movement, status: 'DEVOLVIDO' })
  await pix.sendEvent('CashInReversal', { ...movement, returnId: 'D1' })
  assert.deepEqual(await cases(pix.database), ['debit_in_suspense (closed)', 'bank_contradicts'])
  assert.deepEqual(await balances(pix.database), { available: 7_000n, settlement: -7_000n })
  await assertBooks(pix.database)
})

test('[cash-in.refunds.10] [EV-37] a return reported with its id and then without is booked once, in suspense as it is', async (t) => {
  const pix = await setUp(t)
  const charge = await pix.paid('100.00')
  const endToEndId = await pix.paidAgain(charge.id)
  const movement = { transactionId: charge.providerTransactionId, endToEndId, valueCents: 10_000 }
  await pix.sendEvent('CashInReversal', { ...movement, returnId: 'D1' })
  await pix.sendEvent('CashInReversal', movement)
  await pix.sendEvent('CashInReversal', { ...movement, status: 'DEVOLVIDO', endToEndId: null })
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_000n })
  await assertBooks(pix.database)
})

test('[cash-in.refunds.9] [cash-in.credits.1] a return of an unverified payment is not debited from the merchant', async (t) => {
  const pix = await setUp(t, IMPATIENT)
  const charge = await pix.paid('1000.00')
  await pix.behave({ eventDelayMs: HOUR })
  const { endToEndId } = await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.behave({ latencyMs: TOO_LATE_MS })
  const movement = { transactionId: charge.providerTransactionId, valueCents: 100_000 }
  await pix.sendEvent('CashIn', { ...movement, externalId: charge.id, endToEndId })
  assert.deepEqual(await balances(pix.database), { available: 100_000n, settlement: -100_000n }, 'to be verified')
  await pix.sendEvent('CashInReversal', { ...movement, returnId: 'D1' })
  assert.equal((await balances(pix.database)).available, 100_000n, 'it may be of the payment that was never credited')
  await pix.behave({ latencyMs: 0 })
  for (const wait of [1_001, 5_001, 30_001, 60_001]) await pix.later(wait)
  assert.deepEqual(await balances(pix.database), {
    available: 100_000n,
    settlement: -100_000n,
    suspense_in: 100_000n,
    suspense_out: -100_000n,
  })
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense', 'debit_in_suspense'])
  await assertBooks(pix.database)
})

test('[cash-in.credits.1] [EV-31] an unverified payment is not credited by another event that reports it otherwise', async (t) => {
  const pix = await setUp(t)
  const [dated, dear] = [await pix.charge('100.00'), await pix.charge('200.00')]
  const datedPayment = {
    transactionId: dated.providerTransactionId,
    externalId: dated.id,
    endToEndId: 'E1',
    valueCents: 10_000,
  }
  const before = new Date(Date.parse(dated.generateTime) - HOUR).toISOString()
  await pix.sendEvent('CashIn', { ...datedPayment, occurredAt: before })
  const dearPayment = { transactionId: dear.providerTransactionId, externalId: dear.id, endToEndId: 'E2' }
  await pix.sendEvent('CashIn', { ...dearPayment, valueCents: 200_000 })
  await minutes(pix, 30)
  assert.deepEqual(await cases(pix.database), ['payment_unconfirmed', 'payment_unconfirmed'])
  await pix.sendEvent('CashIn', datedPayment)
  await pix.sendEvent('CashIn', { ...dearPayment, valueCents: 20_000 })
  for (let step = 0; step < 3; step++) await pix.later(1_001)
  assert.deepEqual(await balances(pix.database), {}, 'the bank, asked, has no such payments')
  await assertBooks(pix.database)
})

const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty'] as const

for (const [index, name] of NAMES.entries()) {
  test(`[cash-in.states.7] [refund-in.returns.4] [EV-27] [EV-39] a movement called ${name} is booked, once, beside others`, async (t) => {
    const pix = await setUp(t, IMPATIENT, BELIEVED)
    const charge = await pix.charge('100.00')
    const transactionId = charge.providerTransactionId
    const twice = async (event: string, fields: object) => {
      for (const status of ['CONFIRMED', 'DEVOLVIDO']) await pix.sendEvent(event, { ...fields, status })
    }
    for (const endToEndId of ['E1', name])
      await twice('CashIn', { transactionId, externalId: charge.id, endToEndId, valueCents: 10_000 })
    assert.equal((await pix.read(charge.id)).endToEndId, 'E1')
    for (const returnId of ['D1', name])
      await twice('CashInReversal', { transactionId, endToEndId: 'E1', returnId, valueCents: 1_000 })
    assert.equal((await pix.read(charge.id)).refundedCents, 2_000)
    for (const returnId of ['D2', `${name} of suspense`])
      await twice('CashInReversal', { transactionId, endToEndId: name, returnId, valueCents: 5_000 })
    await pix.behave({ refundIn: 'timeout' })
    const refund = await pix.refundIn(charge.id, 10)
    await pix.later(1_000)
    const back = { transactionId: 'tx-r', externalId: refund.id, endToEndId: 'E1', valueCents: 1_000 }
    await twice('CashInReversal', { ...back, returnId: `${name} of ours` })
    assert.equal((await pix.get(`/api/pix/refund/${refund.id}`)).returnId, `${name} of ours`)
    await pix.behave({ cashOut: 'manual' })
    const payout = await pix.cashOut({ value: 30 })
    await pix.later(1_000)
    // A movement is one operation's: the payout has another of these names.
    const next = NAMES[(index + 1) % NAMES.length] as string
    const sentOut = { externalId: payout.id, transactionId: name, endToEndId: next, valueCents: 3_000 }
    await twice('CashOut', sentOut)
    for (const returnId of ['D3', next]) await twice('CashOutReversal', { ...sentOut, returnId, valueCents: 500 })
    const { status, reversedCents } = await pix.get(`/api/pix/cash-out/${payout.id}`)
    assert.deepEqual([status, reversedCents], ['REVERSED', 1_000])
    assert.deepEqual(await balances(pix.database), { available: 5_000n, settlement: -5_000n })
    await assertBooks(pix.database)
  })
}
