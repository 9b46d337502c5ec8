import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { type Caps, Refusal } from '@pixgate/spec'
import { statusQueryOf } from '../../src/operations/attempts.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { createRefundInCommands, createRefundInStore, type RefundInRequest } from '../../src/refund-in/commands.ts'
import type { BankReturn, RefundIn } from '../../src/refund-in/refund-in.ts'
import { assertBooks, balances } from '../support/books.ts'
import { switchPayouts } from '../support/controls.ts'
import { testDatabase } from '../support/database.ts'
import { cashInRequest, payment, type TestEngine, testEngine } from '../support/engine.ts'
import { cases, notifiedStatuses } from '../support/evidence.ts'
import { MADE_BY, refundTerms } from '../support/limits.ts'
import { confirmed, INPUTS } from './situations.ts'

/** Two processes on one database, without HTTP and without a bank. */
async function office(t: TestContext, caps: Partial<Caps> = {}) {
  const { url, database } = await testDatabase(t)
  const store = createRefundInStore(database)
  const processOf = (engine: TestEngine) => createRefundInCommands({ ...engine, terms: refundTerms(caps), store })
  const [one, other] = [testEngine(t, url), testEngine(t, url)]
  let charges = 0

  /** A charge of R$ 100,00 that was paid a moment ago; the merchant is credited R$ 99,00. */
  async function paid(): Promise<string> {
    charges += 1
    const [id, externalId] = [one.ids.uuid(), `order-${charges}`]
    await one.cashIns.create(cashInRequest({ id, externalId }))
    const endToEndId = `E${charges}`
    await one.cashIns.apply(id, {
      on: 'partner.confirmed',
      transactionId: `tx-${charges}`,
      payment: payment({ endToEndId, occurredAt: one.clock.now() }),
    })
    return id
  }

  function request(cashInId: string, given: Partial<RefundInRequest> = {}): RefundInRequest {
    const id = one.ids.uuid()
    const content = { cashInId, valueCents: 40_00n, externalId: id, reason: null, ...given }
    const bodyHash = sha256(JSON.stringify({ ...content, valueCents: String(content.valueCents) }))
    return { id, correlationId: 'test', idempotencyKey: null, madeBy: MADE_BY, ...content, bodyHash }
  }
  const returned = (given: Partial<BankReturn> = {}): BankReturn => {
    const occurredAt = one.clock.now()
    return { returnId: 'M1', valueCents: 40_00n, occurredAt, transactionId: 'tx-b', ...given }
  }
  const now = () => one.clock.now()
  return { database, store, one: processOf(one), other: processOf(other), paid, request, returned, now }
}

/** What came of it: the refund, or the code of the refusal. */
async function outcomeOf(created: Promise<{ refund: RefundIn; isReplayed: boolean }>) {
  return created.catch((error: unknown) => {
    assert.ok(error instanceof Refusal, String(error))
    return error
  })
}

test('[RF-2] [refund-in.create.4] 200 times six refunds of two processes race for one ceiling: two of them fit', async (t) => {
  const { one, other, paid, request, database } = await office(t)
  for (let round = 0; round < 200; round++) {
    const cashInId = await paid()
    const racing = Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? one : other).create(request(cashInId)))
    const outcomes = await Promise.all(racing.map(outcomeOf))
    const refused = outcomes.filter((outcome) => outcome instanceof Refusal)
    assert.deepEqual(
      refused.map(({ code }) => code),
      Array.from({ length: 4 }, () => 'refund_exceeds_available'),
    )
  }
  assert.equal((await balances(database)).reserved, 200n * 80_00n)
  await assertBooks(database)
})

test('[RF-10] [refund-in.returns.1] returns made by the bank cross refunds of two processes: all of them are booked', async (t) => {
  const { one, other, paid, request, returned, database, now } = await office(t)
  for (let round = 0; round < 25; round++) {
    const cashInId = await paid()
    const bodies = [request(cashInId), request(cashInId)]
    const [taken] = await Promise.all([
      one.applyReturn(cashInId, returned({ returnId: `M${round}`, valueCents: 60_00n })),
      ...bodies.map((body, index) => outcomeOf((index === 0 ? one : other).create(body))),
    ])
    assert.equal(taken, 'APPLIED')
    for (const { id } of bodies) {
      const given = { returnId: `D${id}`, valueCents: 40_00n, occurredAt: now() }
      const confirmation = await other.apply(id, [confirmed(given)])
      if (confirmation) assert.equal(confirmation.refund.status, 'CONFIRMED')
    }
  }
  const known = await cases(database)
  assert.ok(known.every((kind) => kind === 'bank_contradicts'))
  await assertBooks(database)
})

