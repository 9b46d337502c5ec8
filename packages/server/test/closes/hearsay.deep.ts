import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { StatementEntry } from '../../src/banks/port.ts'
import { boundsOf } from '../../src/platform/sao-paulo.ts'
import { decidingOver } from '../desk/loose/fixture.ts'
import { assertBooks, balances } from '../support/books.ts'
import { caseFacts, cases } from '../support/evidence.ts'
import { type CloseWorld, closeWorld, payUnknown } from './fixture.ts'
import { bring, fileOf, paperWorld, type Row } from './statement-file.ts'

/** Files that lie. Whoever brings one has an operator's token, and nothing of the bank's. */

const MINUTE = 60_000
const RECEIVED = { kind: 'PAYMENT_RECEIVED', direction: 'in' } as const

async function open(pix: CloseWorld): Promise<string[]> {
  return (await cases(pix.database)).filter((kind) => !kind.endsWith('(closed)'))
}

async function minutes(pix: CloseWorld, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) await pix.later(MINUTE)
}

/** The bank has a payment of R$ 10,00 that names nothing of ours. @returns its end-to-end id, and its day, which is over */
async function unknownPayment(pix: CloseWorld): Promise<{ endToEndId: string; day: string }> {
  await pix.paid('3.00')
  const endToEndId = await payUnknown(pix, 10_00)
  await minutes(pix, 10)
  return { endToEndId, day: await pix.endDay() }
}

test('[import.6] a file that has another amount closes no case that the bank’s own statement opened, and is a case of its own', async (t) => {
  const pix = await closeWorld(t)
  const { endToEndId, day } = await unknownPayment(pix)
  assert.ok((await open(pix)).includes('statement_unexplained'))
  const { version } = await decidingOver(pix).read('statement_unexplained')
  await bring(pix, fileOf(day, '1,00', [{ ...RECEIVED, value: '1,00', endToEndId }]))
  await minutes(pix, 7)
  assert.deepEqual(
    (await open(pix)).filter((kind) => kind.startsWith('statement')),
    ['statement_unexplained', 'statement_differs'],
  )
  assert.equal((await decidingOver(pix).read('statement_unexplained')).version, version, 'it stands as it stood')
  assert.deepEqual(await decidingOver(pix).offered('statement_differs'), ['close'])
  await decidingOver(pix).decide('statement_unexplained', 'credit')
  assert.equal((await balances(pix.database)).available, 1300n, 'it is the bank’s amount that is booked')
  await assertBooks(pix.database)
})

test('[import.6] what a file says of a movement that the bank’s own statement has is no money, whatever the file says', async (t) => {
  const pix = await closeWorld(t)
  const { endToEndId, id } = await pix.paid('10.00')
  const day = await pix.endDay()
  const before = await balances(pix.database)
  await bring(pix, fileOf(day, '199,98', [{ ...RECEIVED, value: '199,98', endToEndId, reference: id }]))
  assert.deepEqual(await open(pix), ['statement_differs'])
  const deciding = decidingOver(pix)
  assert.deepEqual(await deciding.offered('statement_differs'), ['close'])
  for (const decision of ['credit', 'clear', 'write_off'] as const)
    await assert.rejects(deciding.decide('statement_differs', decision), { code: 'not_possible_in_state' })
  await deciding.decide('statement_differs', 'close')
  assert.deepEqual(await balances(pix.database), before)
})

test('[import.6] of two files that have a movement otherwise neither is a ground to book on', async (t) => {
  const pix = await paperWorld(t)
  const { endToEndId, id } = await pix.paid('10.00')
  const day = await pix.endDay()
  const row: Row = { ...RECEIVED, value: '10,00', endToEndId, reference: id }
  assert.equal((await bring(pix, fileOf(day, '10,00', [row]))).body.matched, 1)
  const other: Row = { kind: 'PAYOUT_SENT', direction: 'out', value: '20,00', endToEndId: 'E-other' }
  await bring(pix, fileOf(day, '10,00', [{ ...row, value: '30,00' }, other]))
  assert.deepEqual(await decidingOver(pix).offered('statement_differs'), ['close'])
})

