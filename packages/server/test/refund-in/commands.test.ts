import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import { statusQueryOf } from '../../src/operations/attempts.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import type { RefundIn } from '../../src/refund-in/refund-in.ts'
import { refusalOf } from '../cash-out/fixture.ts'
import { assertBooks, balances } from '../support/books.ts'
import { switchPayouts } from '../support/controls.ts'
import { cases } from '../support/evidence.ts'
import { refundOffice } from './fixture.ts'
import { confirmed, INPUTS } from './situations.ts'

/** What came of it: the refund, or the code of the refusal. */
async function outcomeOf(created: Promise<{ refund: RefundIn; isReplayed: boolean }>) {
  return created.catch((error: unknown) => {
    assert.ok(error instanceof Refusal, String(error))
    return error
  })
}

test('[RF-2] [refund-in.create.4] 200 times six refunds of two processes race for one ceiling: two of them fit', async (t) => {
  const { one, other, paid, request, database } = await refundOffice(t)
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
  const { one, other, paid, request, returned, database, now } = await refundOffice(t)
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
  const { one, other, paid, returned, database, store, now } = await refundOffice(t)
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

test('[RF-1] [external-id.2] [refund-in.create.6] a client whose answer was lost finds its refund, not a refusal', async (t) => {
  const { one, other, paid, request } = await refundOffice(t)
  const cashInId = await paid()
  const body = { externalId: 'refund-1', valueCents: 90_00n }
  const { refund } = await one.create(request(cashInId, body))
  const refused = await refusalOf(other.create(request(cashInId, body)))
  assert.deepEqual([refused.code, refused.existing?.id], ['duplicate_external_id', refund.id])
  assert.deepEqual([refused.existing?.status, refused.existing?.samePayload], ['PENDING', true])
  const another = await refusalOf(other.create(request(cashInId, { ...body, valueCents: 1n })))
  assert.equal(another.existing?.samePayload, false)
})

test('[RF-1] [idempotency.2] [idempotency.3] [refund-in.create.6] an Idempotency-Key finds it without an external id', async (t) => {
  const { one, other, paid, request, database } = await refundOffice(t)
  const first = { ...request(await paid()), idempotencyKey: 'key createRefundIn 1' }
  const { refund } = await one.create(first)
  const repeat = { ...first, id: first.cashInId ?? '', externalId: 'another' }
  const [again, both] = await Promise.all([other.create(repeat), one.create(repeat)])
  assert.deepEqual([again.refund.id, again.isReplayed], [refund.id, true])
  assert.equal(both.refund.id, refund.id)
  const reused = await refusalOf(other.create({ ...repeat, bodyHash: sha256('another body') }))
  assert.equal(reused.code, 'idempotency_key_reused')
  assert.equal((await balances(database)).reserved, 40_00n)
})

test('[RF-3] [refund-in.create.2] a balance that is too low stores nothing: the external id is free', async (t) => {
  const { one, paid, request } = await refundOffice(t)
  const [first, second] = [await paid(), await paid()]
  await one.create(request(first, { valueCents: 100_00n }))
  const body = { externalId: 'refund-1', valueCents: 99_00n }
  const refused = await refusalOf(one.create(request(second, body)))
  assert.equal(refused.code, 'insufficient_balance')
  await paid()
  assert.equal((await one.create(request(second, body))).refund.status, 'PENDING')
})

test('[refund-in.told.2] [EV-26] references of different refunds are distinguished; an end-to-end id identifies none', async (t) => {
  const { one, paid, request, store } = await refundOffice(t)
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
  const { database, one, other, paid, request } = await refundOffice(t)
  const cashInId = await paid()
  const accepted = await one.create(request(cashInId, { valueCents: 1_00n }))
  await other.create(request(cashInId, { valueCents: 1_00n }))
  await switchPayouts(database, false)
  for (const process of [one, other]) {
    const refusal = await refusalOf(process.create(request(cashInId, { valueCents: 1_00n })))
    assert.equal(refusal.code, 'cash_out_suspended')
  }
  const claimed = await one.apply(accepted.refund.id, [INPUTS['send.claimed']])
  assert.equal(claimed?.result, 'IGNORED')
  await switchPayouts(database, true)
  assert.equal((await other.apply(accepted.refund.id, [INPUTS['send.claimed']]))?.result, 'APPLIED')
})

test('[limits.1] [limits.2] [limits.6] limits count refunds too; what is given back no longer', async (t) => {
  const { one, paid, request } = await refundOffice(t, { paymentCents: 40_00n, dayCents: 60_00n })
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

test('[refund-in.doubt.9] [engine.14] [CO-47] one return reported for refunds of two payments confirms one, and is booked once; the other stays pending with a case', async (t) => {
  const { one, paid, request, database, now } = await refundOffice(t)
  const made = [await one.create(request(await paid())), await one.create(request(await paid()))]
  for (const { refund } of made) await one.apply(refund.id, [INPUTS['send.claimed']])
  const reported = confirmed({ valueCents: 40_00n, occurredAt: now() })
  const outcomes = await Promise.all(made.map(({ refund }) => one.apply(refund.id, [reported])))
  assert.deepEqual(
    outcomes.map((outcome) => outcome?.refund.status),
    ['CONFIRMED', 'PENDING'],
  )
  assert.deepEqual(await cases(database), ['movement_elsewhere'])
  const { reserved, suspense_out } = await balances(database)
  assert.deepEqual([reserved, suspense_out], [40_00n, undefined])
  await assertBooks(database)
})

test('[RF-12] [cash-in.returns.1] [cash-in.returns.2] a return that one process awaits another one settles, from the database', async (t) => {
  const { one, other, paid, request, returned, database, store, now } = await refundOffice(t)
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
  const { one, other, paid, request, returned, database, now } = await refundOffice(t)
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
  const { one, paid, request, returned, database, store } = await refundOffice(t)
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