test('[refund-in.returns.2] [EV-27] a return that is reported to two processes is booked once, for ever', async (t) => {
  const { one, other, paid, returned, database, store, now } = await office(t)
  const cashInId = await paid()
  const results = await Promise.all([one, other, one, other].map((it) => it.applyReturn(cashInId, returned())))
  assert.deepEqual(results.toSorted(), ['APPLIED', 'IGNORED', 'IGNORED', 'IGNORED'])
  assert.equal(await other.applyReturn(cashInId, returned()), 'IGNORED')
  const [refund, ...others] = await store.list({ cashInId, skip: 0, limit: 10 })
  assert.ok(refund)
  assert.deepEqual([others, refund.detail.origin, refund.externalId], [[], 'PARTNER', refund.id])
  assert.deepEqual(await balances(database), { available: 59_00n, settlement: -60_00n, fees: 1_00n })

  // A second part of it that the bank tells under the same reference of its own.
  const told = await one.apply(refund.id, [
    { ...confirmed({ returnId: 'M2', valueCents: 10_00n, occurredAt: now() }), transactionId: 'tx-b' },
  ])
  assert.equal(told?.result, 'APPLIED')
  assert.equal((await balances(database)).settlement, -50_00n)
  assert.deepEqual(await one.apply(refund.id, [{ on: 'work.requested' }]).then((it) => it?.result), 'IGNORED')
  await assertBooks(database)
})

test('[refund-in.returns.1] what the merchant cannot pay back at once is owed, and the next credit pays it', async (t) => {
  const { one, paid, request, returned, database } = await office(t)
  const [first, second] = [await paid(), await paid()]
  await one.create(request(first, { valueCents: 100_00n }))
  assert.equal(await one.applyReturn(second, returned({ valueCents: 100_00n })), 'APPLIED')
  const owed = await balances(database)
  assert.deepEqual([owed.available ?? 0n, owed.receivable], [0n, -2_00n])
  await paid()
  const repaid = await balances(database)
  assert.deepEqual([repaid.available, repaid.receivable ?? 0n], [97_00n, 0n])
  await assertBooks(database)
})

test('[RF-1] [external-id.2] [refund-in.create.6] a client whose answer was lost finds its refund, not a refusal', async (t) => {
  const { one, other, paid, request } = await office(t)
  const cashInId = await paid()
  const body = { externalId: 'refund-1', valueCents: 90_00n }
  const { refund } = await one.create(request(cashInId, body))
  const refused = await outcomeOf(other.create(request(cashInId, body)))
  assert.ok(refused instanceof Refusal)
  assert.deepEqual([refused.code, refused.existing?.id], ['duplicate_external_id', refund.id])
  assert.deepEqual([refused.existing?.status, refused.existing?.samePayload], ['PENDING', true])
  const another = await outcomeOf(other.create(request(cashInId, { ...body, valueCents: 1n })))
  assert.ok(another instanceof Refusal)
  assert.equal(another.existing?.samePayload, false)
})

test('[RF-1] [idempotency.2] [idempotency.3] [refund-in.create.6] an Idempotency-Key finds it without an external id', async (t) => {
  const { one, other, paid, request, database } = await office(t)
  const first = { ...request(await paid()), idempotencyKey: 'key createRefundIn 1' }
  const { refund } = await one.create(first)
  const repeat = { ...first, id: first.cashInId ?? '', externalId: 'another' }
  const [again, both] = await Promise.all([other.create(repeat), one.create(repeat)])
  assert.deepEqual([again.refund.id, again.isReplayed], [refund.id, true])
  assert.equal(both.refund.id, refund.id)
  const reused = await outcomeOf(other.create({ ...repeat, bodyHash: sha256('another body') }))
  assert.ok(reused instanceof Refusal)
  assert.equal(reused.code, 'idempotency_key_reused')
  assert.equal((await balances(database)).reserved, 40_00n)
})

