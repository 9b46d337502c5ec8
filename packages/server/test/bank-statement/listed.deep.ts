import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { plainId } from '../../src/banks/api-pix/ids.ts'
import type { Bank } from '../../src/banks/bank.ts'
import { balances } from '../support/books.ts'
import { caseFacts, cases, payoutSwitch } from '../support/evidence.ts'
import { type World, world } from '../support/world.ts'

/** A bank whose statement is made of lists, and which tells its balance: Efí. */

const MINUTE = 60_000

async function atEfi(t: TestContext, environment: Record<string, string> = {}) {
  let connected: Bank | undefined
  const pix = await world(t, environment, {
    isStepped: true,
    standard: 'efi',
    bank: (bank) => {
      connected = bank
      return bank
    },
  })
  assert.ok(connected)
  const paid = async (value: string) => {
    const { id } = await pix.charge(value)
    await pix.bankAction(`charges/${plainId(id)}/pay`)
    await pix.until(`/api/pix/cash-in/${id}`, ({ status }) => status === 'PAID')
    return id as string
  }
  return { ...pix, bank: connected, control: pix.bank, paid }
}

/** So many minutes pass, each with a reading of the lists and of the balance. */
async function minutes({ later }: Pick<World, 'later'>, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) await later(MINUTE)
}

async function stands({ database }: Pick<World, 'database'>) {
  const open = (await cases(database)).filter((kind) => !kind.endsWith('(closed)'))
  return { isSuspended: (await payoutSwitch(database)).isSuspended, cases: open }
}

/** Until every balance of now has been compared: two hours, five minutes, and five between two looks. */
const COMPARED_MINUTES = 135

test('[trip-wire.11] at efi an ordinary day suspends nothing: payouts and refunds that wait, and returns that the lists have an hour later', async (t) => {
  const pix = await atEfi(t)
  const chargeId = await pix.paid('900')
  await minutes(pix, 3)
  await pix.behave({ cashOut: 'manual', refundIn: 'manual' })
  const [payout, waiting] = [await pix.cashOut(), await pix.cashOut()]
  const refund = await pix.refundIn(chargeId, 100)
  await minutes(pix, 30)
  await pix.bankAction(`payouts/${plainId(payout.id)}/confirm`)
  await pix.behave({ eventDelayMs: 60 * MINUTE })
  await pix.bankAction(`refunds/${plainId(refund.id)}/confirm`)
  await pix.bankAction(`charges/${plainId(chargeId)}/return`, { valueCents: 5_000, nature: 'MED_FRAUDE' })
  await minutes(pix, 90)
  await pix.bankAction(`payouts/${plainId(waiting.id)}/confirm`)
  await pix.bankAction(`payouts/${plainId(payout.id)}/reverse`)
  await minutes(pix, COMPARED_MINUTES)
  assert.deepEqual(await stands(pix), { isSuspended: false, cases: [] })
  await pix.assertBooksAgree()
})

for (const [isShared, isSuspended] of [
  ['false', true],
  ['true', false],
] as const)
  test(`[trip-wire.11] [PL-55] at efi: money that left in no list is a case${isSuspended ? ', and suspends' : ' alone where the account is shared'}`, async (t) => {
    const pix = await atEfi(t, { PIXGATE_BANK_ACCOUNT_SHARED: isShared })
    await pix.paid('900')
    await minutes(pix, COMPARED_MINUTES)
    await pix.control('PUT', '/control/lies', { perThousand: { balanceShort: 1_000 } })
    await minutes(pix, COMPARED_MINUTES)
    assert.deepEqual(await stands(pix), { isSuspended, cases: ['bank_balance_short'] })
    assert.partialDeepStrictEqual(await caseFacts(pix.database, 'bank_balance_short'), [{ valueCents: 10_000 }])
    assert.deepEqual(
      await balances(pix.database),
      { available: 90_000n, settlement: -90_000n },
      'nothing is booked by it',
    )
    await minutes(pix, 30)
    assert.deepEqual((await stands(pix)).cases, ['bank_balance_short'], 'one, for ever')
  })

/** So many hours pass, with a reading each half hour. */
async function hours({ later }: Pick<World, 'later'>, count: number): Promise<void> {
  for (let half = 0; half < 2 * count; half += 1) await later(30 * MINUTE)
}

for (const isStolen of [false, true])
  test(`[trip-wire.11] [PL-55] at efi: what comes back of an old payout is listed a day later: ${isStolen ? 'as much that was stolen is missed' : 'nothing is missed'}`, async (t) => {
    const pix = await atEfi(t)
    await pix.paid('900')
    const payout = await pix.cashOut({ value: 100 })
    await pix.until(`/api/pix/cash-out/${payout.id}`, ({ status }) => status === 'CONFIRMED')
    await hours(pix, 51)
    await pix.bankAction(`payouts/${plainId(payout.id)}/reverse`)
    if (isStolen) await pix.control('PUT', '/control/lies', { perThousand: { balanceShort: 1_000 } })
    await hours(pix, 30)
    assert.deepEqual(
      await stands(pix),
      isStolen ? { isSuspended: true, cases: ['bank_balance_short'] } : { isSuspended: false, cases: [] },
    )
  })

test('[trip-wire.2] [PL-52] at efi: a thief with the certificate sends money from the account, and payouts are suspended within minutes', async (t) => {
  const pix = await atEfi(t)
  await pix.paid('900')
  await minutes(pix, 3)
  const recipient = { pixKey: 'ladrao@example.com', pixKeyType: 'email' } as const
  const sent = await pix.bank.sendPayout('0198c0de-7a11-7000-8000-5f1d3c2b1a09', { valueCents: 70_000n, recipient })
  assert.equal(sent.kind === 'ACCEPTED' || sent.kind === 'FINAL', true, sent.kind)
  // The bank carries it out in its own time.
  for (let tries = 0; tries < 200 && !(await stands(pix)).isSuspended; tries += 1) await minutes(pix, 1)
  assert.deepEqual(await stands(pix), { isSuspended: true, cases: ['statement_unexplained'] })
})
