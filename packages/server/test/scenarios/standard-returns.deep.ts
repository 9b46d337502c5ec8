import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { balances } from '../support/books.ts'
import { openCases } from '../support/evidence.ts'
import { minutes } from '../support/stepping.ts'
import { world } from '../support/world.ts'

/** Returns at Efí without a request of the merchant: money that the bank takes back, and payouts that come back. */

const HOUR_MS = 3_600_000

async function atEfi(t: TestContext) {
  const pix = await world(t, {}, { isStepped: true, standard: 'efi' })
  const charge = await pix.charge('100')
  await pix.bankAction(`charges/${charge.id}/pay`)
  await pix.until(`/api/pix/cash-in/${charge.id}`, ({ status }) => status === 'PAID')
  return {
    ...pix,
    chargeId: charge.id,
    silence: () => pix.behave({ eventDelayMs: HOUR_MS }),
    pass: (ms: number) => minutes(pix, ms / 60_000),
    open: () => openCases(pix.database),
  }
}

for (const isSilent of [false, true]) {
  const how = isSilent ? 'of which no callback tells' : 'that a callback asks about'

  test(`[api-pix.8] [EV-27] at efi: a payment that the bank takes back (MED), ${how}, is debited once`, async (t) => {
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