test('[RF-3] [refund-in.create.2] a balance that is too low stores nothing: the external id is free', async (t) => {
  const { one, paid, request } = await office(t)
  const [first, second] = [await paid(), await paid()]
  await one.create(request(first, { valueCents: 100_00n }))
  const body = { externalId: 'refund-1', valueCents: 99_00n }
  const refused = await outcomeOf(one.create(request(second, body)))
  assert.ok(refused instanceof Refusal)
  assert.equal(refused.code, 'insufficient_balance')
  await paid()
  assert.equal((await one.create(request(second, body))).refund.status, 'PENDING')
})

test('[RF-11] [refund-in.create.2] the id of a refund, and one that names nothing, is no cash-in', async (t) => {
  const { one, paid, request } = await office(t)
  const { refund } = await one.create(request(await paid()))
  for (const cashInId of [refund.id, '0198c0de-7a11-7000-8000-5f1d3c2b1a09']) {
    const refused = await outcomeOf(one.create(request(cashInId)))
    assert.ok(refused instanceof Refusal)
    assert.equal(refused.code, 'cash_in_not_found')
  }
})

test('[cash-in.refunds.3] [refund-in.states.4] what a refund set aside can be refunded again once it failed', async (t) => {
  const { one, other, paid, request, database } = await office(t)
  const cashInId = await paid()
  const { refund } = await one.create(request(cashInId, { valueCents: 60_00n }))
  const refused = await outcomeOf(other.create(request(cashInId, { valueCents: 60_00n })))
  assert.ok(refused instanceof Refusal)
  await one.apply(refund.id, [{ on: 'send.claimed', leaseMs: 60_000 }])
  assert.equal((await one.apply(refund.id, [INPUTS['send.rejected']]))?.refund.status, 'FAILED')
  assert.equal((await other.create(request(cashInId, { valueCents: 60_00n }))).refund.status, 'PENDING')
  assert.deepEqual(await notifiedStatuses(database), ['PAID', 'FAILED'])
  await assertBooks(database)
})

test('[RF-8] [RF-9] [refund-in.ended.6] money that left after the end is held again and counts against the ceiling', async (t) => {
  const { one, paid, request, database, now } = await office(t)
  const cashInId = await paid()
  const { refund } = await one.create(request(cashInId, { valueCents: 60_00n }))
  await one.apply(refund.id, [{ on: 'send.claimed', leaseMs: 60_000 }])
  await one.apply(refund.id, [INPUTS['send.rejected']])
  const late = confirmed({ valueCents: 60_00n, occurredAt: now() })
  assert.equal((await one.apply(refund.id, [late]))?.refund.status, 'FAILED')
  assert.equal((await one.apply(refund.id, [late]))?.result, 'IGNORED')
  assert.deepEqual(await balances(database), {
    available: 39_00n,
    reserved: 60_00n,
    settlement: -40_00n,
    fees: 1_00n,
    suspense_out: -60_00n,
  })
  assert.deepEqual(await cases(database), ['debit_in_suspense'])
  const refused = await outcomeOf(one.create(request(cashInId, { valueCents: 40_01n })))
  assert.ok(refused instanceof Refusal)
  assert.equal(refused.code, 'refund_exceeds_available')

  const confirmedOne = await one.create(request(cashInId, { valueCents: 10_00n }))
  await one.apply(confirmedOne.refund.id, [{ on: 'send.claimed', leaseMs: 60_000 }])
  await one.apply(confirmedOne.refund.id, [confirmed({ returnId: 'D2', valueCents: 10_00n, occurredAt: now() })])
  const failure = await one.apply(confirmedOne.refund.id, [INPUTS['partner.failed']])
  assert.equal(failure?.refund.status, 'CONFIRMED')
  assert.deepEqual((await cases(database)).toSorted(), ['bank_contradicts', 'debit_in_suspense'])
  await assertBooks(database)
})

