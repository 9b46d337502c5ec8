import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { bankWithout } from '../support/bank-without.ts'
import { balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { caseWorld } from './fixture.ts'

/** The bank takes back (MED) what an operator had decided: at a simulated bank, by its events, its answers and its statement. */

const BANKS = [
  ['with a statement', {}],
  ['without a statement', bankWithout('statement')],
  ['that cannot be asked', bankWithout('query-charge', 'statement')],
] as const

/** A charge of R$ 80,00 of which R$ 70,00 were paid, with its case. */
async function paidOtherwise(t: TestContext, bank: (typeof BANKS)[number][1]) {
  const pix = await caseWorld(t, {}, bank)
  const charge = await pix.charge('80.00')
  await pix.bankAction(`charges/${charge.id}/pay`, { valueCents: 7_000 })
  const openCase = async () => {
    for (;;) {
      const [open] = (await pix.read(`?operation_id=${charge.id}`)).data
      if (open) return open
      await pix.later(1_000)
    }
  }
  return { ...pix, paidId: charge.id, openCase }
}

for (const [which, bank] of BANKS) {
  test(`[cash-in.refunds.6] [EV-49] at a bank ${which} what was accepted and is taken back is debited from the merchant`, async (t) => {
    const pix = await paidOtherwise(t, bank)
    const { id } = await pix.openCase()
    const { body } = await pix.decide(id, 'accept', { amountCents: 7_000 })
    assert.equal((await pix.say(id, body.proposalId, true)).status, 200)
    await pix.bankAction(`charges/${pix.paidId}/return`, { valueCents: 7_000 })
    const path = `/api/pix/cash-in/${pix.paidId}`
    while ((await pix.get(path)).refundedCents !== 7_000) await pix.later(1_000)
    for (let minute = 0; minute < 10; minute++) await pix.later(60_000)
    assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
    assert.equal((await pix.get(path)).status, 'PAID')
    assert.equal((await balances(pix.database)).settlement, undefined)
    await pix.assertBooksAgree()
  })
}

for (const [which, bank] of BANKS) {
  test(`[cash-in.refunds.9] [EV-49] at a bank ${which} what was written off and is taken back is a case`, async (t) => {
    const pix = await paidOtherwise(t, bank)
    assert.equal((await pix.decide((await pix.openCase()).id, 'write_off')).status, 200)
    await pix.bankAction(`charges/${pix.paidId}/return`, { valueCents: 7_000 })
    const { id, kind } = await pix.openCase()
    assert.equal(kind, 'debit_in_suspense')
    for (let minute = 0; minute < 10; minute++) await pix.later(60_000)
    assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)', 'debit_in_suspense'])
    const { status, body } = await pix.decide(id, 'write_off')
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(await balances(pix.database), {})
    await pix.assertBooksAgree()
  })
}

for (const [which, bank] of BANKS) {
  test(`[cases.6] [EV-49] at a bank ${which} what was attributed and is taken back is debited from the charge that has it`, async (t) => {
    const pix = await paidOtherwise(t, bank)
    const other = await pix.charge('70.00')
    const { status } = await pix.decide((await pix.openCase()).id, 'book', { operationId: other.id })
    assert.equal(status, 200)
    await pix.bankAction(`charges/${pix.paidId}/return`, { valueCents: 7_000 })
    while ((await pix.get(`/api/pix/cash-in/${other.id}`)).refundedCents !== 7_000) await pix.later(1_000)
    for (let minute = 0; minute < 10; minute++) await pix.later(60_000)
    assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
    await pix.assertBooksAgree()
  })
}
