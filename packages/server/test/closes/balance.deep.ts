import assert from 'node:assert/strict'
import test from 'node:test'
import { cases } from '../support/evidence.ts'
import { minutes } from '../support/stepping.ts'
import { offWorld, said } from './fixture.ts'

/** Days of which the bank tells another balance than our books have, or none. */

test('[close.11] a day on which the bank has more than our books differs, with a case', async (t) => {
  const pix = await offWorld(t)
  await pix.balance(100_00)
  await minutes(pix, 2)
  await pix.endDay()
  pix.off.cents = 5_00n
  assert.deepEqual(said(await pix.close(await pix.endDay())), ['DIFFERS', 105_00, 5_00, 5_00])
  assert.deepEqual(await cases(pix.database), ['close_differs'])
})

test('[close.4] [close.11] a day that was missed is as the first balance after it says, less what moved since', async (t) => {
  const pix = await offWorld(t)
  await pix.balance(100_00)
  await minutes(pix, 2)
  const first = pix.today()
  pix.clock.advance(2 * 86_400_000)
  await pix.balance(7_00)
  await pix.closing()
  const close = await pix.close(first)
  assert.deepEqual(said(close), ['BALANCED', 100_00, 0, 0])
})

test('[close.4] [close.7] [close.11] a balance that cannot be read is awaited for an hour, and one that comes later is in the next close', async (t) => {
  const pix = await offWorld(t)
  await pix.balance(100_00)
  await minutes(pix, 2)
  pix.off.isSilent = true
  const day = await pix.endDay()
  await minutes(pix, 45)
  await pix.service.closeDays()
  assert.equal((await pix.operator('GET', `/operator/closes/${day}`)).status, 404, 'it waits for an hour')
  await minutes(pix, 5)
  await pix.service.closeDays()
  const unconfirmed = await pix.close(day)
  assert.deepEqual(said(unconfirmed), ['UNCONFIRMED', null, null, null])
  pix.off.isSilent = false
  assert.deepEqual(said(await pix.close(await pix.endDay())), ['BALANCED', 100_00, 0, 0])
  assert.deepEqual(await pix.close(day), unconfirmed)
})
