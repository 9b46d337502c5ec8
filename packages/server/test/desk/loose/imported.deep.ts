import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { OperatorRole } from '@pixgate/spec'
import { bring, fileOf, paperWorld, type Row } from '../../closes/statement-file.ts'
import { assertBooks, balances } from '../../support/books.ts'
import { cases } from '../../support/evidence.ts'
import { makeOperator } from '../../support/operators.ts'
import { decidingOver } from './fixture.ts'

/** Cases that only a file of the bank's statement tells of, where nobody reads the statement but people. */

const MINUTE = 60_000
const LATE = 172_800

async function paper(t: TestContext) {
  const pix = await paperWorld(t)
  const open = async () =>
    (await cases(pix.database)).filter((kind) => kind.startsWith('statement') && !/closed/.test(kind))
  const minutes = async (count: number) => {
    for (let minute = 0; minute < count; minute += 1) await pix.later(MINUTE)
  }
  return { ...pix, open, minutes, ...decidingOver(pix), read: pix.read }
}

const ARRIVED: Row = {
  kind: 'PAYMENT_RECEIVED',
  direction: 'in',
  value: '10,00',
  endToEndId: 'E-file',
  reference: 'nobody',
}
const LEFT: Row = { ...ARRIVED, kind: 'PAYOUT_SENT', direction: 'out' }

for (const [row, closing, decision, expected] of [
  [ARRIVED, '10,00', 'attribute', { settlement: -1000n, available: 1000n }],
  [ARRIVED, '10,00', 'credit', { settlement: -1000n, available: 1000n }],
  [ARRIVED, '10,00', 'clear', { settlement: -1000n, clearing: 1000n }],
  [ARRIVED, '10,00', 'write_off', { settlement: -1000n, losses: 1000n }],
  [ARRIVED, '10,00', 'close', {}],
  [LEFT, '-10,00', 'debit', { settlement: 1000n, receivable: -1000n }],
  [LEFT, '-10,00', 'write_off', { settlement: 1000n, losses: -1000n }],
] as const) {
  test(`[import.3] [desk.53] ${row.kind} that only a file has: ${decision} books it once, as the file has it`, async (t) => {
    const pix = await paper(t)
    const { id } = await pix.charge('10.00', { expirationTime: LATE })
    const day = pix.today()
    await pix.endDay()
    const text = fileOf(day, closing, [row])
    assert.equal((await bring(pix, text)).body.onlyTheirs, 1)
    await pix.minutes(7)
    const given = decision === 'attribute' ? { attributeTo: id } : {}
    const order = await pix.order('statement_unexplained', decision, given)
    const dry = await pix.send({ ...order, dryRun: true })
    assert.deepEqual(await balances(pix.database), {})
    const { effects } = await pix.send(order)
    assert.deepEqual(effects?.accounts, dry.effects?.accounts)
    for (let reading = 0; reading < 2; reading++) {
      await pix.minutes(7)
      await bring(pix, text)
      assert.deepEqual(await balances(pix.database), expected)
      assert.deepEqual(await pix.open(), [])
    }
    await assert.rejects(pix.send(order), { code: 'case_changed' })
    await assertBooks(pix.database)
  })
}

test('[import.3] [desk.54] what a file has otherwise than the books is booked as the file has it', async (t) => {
  const pix = await paper(t)
  const { endToEndId, id } = await pix.paid('10.00')
  const day = await pix.endDay()
  const row: Row = { ...ARRIVED, value: '9,00', endToEndId, reference: id }
  assert.equal((await bring(pix, fileOf(day, '9,00', [row]))).body.onlyTheirs, 1)
  await pix.minutes(7)
  assert.deepEqual(await pix.offered('statement_differs'), ['clear', 'debit', 'write_off', 'close'])
  await pix.decide('statement_differs', 'write_off')
  await pix.minutes(7)
  assert.deepEqual(await balances(pix.database), { available: 1000n, settlement: -900n, losses: -100n })
  assert.deepEqual(await pix.open(), [])
  await assertBooks(pix.database)
})

test('[import.5] [desk.54] [desk.56] what no file has is written off, and a file that has it after all is a case that reverts it', async (t) => {
  const pix = await paper(t)
  pix.clock.advance(60 * MINUTE)
  const { endToEndId, id } = await pix.paid('10.00')
  const day = await pix.endDay()
  await bring(pix, fileOf(day, '0,00', []))
  assert.deepEqual(await pix.open(), ['statement_missing'])
  await pix.decide('statement_missing', 'write_off')
  assert.deepEqual(await balances(pix.database), { available: 1000n, losses: -1000n })
  await bring(pix, fileOf(day, '10,00', [{ ...ARRIVED, endToEndId, reference: id }]))
  await pix.minutes(2)
  // That the two files have other balances is a case besides.
  assert.deepEqual((await pix.open()).toSorted(), ['statement_corrected', 'statement_differs'])
  const { caseId, ...order } = await pix.order('statement_differs', 'close')
  const as = async (role: OperatorRole, name: string) => ({
    authorization: `Bearer ${await makeOperator(pix, role, name)}`,
  })
  const asked = await pix.call('POST', `/operator/cases/${caseId}/decisions`, order, await as('operator', 'Ana'))
  const { proposalId, whySecondPerson } = asked.body
  assert.equal(whySecondPerson, 'nobody knows the amount')
  const said = { approved: true, reason: 'looked at it' }
  const path = `/operator/cases/${caseId}/proposals/${proposalId}`
  assert.equal((await pix.call('PUT', path, said, await as('approver', 'Bia'))).status, 200)
  await pix.decide('statement_corrected', 'revert')
  await pix.minutes(7)
  assert.deepEqual(await balances(pix.database), { available: 1000n, settlement: -1000n })
  assert.deepEqual(await pix.open(), [])
  await assertBooks(pix.database)
})
