import assert from 'node:assert/strict'
import test from 'node:test'
import { balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { world } from '../support/world.ts'

/** Lasting faults between us and a bank of the standard, which then end: money waits, and moves once. */

const AT_EFI = { isStepped: true, standard: 'efi' } as const

const SLOW_MS = 1_500

const faults = [
  ['[AP-1] a token that ends before its time', { tokenEndsEarly: 1_000 }, 0],
  ['[AP-2] a certificate that is refused by an answer', { certificateRefused: 1_000 }, 0],
  ['[AP-3] 429 with Retry-After', { tooManyRequests: 1_000 }, 0],
  ['[AP-4] answers that are too slow', {}, SLOW_MS],
  ['[AP-5] answers that are cut', { cutBody: 1_000 }, 0],
  ['[AP-6] a proxy’s HTML', { htmlAnswer: 1_000 }, 0],
] as const

for (const [name, perThousand, latencyMs] of faults)
  test(`${name}, at efi: a payout waits with its money held, and is made once when it is over`, async (t) => {
    const pix = await world(t, { PIXGATE_BANK_TIMEOUT_MS: latencyMs > 0 ? '1000' : '5000' }, AT_EFI)
    const charge = await pix.charge('100')
    await pix.bankAction(`charges/${charge.id}/pay`)
    await pix.until(`/api/pix/cash-in/${charge.id}`, ({ status }) => status === 'PAID')

    await pix.bank('PUT', '/control/lies', { perThousand })
    await pix.behave({ latencyMs })
    const { id } = await pix.cashOut()
    const path = `/api/pix/cash-out/${id}`
    for (let steps = 0; steps < 5; steps++) {
      await pix.later(5_001)
      const { available, reserved } = await balances(pix.database)
      assert.deepEqual([available, reserved], [7_000n, 3_000n], 'held, whatever the bank’s silence means')
    }
    await pix.bank('PUT', '/control/lies', {})
    await pix.behave({ latencyMs: 0 })
    // In small steps: how long the bank asked us to wait passes by a clock that the test does not set.
    for (let steps = 0; steps < 240 && (await pix.get(path)).status !== 'CONFIRMED'; steps++) await pix.later(5_001)
    assert.equal((await pix.get(path)).status, 'CONFIRMED')
    const { entries } = (await pix.bank('GET', '/control/book')).body
    assert.equal(entries.filter(({ kind }: { kind: string }) => kind === 'PAYOUT_SENT').length, 1)
    assert.deepEqual(await balances(pix.database), { available: 7_000n, settlement: -7_000n })
    assert.deepEqual(await cases(pix.database), [])
    await pix.assertBooksAgree()
  })

for (const standard of ['api-pix', 'efi'] as const)
  test(`[api-pix.2] [AP-20] at ${standard}: a charge that the bank first made a minute later ends there with ours`, async (t) => {
    const pix = await world(t, {}, { isStepped: true, standard })
    await pix.bank('PUT', '/control/lies', { perThousand: { unavailable: 1_000 } })
    const { id } = await pix.charge('100', { expirationTime: 600 })
    await pix.later(61_000)
    await pix.bank('PUT', '/control/lies', {})
    for (let steps = 0; steps < 20 && (await pix.read(id)).pixCode === null; steps++) await pix.later(5_001)
    const { expirationDate } = await pix.read(id)
    const { charges } = (await pix.bank('GET', '/control/book')).body
    const outlivesMs = Date.parse(charges[0].expiresAt) - Date.parse(expirationDate)
    assert.ok(outlivesMs <= 0 && outlivesMs > -2_000, `${outlivesMs} ms`)
    await pix.assertBooksAgree()
  })