test('[refund-in.told.2] [EV-26] references of different refunds are distinguished; an end-to-end id identifies none', async (t) => {
  const { one, paid, request, store } = await office(t)
  const cashInId = await paid()
  const [first, second] = [
    (await one.create(request(cashInId, { valueCents: 1n, externalId: 'refund-1' }))).refund,
    (await one.create(request(cashInId, { valueCents: 2n, externalId: 'refund-2' }))).refund,
  ]
  await one.apply(first.id, [
    { on: 'send.claimed', leaseMs: 60_000 },
    { on: 'send.accepted', transactionId: 'tx-1r' },
  ])
  const match = async (transactionId: string | null, externalId: string | null) =>
    (await store.match([{ transactionId, externalId, endToEndId: null }]))
      .flat()
      .map(({ id, by, of }) => `${id} by ${by} of ${of === cashInId}`)
      .toSorted()
  const byBank = `${first.id} by transactionId of true`
  assert.deepEqual(await match('tx-1r', null), [byBank])
  assert.deepEqual(await match(null, 'refund-2'), [`${second.id} by externalId of true`])
  assert.deepEqual(await match('tx-1r', 'refund-2'), [byBank, `${second.id} by externalId of true`].toSorted())
  assert.deepEqual(await match('tx-1r', second.orderId), [byBank, `${second.id} by orderId of true`].toSorted())
  assert.deepEqual(await match('unknown', null), [])
})

test('[operator.switch.2] while the switch is off no refund is accepted, and none is claimed, in a process that knew better too', async (t) => {
  const { database, one, other, paid, request } = await office(t)
  const cashInId = await paid()
  const accepted = await one.create(request(cashInId, { valueCents: 1_00n }))
  await other.create(request(cashInId, { valueCents: 1_00n }))
  await switchPayouts(database, false)
  for (const process of [one, other]) {
    const refusal = await outcomeOf(process.create(request(cashInId, { valueCents: 1_00n })))
    assert.ok(refusal instanceof Refusal)
    assert.equal(refusal.code, 'cash_out_suspended')
  }
  const claimed = await one.apply(accepted.refund.id, [INPUTS['send.claimed']])
  assert.equal(claimed?.result, 'IGNORED')
  await switchPayouts(database, true)
  assert.equal((await other.apply(accepted.refund.id, [INPUTS['send.claimed']]))?.result, 'APPLIED')
})

test('[limits.1] [limits.2] [limits.6] limits count refunds too; what is given back no longer', async (t) => {
  const { one, paid, request } = await office(t, { paymentCents: 40_00n, dayCents: 60_00n })
  const cashInId = await paid()
  const limitOf = async (valueCents: bigint) => {
    const refusal = await outcomeOf(one.create(request(cashInId, { valueCents })))
    return refusal instanceof Refusal ? refusal.limit?.name : undefined
  }
  assert.equal(await limitOf(40_01n), 'payment')
  const { refund } = await one.create(request(cashInId))
  assert.equal(await limitOf(20_01n), 'day')
  await one.apply(refund.id, [INPUTS['send.claimed'], { ...INPUTS['send.rejected'], attempt: 1 }])
  assert.equal(await limitOf(20_01n), undefined)
})

test('[refund-in.states.6] [refund-in.work.4] while nothing can be sent, what must be released is still found', async (t) => {
  const { one, paid, request, store, now } = await office(t)
  const cashInId = await paid()
  const waiting = (await one.create(request(cashInId, { valueCents: 1n }))).refund
  const tried = (await one.create(request(cashInId, { valueCents: 2n }))).refund
  const open = (await one.create(request(cashInId, { valueCents: 3n }))).refund
  for (const { id } of [tried, open]) await one.apply(id, [{ on: 'send.claimed', leaseMs: 60_000 }])
  await one.apply(tried.id, [INPUTS['send.not_sent']])
  const due = async (afterMs: number, isSending: boolean) =>
    (await store.due(now() + afterMs, 10, isSending)).map(({ valueCents }) => valueCents).toSorted()
  assert.deepEqual(await due(0, true), [1n])
  assert.deepEqual(await due(0, false), [])
  assert.deepEqual(await due(61_000, true), [1n, 2n, 3n])
  assert.deepEqual(await due(61_000, false), [3n])
  assert.deepEqual(await due(1_801_000, false), [2n, 3n])
  assert.deepEqual(await due(86_401_000, false), [1n, 2n, 3n])
  assert.equal(waiting.facts.attempts, undefined)
})

