import assert from 'node:assert/strict'
import test from 'node:test'
import { compareWithBank } from '../../src/ledger/verify/bank.ts'
import { verify } from '../../src/ledger/verify/verifier.ts'
import { bankWithout } from '../support/bank-without.ts'
import { assertBooks, balances } from '../support/books.ts'
import { cases, inbox } from '../support/evidence.ts'
import { postEvent } from '../support/partner-events.ts'
import { minutes } from '../support/stepping.ts'
import { until } from '../support/until.ts'
import { type World, type WorldOptions, world } from '../support/world.ts'

/** A thief with the secret of the bank's events forges confirmations of payouts and returns of payments. */

interface Payout {
  readonly id: string
  readonly valueCents: number
}

async function underWay(pix: World, value = 30): Promise<Payout & { readonly transactionId: string }> {
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut({ value })
  return pix.until(`/api/pix/cash-out/${id}`, ({ transactionId }) => transactionId !== null)
}

async function postConfirmation(pix: World, { id, valueCents }: Payout, given: object = {}): Promise<void> {
  const event = {
    event: 'CashOut',
    eventId: `confirmation of ${id}`,
    transactionId: 'made up',
    externalId: id,
    status: 'CONFIRMED',
    endToEndId: `E99999001202611221315${id.slice(-11)}`,
    valueCents,
    occurredAt: new Date(pix.clock.now()).toISOString(),
    ...given,
  }
  assert.equal(await postEvent(pix, event, { endpoint: 'cash-out' }), 200)
  await pix.later(0)
}

async function funded(t: Parameters<typeof world>[0], environment = {}, options: WorldOptions = {}): Promise<World> {
  const pix = await world(t, environment, { isStepped: true, ...options })
  await pix.balance(90_000)
  await pix.later(60_000)
  return pix
}

test('[ledger.verify.6] a debit of the books that the bank’s statement lacks is reported until its case is closed', async (t) => {
  const pix = await funded(t, {}, bankWithout('query-payout'))
  const payout = await underWay(pix)
  await postConfirmation(pix, payout)
  assert.equal((await pix.get(`/api/pix/cash-out/${payout.id}`)).status, 'CONFIRMED')
  await minutes(pix, 8)
  assert.deepEqual(await cases(pix.database), ['line_missing'])
  const { differences } = await compareWithBank(pix.database)
  assert.partialDeepStrictEqual(differences, [
    { kind: 'line_missing', operationId: payout.id, cents: BigInt(payout.valueCents) },
  ])
  assert.deepEqual((await verify(pix.database)).drifts, [])
})

test('[cash-out.states.17] [cash-out.states.18] a forged event confirms no payout under way: each ends as the bank says, and the event is a case', async (t) => {
  const pix = await funded(t)
  const payouts = [await underWay(pix), await underWay(pix)] as const
  for (const payout of payouts) await postConfirmation(pix, payout)
  for (const { id } of payouts) assert.equal((await pix.get(`/api/pix/cash-out/${id}`)).status, 'DISPATCHED')
  const [made, refused] = payouts
  await pix.bankAction(`payouts/${made.id}/confirm`)
  await pix.bankAction(`payouts/${refused.id}/fail`)
  await minutes(pix, 40)
  assert.equal((await pix.get(`/api/pix/cash-out/${made.id}`)).status, 'CONFIRMED')
  assert.equal((await pix.get(`/api/pix/cash-out/${refused.id}`)).status, 'FAILED')
  assert.deepEqual(await cases(pix.database), ['event_set_aside', 'event_set_aside'])
  assert.deepEqual((await compareWithBank(pix.database)).differences, [])
  await pix.assertBooksAgree()
})

test('[cash-out.states.17] an event that names the bank’s reference confirms at once', async (t) => {
  const pix = await funded(t)
  const payout = await underWay(pix)
  await postConfirmation(pix, payout, { transactionId: payout.transactionId })
  assert.equal((await pix.get(`/api/pix/cash-out/${payout.id}`)).status, 'CONFIRMED')
})

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
  await until(async () => (await inbox(pix.database))[before]?.state !== 'NEW')
}

const returnIdOf = (index: number) => `D99999010202611221315${String(index).padStart(11, '0')}`

test('[cash-in.returns.9] a return unknown to the bank takes nothing from the merchant, and is a case', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const cashIn = await pix.paid('900.00')
  await postReversal(pix, cashIn, { returnId: returnIdOf(1), valueCents: 90_000 })
  await minutes(pix, 30)
  assert.deepEqual(await balances(pix.database), { available: 90_000n, settlement: -90_000n })
  assert.deepEqual(await cases(pix.database), ['event_set_aside'])
  assert.equal((await pix.read(cashIn.id)).refundedCents, 0)
  await pix.assertBooksAgree()
})

test('[cash-in.returns.9] a return that the bank has is booked by its answer, as soon as the event arrived', async (t) => {
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

test('[cash-in.returns.9] a return that may be a refund of ours is awaited, and dropped when the bank denies it', async (t) => {
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

test('[cash-in.returns.9] any number of returns that only events report leaves the charge unchanged', async (t) => {
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
