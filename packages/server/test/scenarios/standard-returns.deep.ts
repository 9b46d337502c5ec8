import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { decidingOver } from '../cases/without-operation/fixture.ts'
import { balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { PIX_KEY } from '../support/standard-bank.ts'
import { world } from '../support/world.ts'

/** What the merchant did not ask for, at Efí: money that the bank takes back, that comes back, and that nobody charged. */

const HOUR_MS = 3_600_000

async function atEfi(t: TestContext) {
  const pix = await world(t, {}, { isStepped: true, standard: 'efi' })
  const charge = await pix.charge('100')
  await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.until(`/api/pix/cash-in/${charge.id}`, ({ status }) => status === 'PAID')
  return {
    ...pix,
    chargeId: charge.id,
    decide: decidingOver(pix).decide,
    /** Callbacks do not come any more. */
    silence: () => pix.behave({ eventDelayMs: HOUR_MS }),
    /** As many minutes pass as a list is waited for. */
    pass: async (ms: number) => {
      for (let passedMs = 0; passedMs < ms; passedMs += 60_000) await pix.later(60_000)
    },
    open: async () => (await cases(pix.database)).filter((kind) => !kind.endsWith('(closed)')),
  }
}

for (const isSilent of [false, true]) {
  const how = isSilent ? 'of which no callback tells' : 'that a callback asks about'

  test(`[api-pix.8] [EV-27] at efi: what the bank takes back of a payment (MED), ${how}, is debited once`, async (t) => {
    const pix = await atEfi(t)
    if (isSilent) await pix.silence()
    await pix.bankAction(`charges/${pix.chargeId}/return`, { valueCents: 2_500, nature: 'MED_FRAUDE' })
    await pix.pass(isSilent ? 2 * HOUR_MS : 300_000)
    assert.deepEqual(await balances(pix.database), { available: 7_500n, settlement: -7_500n })
    await pix.pass(2 * HOUR_MS)
    assert.deepEqual(await balances(pix.database), { available: 7_500n, settlement: -7_500n }, 'not again')
    assert.deepEqual(await pix.open(), [])
    await pix.assertBooksAgree()
  })

  test(`[efi.3] [efi.5] at efi: a payout that comes back in two parts, ${how}, is credited, and reversed with the last`, async (t) => {
    const pix = await atEfi(t)
    const { id } = await pix.cashOut()
    await pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'CONFIRMED')
    if (isSilent) await pix.silence()
    await pix.bankAction(`payouts/${id}/reverse`, { valueCents: 1_000 })
    await pix.pass(isSilent ? 2 * HOUR_MS : 300_000)
    assert.deepEqual(await balances(pix.database), { available: 8_000n, settlement: -8_000n })
    await pix.bankAction(`payouts/${id}/reverse`, { valueCents: 2_000 })
    await pix.pass(isSilent ? 2 * HOUR_MS : 300_000)
    assert.equal((await pix.get(`/api/pix/cash-out/${id}`)).status, 'REVERSED')
    assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_000n })
    assert.deepEqual(await pix.open(), [])
    await pix.assertBooksAgree()
  })
}

for (const [decision, expected] of [
  ['credit', { available: 10_500n, settlement: -10_500n }],
  ['write_off', { available: 10_000n, settlement: -10_500n, losses: 500n }],
] as const)
  test(`[api-pix.9] [cases.53] [PL-3] at efi: what is paid to the key itself is a case of the statement: ${decision}, and both books are equal`, async (t) => {
    const pix = await atEfi(t)
    await pix.bankAction('payments', { pixKey: PIX_KEY, valueCents: 500 })
    await pix.pass(35 * 60_000)
    assert.deepEqual(await pix.open(), ['unexplained_credit'])
    assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_500n, suspense_in: 500n })
    await pix.decide('unexplained_credit', decision)
    await pix.pass(10 * 60_000)
    assert.deepEqual(await balances(pix.database), expected)
    assert.deepEqual(await pix.open(), [])
    await pix.assertBooksAgree()
  })