/** A bank whose statement tells other amounts than it did, once `retold` is set. */
async function retellingWorld(t: TestContext) {
  const told: { cents?: bigint } = {}
  const pix = await closeWorld(t, {
    bank: (simulated) => ({
      ...simulated,
      readStatement: async (...given: Parameters<typeof simulated.readStatement>) => {
        const answer = await simulated.readStatement(...given)
        if (answer.kind !== 'READ' || told.cents === undefined) return answer
        const retold = (entry: StatementEntry) => ({ ...entry, valueCents: told.cents ?? entry.valueCents })
        return { ...answer, page: { ...answer.page, entries: answer.page.entries.map(retold) } }
      },
    }),
  })
  return { ...pix, told }
}

test('[import.6] [desk.56] a lie that was told first, and closed, does not silence the bank when it says the same', async (t) => {
  const pix = await retellingWorld(t)
  await minutes(pix, 2)
  const day = pix.today()
  pix.clock.advance(boundsOf(day).to - 2 * MINUTE - pix.clock.now())
  const { endToEndId, id } = await pix.paid('10.00')
  await minutes(pix, 3)
  await bring(pix, fileOf(day, '12,00', [{ ...RECEIVED, value: '12,00', endToEndId, reference: id }]))
  await decidingOver(pix).decide('statement_differs', 'close')
  assert.deepEqual(await open(pix), [])
  pix.told.cents = 12_00n
  await minutes(pix, 2)
  assert.ok((await open(pix)).includes('statement_differs'))
  const facts = await caseFacts(pix.database, 'statement_differs')
  assert.partialDeepStrictEqual(facts.at(-1), { valueCents: 12_00, before: { valueCents: 10_00 } })
  assert.ok(
    (await decidingOver(pix).offered('statement_differs')).includes('credit'),
    'the bank’s own word is a ground',
  )
})

for (const [first, then] of [
  ['0,00', '10,00'],
  ['10,00', '0,00'],
] as const) {
  test(`[import.5] a file without a row that says ${then} after one that said ${first} makes no day balance, and is a case that can only be closed`, async (t) => {
    const pix = await paperWorld(t)
    await pix.paid('10.00')
    const day = await pix.endDay()
    const differing = async () => {
      pix.clock.advance(3_600_000)
      await pix.service.closeDays()
      const { status, bank } = await pix.close(day)
      return [status, bank]
    }
    await bring(pix, fileOf(day, first, [], first))
    await differing()
    await bring(pix, fileOf(day, then, [], then))
    assert.deepEqual(await differing(), ['UNCONFIRMED', null])
    const deciding = decidingOver(pix)
    assert.deepEqual(await deciding.offered('statement_differs'), ['close'])
    await deciding.decideByTwo('statement_differs', 'close')
    await minutes(pix, 3)
    assert.ok(!(await open(pix)).includes('statement_differs'), 'it is told once')
    assert.deepEqual(await differing(), ['UNCONFIRMED', null], 'that somebody closed the case makes neither true')
  })
}

test('[import.5] a file of the next day that opens with another balance leaves the day before without one', async (t) => {
  const pix = await paperWorld(t)
  const one = await pix.paid('10.00')
  const first = await pix.endDay()
  const second = await pix.endDay()
  await bring(pix, fileOf(first, '10,00', [{ ...RECEIVED, value: '10,00', endToEndId: one.endToEndId }]))
  await bring(pix, fileOf(second, '11,00', [], '11,00'))
  pix.clock.advance(3_600_000)
  await pix.service.closeDays()
  assert.equal((await pix.close(first)).status, 'UNCONFIRMED')
  const [facts] = await caseFacts(pix.database, 'statement_differs')
  assert.partialDeepStrictEqual(facts, { firstDay: first, lastDay: first, days: 1 })
})
