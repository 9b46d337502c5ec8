import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { decidingOver } from '../desk/loose/fixture.ts'
import { assertBooks } from '../support/books.ts'
import { cases } from '../support/evidence.ts'
import type { Answer } from '../support/world.ts'
import { type CloseWorld, closeWorld } from './fixture.ts'

/** Days of which the bank tells another balance than its list comes to. */

const MINUTE = 60_000

/** A bank whose statement tells so much more than its entries come to, or less, at both ends of each window. */
async function unlistedWorld(t: TestContext) {
  const unlisted = { cents: 0n }
  const pix = await closeWorld(t, {
    bank: (simulated) => ({
      ...simulated,
      readStatement: async (...given: Parameters<typeof simulated.readStatement>) => {
        const answer = await simulated.readStatement(...given)
        if (answer.kind !== 'READ' || answer.page.balances === null) return answer
        const { openingCents, closingCents } = answer.page.balances
        const balances = { openingCents: openingCents + unlisted.cents, closingCents: closingCents + unlisted.cents }
        return { ...answer, page: { ...answer.page, balances } }
      },
    }),
  })
  return { ...pix, unlisted }
}

async function minutes(pix: CloseWorld, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) await pix.later(MINUTE)
}

/** What a close says of the bank, in short. */
function said({ status, bank, differenceCents, unexplainedCents }: Answer['body']) {
  return [status, bank?.closingCents ?? null, differenceCents, unexplainedCents]
}

test('[close.11] [trip-wire.3] a day on which the bank tells less than its list comes to does not balance, and an open case explains it', async (t) => {
  const pix = await unlistedWorld(t)
  await pix.balance(100_00)
  await minutes(pix, 2)
  assert.deepEqual(said(await pix.close(await pix.endDay())), ['BALANCED', 100_00, 0, 0])
  pix.unlisted.cents = -30_00n
  await minutes(pix, 8)
  assert.deepEqual(await cases(pix.database), ['statement_short'])
  const short = await pix.close(await pix.endDay())
  assert.deepEqual(said(short), ['EXPLAINED', 70_00, -30_00, 0])
  assert.partialDeepStrictEqual(short.explained, { count: 1, cents: -30_00, cases: [{ kind: 'statement_short' }] })

  // Somebody closes the case, and no book has the money.
  await decidingOver(pix).decide('statement_short', 'close')
  const left = await pix.close(await pix.endDay())
  assert.deepEqual(said(left), ['DIFFERS', 70_00, -30_00, -30_00])
  assert.ok((await cases(pix.database)).includes('close_differs'))
  const adjusted = await pix.operator('POST', '/operator/adjustments', {
    valueCents: -30_00,
    reason: 'the bank took it',
  })
  assert.equal(adjusted.status, 201)
  const booked = await pix.close(await pix.endDay())
  assert.deepEqual(said(booked), ['BALANCED', 70_00, 0, 0])
  assert.deepEqual(
    (await cases(pix.database)).filter((kind) => !kind.endsWith('(closed)')),
    [],
  )
  await assertBooks(pix.database)
})

test('[close.11] what was missing and comes back within the day after makes another version', async (t) => {
  const pix = await unlistedWorld(t)
  await pix.balance(100_00)
  await minutes(pix, 2)
  await pix.endDay()
  pix.unlisted.cents = -30_00n
  await minutes(pix, 8)
  const day = await pix.endDay()
  assert.deepEqual(said(await pix.close(day)), ['EXPLAINED', 70_00, -30_00, 0])
  pix.unlisted.cents = 0n
  await minutes(pix, 2)
  pix.clock.advance(3_600_000)
  await pix.service.closeDays()
  const again = await pix.close(day)
  assert.deepEqual([again.version, ...said(again)], [2, 'BALANCED', 100_00, 0, 0])
  assert.deepEqual(again.changed, ['bank', 'differenceCents'])
})

test('[close.11] a day on which the bank tells more than its list comes to differs, with a case', async (t) => {
  const pix = await unlistedWorld(t)
  await pix.balance(100_00)
  await minutes(pix, 2)
  await pix.endDay()
  pix.unlisted.cents = 5_00n
  const day = await pix.endDay()
  assert.deepEqual(said(await pix.close(day)), ['DIFFERS', 105_00, 5_00, 5_00])
  assert.ok((await cases(pix.database)).includes('close_differs'))
  const next = await pix.close(await pix.endDay())
  assert.deepEqual([...said(next), next.caseReference], ['DIFFERS', 105_00, 5_00, 5_00, null])
})

test('[close.11] a day whose end the bank told no balance of is as the next told balance shows it', async (t) => {
  const pix = await unlistedWorld(t)
  await pix.balance(100_00)
  await minutes(pix, 2)
  const first = pix.today()
  pix.unlisted.cents = -30_00n
  pix.clock.advance(2 * 86_400_000)
  await pix.balance(7_00)
  await minutes(pix, 2)
  await pix.service.closeDays()
  assert.deepEqual(said(await pix.close(first)), ['DIFFERS', 70_00, -30_00, -30_00])
})

test('[close.11] [trip-wire.4] an open case that the balance is short of the statement keeps a day from being balanced', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(200_00)
  await minutes(pix, 12)
  await pix.bank('PUT', '/control/lies', { perThousand: { balanceShort: 1_000 } })
  await minutes(pix, 12)
  assert.deepEqual(await cases(pix.database), ['bank_balance_short'])
  const close = await pix.close(await pix.endDay())
  assert.deepEqual(said(close), ['EXPLAINED', 200_00, 0, 0])
  assert.partialDeepStrictEqual(close.explained.cases, [{ kind: 'bank_balance_short', cents: 0 }])
})
