import assert from 'node:assert/strict'
import test from 'node:test'
import { assertBooks } from '../support/books.ts'
import { cases, payoutSwitch } from '../support/evidence.ts'
import { minutes } from '../support/stepping.ts'
import { closeWorld, offWorld, payUnknown, said } from './fixture.ts'

test('[close.11] [trip-wire.9] [PL-55] where the bank has less than our books payouts are suspended once, with a case that closes when it is booked', async (t) => {
  const pix = await offWorld(t)
  await pix.balance(100_00)
  await minutes(pix, 2)
  assert.deepEqual(said(await pix.close(await pix.endDay())), ['BALANCED', 100_00, 0, 0])
  pix.off.cents = -30_00n
  const short = await pix.close(await pix.endDay())
  assert.deepEqual(said(short), ['DIFFERS', 70_00, -30_00, -30_00])
  assert.deepEqual(await cases(pix.database), ['close_differs'])
  assert.partialDeepStrictEqual(await payoutSwitch(pix.database), { isSuspended: true })
  assert.equal((await pix.operator('PUT', '/operator/cash-out-switch', { enabled: true, reason: 'known' })).status, 200)
  const same = await pix.close(await pix.endDay())
  assert.deepEqual([...said(same), same.caseReference], ['DIFFERS', 70_00, -30_00, -30_00, null], 'the same is no news')
  assert.partialDeepStrictEqual(await payoutSwitch(pix.database), { isSuspended: false })
  pix.off.cents = -50_00n
  assert.deepEqual(said(await pix.close(await pix.endDay())), ['DIFFERS', 50_00, -50_00, -50_00])
  assert.deepEqual(await cases(pix.database), ['close_differs (closed)', 'close_differs'], 'one is open')
  assert.partialDeepStrictEqual(await payoutSwitch(pix.database), { isSuspended: true })
  const order = { valueCents: -50_00, reason: 'the bank took it' }
  assert.equal((await pix.operator('POST', '/operator/adjustments', order)).status, 201)
  assert.deepEqual(said(await pix.close(await pix.endDay())), ['BALANCED', 50_00, 0, 0])
  assert.deepEqual(await cases(pix.database), ['close_differs (closed)', 'close_differs (closed)'])
  await assertBooks(pix.database)
})

test('[close.3] [statement.6] incoming money that nothing explains is in the books of its day: the day balances, with a case', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(100_00)
  await payUnknown(pix, 20_00)
  await minutes(pix, 4)
  assert.deepEqual(said(await pix.close(await pix.endDay())), ['BALANCED', 120_00, 0, 0])
  assert.deepEqual(await cases(pix.database), ['unexplained_credit'])
  await assertBooks(pix.database)
})