test('[RF-12] [cash-in.returns.1] [cash-in.returns.2] a return that one process awaits another one settles, from the database', async (t) => {
  const { one, other, paid, request, returned, database, store, now } = await office(t)
  const cashInId = await paid()
  const { refund } = await one.create(request(cashInId))
  await one.apply(refund.id, [{ on: 'send.claimed', leaseMs: 60_000 }])
  assert.equal(await one.applyReturn(cashInId, returned({ transactionId: 'tx-r' })), 'APPLIED')
  assert.equal(await other.applyReturn(cashInId, returned({ transactionId: 'tx-r' })), 'IGNORED')
  const waiting = { available: 59_00n, reserved: 40_00n, settlement: -100_00n, fees: 1_00n }
  assert.deepEqual(await balances(database), waiting)
  await other.apply(refund.id, [{ on: 'send.accepted', transactionId: 'tx-r' }])
  assert.equal((await store.get(refund.id))?.status, 'CONFIRMED')
  assert.deepEqual(await balances(database), { available: 59_00n, settlement: -60_00n, fees: 1_00n })

  // And one of the bank's own, of the amount of another refund.
  const { refund: second } = await one.create(request(cashInId, { valueCents: 10_00n }))
  await other.applyReturn(cashInId, returned({ returnId: 'M2', valueCents: 10_00n, occurredAt: now() }))
  await one.apply(second.id, [
    { on: 'send.claimed', leaseMs: 60_000 },
    { on: 'send.accepted', transactionId: 'tx-r2' },
  ])
  assert.deepEqual(await balances(database), {
    available: 39_00n,
    reserved: 10_00n,
    settlement: -50_00n,
    fees: 1_00n,
  })
  assert.deepEqual(await cases(database), [])
  await assertBooks(database)
})

test('[RF-12] [RF-13] 100 times refunds and returns of one amount race in two processes: each is booked once', async (t) => {
  const { one, other, paid, request, returned, database, now } = await office(t)
  for (let round = 0; round < 100; round++) {
    const cashInId = await paid()
    const { refund } = await one.create(request(cashInId))
    await one.apply(refund.id, [{ on: 'send.claimed', leaseMs: 60_000 }])
    const transactionId = `tx-r${round}`
    const own = returned({ returnId: `D${round}`, transactionId })
    await Promise.all([
      one.applyReturn(cashInId, own),
      other.applyReturn(cashInId, returned({ returnId: `M${round}`, transactionId: `tx-m${round}` })),
      other.apply(refund.id, [{ on: 'send.accepted', transactionId }]),
      one.applyReturn(cashInId, own),
    ])
    const confirmation = confirmed({ returnId: `D${round}`, valueCents: 40_00n, occurredAt: now() })
    const outcome = await one.apply(refund.id, [{ ...confirmation, transactionId }])
    assert.equal(outcome?.refund.status, 'CONFIRMED')
  }
  assert.deepEqual(await balances(database), { available: 1_900_00n, settlement: -2_000_00n, fees: 100_00n })
  assert.deepEqual(await cases(database), [])
  await assertBooks(database)
})

test('[RF-8] [cash-in.returns.8] a refund that failed although it may have arrived is asked about before a return is the bank’s', async (t) => {
  const { one, paid, request, returned, database, store } = await office(t)
  const cashInId = await paid()
  const { refund } = await one.create(request(cashInId))
  const never = (await one.create(request(cashInId, { valueCents: 1n }))).refund
  await one.apply(refund.id, [{ on: 'send.claimed', leaseMs: 60_000 }])
  await one.apply(refund.id, [INPUTS['send.rejected']])
  const unsent = (await one.create(request(cashInId))).refund
  await one.apply(unsent.id, [{ on: 'send.claimed', leaseMs: 60_000 }])
  await one.apply(unsent.id, [INPUTS['send.not_sent']])
  await one.apply(unsent.id, [{ ...INPUTS['partner.failed'], transactionId: null }])
  assert.deepEqual((await store.explaining(cashInId, 40_00n)).toSorted(), [never.id, refund.id].toSorted())
  assert.deepEqual(await store.explaining(cashInId, 39_99n), [never.id])
  await one.applyReturn(cashInId, returned())
  assert.equal((await balances(database)).settlement, -100_00n)
  assert.equal(statusQueryOf((await store.get(refund.id))?.facts ?? {}), 'requested')
  await one.apply(refund.id, [INPUTS['work.claimed']])
  await one.apply(refund.id, [INPUTS['partner.not_found'], INPUTS['work.done']])
  assert.equal((await balances(database)).settlement, -60_00n)
  assert.deepEqual(await cases(database), [])
  await assertBooks(database)
})
