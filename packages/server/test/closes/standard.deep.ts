import assert from 'node:assert/strict'
import test from 'node:test'
import { balances } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import { PIX_KEY } from '../support/standard-bank.ts'
import { minutes } from '../support/stepping.ts'
import type { Answer } from '../support/world.ts'
import { balancesOf, type CloseWorld, closeWorld } from './fixture.ts'

/** Days at banks of the Central Bank's standard, whose lists have no balances. */

async function paid(pix: CloseWorld, value: string): Promise<string> {
  const { id } = await pix.charge(value)
  await pix.bankAction(`charges/${id}/pay`)
  await pix.until(`/api/pix/cash-in/${id}`, ({ status }) => status === 'PAID')
  return id
}

/** Lets the day end, and passes the time that a quiet balance takes. @returns its close */
async function closed(pix: CloseWorld): Promise<Answer['body']> {
  const day = await pix.endDay()
  await minutes(pix, 8)
  await pix.service.closeDays()
  return pix.close(day)
}

function said({ status, bank, differenceCents, unexplainedCents }: Answer['body']) {
  return [status, bank, differenceCents, unexplainedCents]
}

test('[close.12] [efi.5] at efi a day of charges, payouts, refunds and returns balances with the balance that the bank tells', async (t) => {
  const pix = await closeWorld(t, { standard: 'efi' })
  const first = await paid(pix, '100')
  await minutes(pix, 15)
  const second = await paid(pix, '50.50')
  const { id: payoutId } = await pix.cashOut()
  await pix.until(`/api/pix/cash-out/${payoutId}`, ({ status }) => status === 'CONFIRMED')
  const returned = await pix.cashOut({ value: 20 })
  await pix.until(`/api/pix/cash-out/${returned.id}`, ({ status }) => status === 'CONFIRMED')
  await pix.refundIn(second, 5.5)
  await minutes(pix, 2)
  await pix.bankAction(`payouts/${returned.id}/reverse`, { valueCents: 20_00 })
  await pix.bankAction(`charges/${first}/return`, { valueCents: 25_00, nature: 'MED_FRAUDE' })
  await minutes(pix, 75)
  const close = await closed(pix)
  const { settlement = 0n } = await balances(pix.database)
  assert.deepEqual(said(close), ['BALANCED', { closingCents: Number(-settlement) }, 0, 0])
  assert.equal(settlement, -90_00n)
  assert.deepEqual(balancesOf(close, 'closingCents').settlement, -90_00)
  assert.deepEqual(await cases(pix.database), [])
  await pix.assertBooksAgree()
})

test('[close.12] at efi what the bank takes and no list has is a difference of the day, and balances once it is booked', async (t) => {
  const pix = await closeWorld(t, { standard: 'efi' })
  await paid(pix, '100')
  await minutes(pix, 15)
  assert.deepEqual((await closed(pix)).status, 'BALANCED')
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut()
  await minutes(pix, 2)
  await pix.bankAction(`payouts/${id}/confirm`, { feeCents: 35 })
  await pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'CONFIRMED')
  await minutes(pix, 15)
  const differs = await closed(pix)
  assert.deepEqual(said(differs), ['DIFFERS', { closingCents: 69_65 }, -35, -35])
  assert.deepEqual(await cases(pix.database), ['close_differs'], 'and payouts go on')
  assert.equal((await pix.operator('POST', '/operator/adjustments', { valueCents: -35, reason: 'tarifa' })).status, 201)
  const booked = await closed(pix)
  assert.deepEqual(said(booked), ['BALANCED', { closingCents: 69_65 }, 0, 0])
  assert.deepEqual(await cases(pix.database), ['close_differs (closed)'])
})

test('[close.4] [close.12] a balance that orders under way may explain proves nothing, and a day waits an hour for one that does', async (t) => {
  const pix = await closeWorld(t, { standard: 'efi' })
  await paid(pix, '300')
  await minutes(pix, 15)
  await closed(pix)
  await pix.behave({ cashOut: 'manual' })
  await pix.cashOut({ value: 200 })
  await pix.bank('PUT', '/control/lies', { perThousand: { balanceShort: 1_000 } })
  const day = await pix.endDay()
  await minutes(pix, 45)
  await pix.service.closeDays()
  assert.equal((await pix.operator('GET', `/operator/closes/${day}`)).status, 404, 'it waits for an hour')
  await minutes(pix, 5)
  await pix.service.closeDays()
  const close = await pix.close(day)
  assert.deepEqual([close.status, close.bank], ['UNCONFIRMED', null])
})

test('[close.3] [api-pix.9] at a bank of the standard alone a day is unconfirmed, and says what its lists have all the same', async (t) => {
  const pix = await closeWorld(t, { standard: 'api-pix' })
  const charge = await paid(pix, '100')
  await pix.refundIn(charge, 10)
  await pix.bankAction('payments', { pixKey: PIX_KEY, valueCents: 5_00 })
  await minutes(pix, 35)
  const close = await closed(pix)
  assert.deepEqual(said(close), ['UNCONFIRMED', null, null, null])
  assert.equal(close.booksCents, 95_00)
  assert.deepEqual(
    close.openCases.cases.map(({ kind }: { kind: string }) => kind),
    ['unexplained_credit'],
  )
  assert.deepEqual(
    (await cases(pix.database)).filter((kind) => kind.startsWith('close')),
    [],
  )
})
