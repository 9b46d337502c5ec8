import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { BalanceAnswer } from '../../src/banks/port.ts'
import { assertBooks } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import type { Answer } from '../support/world.ts'
import { type CloseWorld, closeWorld } from './fixture.ts'

/** Days of which the bank tells another balance than our books have, or none. */

const MINUTE = 60_000

/** A bank whose balance is so much more than it is, or less, or cannot be read. */
async function offWorld(t: TestContext) {
  const off = { cents: 0n, isSilent: false }
  const pix = await closeWorld(t, {
    bank: (simulated) => ({
      ...simulated,
      readBalance: async (): Promise<BalanceAnswer> => {
        if (off.isSilent) return { kind: 'UNKNOWN', reason: 'HTTP 500', httpStatus: 500 }
        const answer = await simulated.readBalance()
        if (answer.kind !== 'READ') return answer
        return { ...answer, balance: { ...answer.balance, availableCents: answer.balance.availableCents + off.cents } }
      },
    }),
  })
  return { ...pix, off }
}

async function minutes(pix: CloseWorld, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) await pix.later(MINUTE)
}

/** What a close says of the bank, in short. */
function said({ status, bank, differenceCents, unexplainedCents }: Answer['body']) {
  return [status, bank?.closingCents ?? null, differenceCents, unexplainedCents]
}

test('[close.11] [PL-55] a day on which the bank has less than our books differs, with a case that closes when it is booked', async (t) => {
  const pix = await offWorld(t)
  await pix.balance(100_00)
  await minutes(pix, 2)
  assert.deepEqual(said(await pix.close(await pix.endDay())), ['BALANCED', 100_00, 0, 0])
  pix.off.cents = -30_00n
  const short = await pix.close(await pix.endDay())
  assert.deepEqual(said(short), ['DIFFERS', 70_00, -30_00, -30_00])
  assert.deepEqual(await cases(pix.database), ['close_differs'])
  const same = await pix.close(await pix.endDay())
  assert.deepEqual([...said(same), same.caseReference], ['DIFFERS', 70_00, -30_00, -30_00, null], 'the same is no news')
  const order = { valueCents: -30_00, reason: 'the bank took it' }
  assert.equal((await pix.operator('POST', '/operator/adjustments', order)).status, 201)
  assert.deepEqual(said(await pix.close(await pix.endDay())), ['BALANCED', 70_00, 0, 0])
  assert.deepEqual(await cases(pix.database), ['close_differs (closed)'])
  await assertBooks(pix.database)
})

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
  assert.deepEqual([close.version, ...said(close)], [1, 'BALANCED', 100_00, 0, 0])
})

test('[close.4] [close.7] [close.11] a balance that cannot be read is awaited for an hour, and one that comes later makes another version', async (t) => {
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
  assert.deepEqual(said(await pix.close(day)), ['UNCONFIRMED', null, null, null])
  pix.off.isSilent = false
  await pix.endDay()
  const again = await pix.close(day)
  assert.deepEqual([again.version, ...said(again)], [2, 'BALANCED', 100_00, 0, 0])
  assert.deepEqual(again.changed, ['bank', 'differenceCents'])
})
