import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { decidingOver } from '../cases/without-operation/fixture.ts'
import { balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { world } from '../support/world.ts'

/** Payments that nothing here explains: in no balance until it is decided whose they are, then in the books to the centavo. */

const FORGOTTEN = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

async function setUp(t: TestContext) {
  const pix = await world(t, {}, { isStepped: true })
  return {
    ...pix,
    decide: decidingOver(pix).decide,
    open: async () => (await cases(pix.database)).filter((kind) => !kind.endsWith('(closed)')),
    minutes: async (count: number) => {
      for (let minute = 0; minute < count; minute += 1) await pix.later(60_000)
    },
  }
}

/** As after a backup was restored: the bank has a charge that we have forgotten, and it is paid. */
async function forgotten(t: TestContext) {
  const pix = await setUp(t)
  const ours = await pix.charge('10.00')
  const terms = {
    valueCents: 1000,
    expiresAt: new Date(pix.clock.now() + 3_600_000).toISOString(),
    merchant: { pixKey: 'loja@example.com', name: 'Loja', city: 'Sao Paulo' },
  }
  assert.equal((await pix.bank('PUT', `/charges/${FORGOTTEN}`, terms)).status, 201)
  const { endToEndId } = await pix.bankAction(`charges/${FORGOTTEN}/pay`)
  await pix.minutes(35)
  assert.deepEqual((await pix.open()).toSorted(), ['event_set_aside', 'unexplained_credit'])
  return { ...pix, ours, endToEndId: String(endToEndId) }
}

for (const [decision, expected] of [
  ['book', { available: 1000n, settlement: -1000n }],
  ['credit', { available: 1000n, settlement: -1000n }],
  ['write_off', { settlement: -1000n, losses: 1000n }],
] as const) {
  test(`[cases.53] [EV-7] [PL-3] a payment of a charge that is unknown here: ${decision}, and both books are equal`, async (t) => {
    const pix = await forgotten(t)
    const given = decision === 'book' ? { operationId: pix.ours.id } : {}
    await pix.decide('unexplained_credit', decision, given)
    await pix.decide('event_set_aside', 'close')
    await pix.minutes(10)
    assert.deepEqual(await balances(pix.database), expected)
    assert.deepEqual(await pix.open(), [])
    await pix.assertBooksAgree()
  })
}

test('[cash-in.states.13] [EV-7] an end-to-end id that is told for two charges is credited to one, and the other is a case', async (t) => {
  const pix = await setUp(t)
  const [one, other] = [await pix.charge('10.00'), await pix.charge('10.00')]
  const { endToEndId } = await pix.bankAction(`charges/${one.id}/pay`)
  await pix.until(`/api/pix/cash-in/${one.id}`, ({ status }) => status === 'PAID')
  const told = paidEvent({ ...other, valueCents: 1000 }, { endToEndId })
  assert.equal(await postEvent(pix, told), 200)
  await pix.minutes(30)
  assert.equal((await pix.read(one.id)).status, 'PAID')
  assert.notEqual((await pix.read(other.id)).status, 'PAID')
  assert.equal((await balances(pix.database)).available, 1000n, 'it is credited once')
})

test('[cases.53] [PL-3] what the bank gives back of a payment that is unknown here explains itself, and is no case', async (t) => {
  const pix = await setUp(t)
  const terms = {
    valueCents: 1000,
    expiresAt: new Date(pix.clock.now() + 3_600_000).toISOString(),
    merchant: { pixKey: 'loja@example.com', name: 'Loja', city: 'Sao Paulo' },
  }
  assert.equal((await pix.bank('PUT', `/charges/${FORGOTTEN}`, terms)).status, 201)
  await pix.bankAction(`charges/${FORGOTTEN}/pay`)
  await pix.bankAction(`charges/${FORGOTTEN}/return`, { valueCents: 1000 })
  await pix.minutes(35)
  assert.deepEqual(await balances(pix.database), {})
  assert.ok(!(await pix.open()).includes('unexplained_credit'))
})
