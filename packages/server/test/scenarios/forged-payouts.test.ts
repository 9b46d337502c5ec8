import assert from 'node:assert/strict'
import test from 'node:test'
import { compareWithBank } from '../../src/ledger/verify/bank.ts'
import { verify } from '../../src/ledger/verify/verifier.ts'
import { bankWithout } from '../support/bank-without.ts'
import { cases } from '../support/evidence.ts'
import { postEvent } from '../support/partner-events.ts'
import { minutes } from '../support/stepping.ts'
import { type World, type WorldOptions, world } from '../support/world.ts'

/** Whoever has the secret of the bank's events tells that payouts were made which were not. */

interface Payout {
  readonly id: string
  readonly valueCents: number
}

/** A payout that the bank has and has not made yet. */
async function underWay(pix: World, value = 30): Promise<Payout & { readonly transactionId: string }> {
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut({ value })
  return pix.until(`/api/pix/cash-out/${id}`, ({ transactionId }) => transactionId !== null)
}

/** Tells that a payout was made. */
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

test('[ledger.verify.6] a debit of the books that the bank’s statement lacks is told, until its case is closed', async (t) => {
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

test('[cash-out.states.17] [cash-out.states.18] what an event makes up confirms no payout under way: each ends as the bank says, and the event is a case', async (t) => {
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
