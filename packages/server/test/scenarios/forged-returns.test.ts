import assert from 'node:assert/strict'
import test from 'node:test'
import { assertBooks, balances } from '../support/books.ts'
import { cases, inbox } from '../support/evidence.ts'
import { postEvent } from '../support/partner-events.ts'
import { minutes } from '../support/stepping.ts'
import { type World, world } from '../support/world.ts'

/** Whoever has the secret of the bank's events tells that payments went back. */

/** Tells that the bank took so much of a payment back by itself. */
async function postReversal(
  pix: World,
  { providerTransactionId, endToEndId }: { readonly providerTransactionId: string; readonly endToEndId: string },
  given: { readonly returnId: string; readonly valueCents: number },
): Promise<void> {
  const before = (await inbox(pix.database)).length
  const event = {
    event: 'CashInReversal',
    eventId: `reversal ${given.returnId}`,
    transactionId: providerTransactionId,
    status: 'CONFIRMED',
    endToEndId,
    occurredAt: new Date(pix.clock.now()).toISOString(),
    ...given,
  }
  assert.equal(await postEvent(pix, event), 200)
  while ((await inbox(pix.database))[before]?.state === 'NEW');
}

const returnIdOf = (index: number) => `D99999010202611221315${String(index).padStart(11, '0')}`

test('[cash-in.returns.9] a return of which the bank knows nothing takes nothing from the merchant, and is a case', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const cashIn = await pix.paid('900.00')
  await postReversal(pix, cashIn, { returnId: returnIdOf(1), valueCents: 90_000 })
  await minutes(pix, 30)
  assert.deepEqual(await balances(pix.database), { available: 90_000n, settlement: -90_000n })
  assert.deepEqual(await cases(pix.database), ['event_set_aside'])
  assert.equal((await pix.read(cashIn.id)).refundedCents, 0)
  await pix.assertBooksAgree()
})

test('[cash-in.returns.9] a return that the bank has is booked by its answer, as soon as the event is there', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const cashIn = await pix.paid('900.00')
  await pix.bankAction(`charges/${cashIn.id}/return`, { valueCents: 40_000 })
  while ((await pix.read(cashIn.id)).refundedCents !== 40_000) await pix.later(1_000)
  await pix.later(5_000)
  assert.deepEqual(await balances(pix.database), { available: 50_000n, settlement: -50_000n })
  assert.ok((await inbox(pix.database)).every(({ isDone }) => isDone))
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[cash-in.returns.9] a return that may be a refund of ours is awaited, and forgotten when the bank says that it is not', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const cashIn = await pix.paid('900.00')
  await pix.behave({ refundIn: 'manual' })
  const refund = await pix.refundIn(cashIn.id, 300)
  await pix.later(1_000)
  for (const index of [1, 2]) {
    await postReversal(pix, cashIn, { returnId: returnIdOf(index), valueCents: 30_000 })
  }
  await minutes(pix, 30)
  await pix.bankAction(`refunds/${refund.id}/fail`)
  await minutes(pix, 30)
  assert.deepEqual(await balances(pix.database), { available: 90_000n, settlement: -90_000n })
  assert.deepEqual(await cases(pix.database), ['event_set_aside', 'event_set_aside'])
  await assertBooks(pix.database)
})

test('[cash-in.returns.9] however many returns events tell of a charge, it grows no larger', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const cashIn = await pix.paid('900.00')
  const before = await pix.read(cashIn.id)
  for (let index = 0; index < 30; index += 1) {
    await postReversal(pix, cashIn, { returnId: returnIdOf(index), valueCents: 1 + index })
  }
  await pix.later(1_000)
  assert.deepEqual(await pix.read(cashIn.id), { ...before, updatedAt: (await pix.read(cashIn.id)).updatedAt })
  assert.deepEqual(await balances(pix.database), { available: 90_000n, settlement: -90_000n })
})
