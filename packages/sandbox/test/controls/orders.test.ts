import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { told } from '../../../server/test/support/evidence.ts'
import { type Answer, type World, world } from '../../../server/test/support/world.ts'

const STRANGER = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

test('[sandbox.8] confirm lets a waiting payout arrive, once', async (t) => {
  const pix = await withOrdersThatWait(t)
  const { id } = await payoutAtTheBank(pix)
  const { status, body } = await pull(pix, `cash-out/${id}/confirm`)
  assert.deepEqual([status, body.accepted], [202, true])
  const confirmed = await payoutBecomes(pix, id, 'CONFIRMED')
  assert.equal(confirmed.endToEndId, body.endToEndId)
  await assertImpossible(pix, `cash-out/${id}/confirm`)
  await assertImpossible(pix, `cash-out/${id}/fail`)
  await pix.assertBooksAgree()
})

test('[sandbox.8] fail lets a waiting payout fail, once', async (t) => {
  const pix = await withOrdersThatWait(t)
  const { id } = await payoutAtTheBank(pix)
  await assertTaken(pix, `cash-out/${id}/fail`)
  await payoutBecomes(pix, id, 'FAILED')
  for (const lever of ['confirm', 'fail', 'reverse']) await assertImpossible(pix, `cash-out/${id}/${lever}`)
  await pix.assertBooksAgree()
})

test('[sandbox.1] a payout that has not reached the bank cannot be settled there', async (t) => {
  const pix = await withOrdersThatWait(t)
  const { id } = await pix.cashOut()
  for (const lever of ['confirm', 'fail', 'reverse']) await assertImpossible(pix, `cash-out/${id}/${lever}`)
})

test('[sandbox.9] reverse sends back the amount given, then all that is left, and no more', async (t) => {
  const pix = await withOrdersThatWait(t)
  const { id } = await payoutAtTheBank(pix)
  await assertImpossible(pix, `cash-out/${id}/reverse`)
  await pull(pix, `cash-out/${id}/confirm`)
  await payoutBecomes(pix, id, 'CONFIRMED')
  await assertImpossible(pix, `cash-out/${id}/reverse`, { valueCents: 3_001 })
  await assertTaken(pix, `cash-out/${id}/reverse`, { valueCents: 1_000 })
  await pix.until(`/api/pix/cash-out/${id}`, ({ reversedCents }) => reversedCents === 1_000)
  await assertTaken(pix, `cash-out/${id}/reverse`)
  await pix.until(`/api/pix/cash-out/${id}`, ({ reversedCents }) => reversedCents === 3_000)
  await assertImpossible(pix, `cash-out/${id}/reverse`)
  assert.deepEqual(await told(pix.database), ['PAID', 'CONFIRMED', 'REVERSED', 'REVERSED'])
  await pix.assertBooksAgree()
})

for (const [lever, end] of [
  ['confirm', 'CONFIRMED'],
  ['fail', 'FAILED'],
] as const) {
  test(`[sandbox.10] ${lever} settles a waiting refund, once`, async (t) => {
    const pix = await withOrdersThatWait(t)
    const { id: cashInId } = await pix.paid('10.00')
    const { id } = await pix.refundIn(cashInId, 4)
    await assertImpossible(pix, `refund-in/${id}/${lever}`)
    await pix.until(`/api/pix/refund/${id}`, hasArrived)
    await assertTaken(pix, `refund-in/${id}/${lever}`)
    await pix.until(`/api/pix/refund/${id}`, ({ status }) => status === end)
    await assertImpossible(pix, `refund-in/${id}/confirm`)
    await assertImpossible(pix, `refund-in/${id}/fail`)
    await pix.assertBooksAgree()
  })
}

test('[sandbox.7] return lets the bank take a payment back, never more than is left of it', async (t) => {
  const pix = await withOrdersThatWait(t)
  const { id, endToEndId } = await pix.paid('10.00')
  await assertImpossible(pix, `cash-in/${id}/return`, { valueCents: 1_001 })
  const { status, body } = await pull(pix, `cash-in/${id}/return`, { valueCents: 400 })
  assert.deepEqual([status, body], [202, { accepted: true, endToEndId }])
  await pix.until(`/api/pix/cash-in/${id}`, ({ refundedCents }) => refundedCents === 400)
  await assertImpossible(pix, `cash-in/${id}/return`, { valueCents: 601 })
  await pix.assertBooksAgree()
})

test('[sandbox.1] an unknown id is 404 at every lever of an order, and one of another kind too', async (t) => {
  const pix = await withOrdersThatWait(t)
  const [cashIn, cashOut] = [await pix.charge('10.00'), await pix.cashOut()]
  for (const [id, lever] of [
    [STRANGER, 'cash-in/{id}/return'],
    [cashOut.id, 'cash-in/{id}/return'],
    [STRANGER, 'cash-out/{id}/confirm'],
    [cashIn.id, 'cash-out/{id}/fail'],
    [cashOut.externalId, 'cash-out/{id}/reverse'],
    [STRANGER, 'refund-in/{id}/confirm'],
    [cashOut.id, 'refund-in/{id}/fail'],
  ]) {
    const order = /return|reverse/.test(lever) ? { valueCents: 1 } : undefined
    const { status, body } = await pull(pix, lever.replace('{id}', id), order)
    assert.deepEqual([status, body.code], [404, 'not_found'], lever)
  }
})

test('[sandbox.1] an amount that is none and an unknown field are 400', async (t) => {
  const pix = await withOrdersThatWait(t)
  const [cashIn, cashOut] = [await pix.paid('10.00'), await pix.cashOut()]
  const wrong = [{ valueCents: 0 }, { valueCents: 1.5 }, { valueCents: '1' }, { valueCents: 1, reason: 'fraud' }, []]
  for (const order of wrong) {
    for (const lever of [`cash-in/${cashIn.id}/return`, `cash-out/${cashOut.id}/reverse`]) {
      assert.equal((await pull(pix, lever, order)).status, 400, `${lever} ${JSON.stringify(order)}`)
    }
  }
  assert.equal((await pull(pix, `cash-in/${cashIn.id}/return`)).status, 400, 'a return needs its amount')
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

/** Whether the bank has told its id of an order. */
function hasArrived({ transactionId }: Answer['body']): boolean {
  return transactionId !== null
}

function pull(pix: World, lever: string, order?: unknown): Promise<Answer> {
  return pix.call('POST', `/sandbox/${lever}`, order)
}

async function assertTaken(pix: World, lever: string, order?: unknown): Promise<void> {
  const { status, body } = await pull(pix, lever, order)
  assert.deepEqual([status, body], [202, { accepted: true }], lever)
}

async function assertImpossible(pix: World, lever: string, order?: unknown): Promise<void> {
  const { status, body } = await pull(pix, lever, order)
  assert.deepEqual([status, body.code], [409, 'not_possible_in_state'], lever)
}
