import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { notifiedStatuses } from '../../../server/test/support/evidence.ts'
import { type Answer, type World, world } from '../../../server/test/support/world.ts'

const STRANGER = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

test('[sandbox.8] confirm settles a waiting payout, once', async (t) => {
  const pix = await withOrdersThatWait(t)
  const { id } = await payoutAtTheBank(pix)
  const { status, body } = await act(pix, `cash-out/${id}/confirm`)
  assert.deepEqual([status, body.accepted], [202, true])
  const confirmed = await payoutBecomes(pix, id, 'CONFIRMED')
  assert.equal(confirmed.endToEndId, body.endToEndId)
  await assertImpossible(pix, `cash-out/${id}/confirm`)
  await assertImpossible(pix, `cash-out/${id}/fail`)
  await pix.assertBooksAgree()
})

test('[sandbox.8] fail fails a waiting payout, once', async (t) => {
  const pix = await withOrdersThatWait(t)
  const { id } = await payoutAtTheBank(pix)
  await assertAccepted(pix, `cash-out/${id}/fail`)
  await payoutBecomes(pix, id, 'FAILED')
  for (const action of ['confirm', 'fail', 'reverse']) await assertImpossible(pix, `cash-out/${id}/${action}`)
  await pix.assertBooksAgree()
})

test('[sandbox.1] a payout that has not reached the bank cannot be settled there', async (t) => {
  const pix = await withOrdersThatWait(t)
  const { id } = await pix.cashOut()
  for (const action of ['confirm', 'fail', 'reverse']) await assertImpossible(pix, `cash-out/${id}/${action}`)
})

test('[sandbox.9] reverse returns the given amount or all that is left, and never more', async (t) => {
  const pix = await withOrdersThatWait(t)
  const { id } = await payoutAtTheBank(pix)
  await assertImpossible(pix, `cash-out/${id}/reverse`)
  await act(pix, `cash-out/${id}/confirm`)
  await payoutBecomes(pix, id, 'CONFIRMED')
  await assertImpossible(pix, `cash-out/${id}/reverse`, { valueCents: 3_001 })
  await assertAccepted(pix, `cash-out/${id}/reverse`, { valueCents: 1_000 })
  await pix.until(`/api/pix/cash-out/${id}`, ({ reversedCents }) => reversedCents === 1_000)
  await assertAccepted(pix, `cash-out/${id}/reverse`)
  await pix.until(`/api/pix/cash-out/${id}`, ({ reversedCents }) => reversedCents === 3_000)
  await assertImpossible(pix, `cash-out/${id}/reverse`)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID', 'CONFIRMED', 'REVERSED', 'REVERSED'])
  await pix.assertBooksAgree()
})

for (const [action, end] of [
  ['confirm', 'CONFIRMED'],
  ['fail', 'FAILED'],
] as const) {
  test(`[sandbox.10] ${action} settles a waiting refund, once`, async (t) => {
    const pix = await withOrdersThatWait(t)
    const { id: cashInId } = await pix.paid('10.00')
    const { id } = await pix.refundIn(cashInId, 4)
    await assertImpossible(pix, `refund-in/${id}/${action}`)
    await pix.until(`/api/pix/refund/${id}`, hasArrived)
    await assertAccepted(pix, `refund-in/${id}/${action}`)
    await pix.until(`/api/pix/refund/${id}`, ({ status }) => status === end)
    await assertImpossible(pix, `refund-in/${id}/confirm`)
    await assertImpossible(pix, `refund-in/${id}/fail`)
    await pix.assertBooksAgree()
  })
}

test('[sandbox.7] return makes the bank return a payment (MED), and never more than is left', async (t) => {
  const pix = await withOrdersThatWait(t)
  const { id, endToEndId } = await pix.paid('10.00')
  await assertImpossible(pix, `cash-in/${id}/return`, { valueCents: 1_001 })
  const { status, body } = await act(pix, `cash-in/${id}/return`, { valueCents: 400 })
  assert.deepEqual([status, body], [202, { accepted: true, endToEndId }])
  await pix.until(`/api/pix/cash-in/${id}`, ({ refundedCents }) => refundedCents === 400)
  await assertImpossible(pix, `cash-in/${id}/return`, { valueCents: 601 })
  await pix.assertBooksAgree()
})

test('[sandbox.1] an unknown id or an id of another kind gets 404 for every action on an order', async (t) => {
  const pix = await withOrdersThatWait(t)
  const [cashIn, cashOut] = [await pix.charge('10.00'), await pix.cashOut()]
  for (const [id, action] of [
    [STRANGER, 'cash-in/{id}/return'],
    [cashOut.id, 'cash-in/{id}/return'],
    [STRANGER, 'cash-out/{id}/confirm'],
    [cashIn.id, 'cash-out/{id}/fail'],
    [cashOut.externalId, 'cash-out/{id}/reverse'],
    [STRANGER, 'refund-in/{id}/confirm'],
    [cashOut.id, 'refund-in/{id}/fail'],
  ]) {
    const order = /return|reverse/.test(action) ? { valueCents: 1 } : undefined
    const { status, body } = await act(pix, action.replace('{id}', id), order)
    assert.deepEqual([status, body.code], [404, 'not_found'], action)
  }
})

test('[sandbox.1] an invalid amount or an unknown field gets 400', async (t) => {
  const pix = await withOrdersThatWait(t)
  const [cashIn, cashOut] = [await pix.paid('10.00'), await pix.cashOut()]
  const wrong = [{ valueCents: 0 }, { valueCents: 1.5 }, { valueCents: '1' }, { valueCents: 1, reason: 'fraud' }, []]
  for (const order of wrong) {
    for (const action of [`cash-in/${cashIn.id}/return`, `cash-out/${cashOut.id}/reverse`]) {
      assert.equal((await act(pix, action, order)).status, 400, `${action} ${JSON.stringify(order)}`)
    }
  }
  assert.equal((await act(pix, `cash-in/${cashIn.id}/return`)).status, 400, 'a return needs its amount')
})

/** A merchant with R$ 100, at a bank that settles nothing by itself. */
async function withOrdersThatWait(t: TestContext): Promise<World> {
  const pix = await world(t, {}, { isStepped: true })
  await pix.behave({ cashOut: 'manual', refundIn: 'manual' })
  await pix.balance(10_000)
  return pix
}

/** A payout of R$ 30 that waits. */
async function payoutAtTheBank(pix: World): Promise<Answer['body']> {
  const { id } = await pix.cashOut()
  return pix.until(`/api/pix/cash-out/${id}`, hasArrived)
}

function payoutBecomes(pix: World, id: string, wanted: string): Promise<Answer['body']> {
  return pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === wanted)
}

/** Whether the bank has accepted an order. */
function hasArrived({ transactionId }: Answer['body']): boolean {
  return transactionId !== null
}

function act(pix: World, action: string, order?: unknown): Promise<Answer> {
  return pix.call('POST', `/sandbox/${action}`, order)
}

async function assertAccepted(pix: World, action: string, order?: unknown): Promise<void> {
  const { status, body } = await act(pix, action, order)
  assert.deepEqual([status, body], [202, { accepted: true }], action)
}

async function assertImpossible(pix: World, action: string, order?: unknown): Promise<void> {
  const { status, body } = await act(pix, action, order)
  assert.deepEqual([status, body.code], [409, 'not_possible_in_state'], action)
}
